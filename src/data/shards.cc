#include "data/shards.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace attune {

namespace {

/// Rows of both sides before sentence i.
int64_t rows_before(const Batch& b, int64_t i) {
  return (b.has_source() ? b.source_segments.begin(i) : 0) + b.target_segments.begin(i);
}

/// The sentences [first, end) of a side, counted from their own first row; none of a side that has none.
void slice(const Segments& from, int64_t first, int64_t end, Segments& to) {
  to.start.clear();
  to.longest = 0;
  if (from.count() == 0) first = end = 0;
  for (int64_t i = first; i <= end; ++i)
    to.start.push_back(from.start[static_cast<size_t>(i)] - from.start[static_cast<size_t>(first)]);
  for (int64_t i = first; i < end; ++i) to.longest = std::max(to.longest, static_cast<int32_t>(from.length(i)));
}

/// The border nearest to `rows`, in [least, most].
int64_t nearest_border(const Batch& b, int64_t rows, int64_t least, int64_t most) {
  int64_t low = least, high = most;
  while (low < high) {  // the first border at or behind `rows`
    const int64_t middle = (low + high) / 2;
    rows_before(b, middle) < rows ? low = middle + 1 : high = middle;
  }
  if (low > least && rows - rows_before(b, low - 1) <= rows_before(b, low) - rows) --low;
  return low;
}

}  // namespace

int64_t shard_count(const Batch& batch, int64_t shards) {
  check(shards > 0 && std::has_single_bit(static_cast<uint64_t>(shards)), "shards", "{} is not a power of two", shards);
  const int64_t tokens = batch.source_tokens() + batch.target_tokens();
  while (shards > 1 && (tokens < shards * kLeastShardTokens || batch.size() < shards)) shards /= 2;
  return shards;
}

void cut(const Batch& b, int64_t shards, std::vector<Shard>& out) {
  const int64_t count = shard_count(b, shards), tokens = b.source_tokens() + b.target_tokens();
  out.resize(static_cast<size_t>(count));
  int64_t first = 0;
  for (int64_t i = 0; i < count; ++i) {
    // Every shard gets a sentence, and leaves one for each that follows.
    const int64_t end =
        i + 1 == count ? b.size() : nearest_border(b, tokens * (i + 1) / count, first + 1, b.size() - (count - 1 - i));
    Shard& s = out[static_cast<size_t>(i)];
    slice(b.source_segments, first, end, s.source_segments);
    slice(b.target_segments, first, end, s.target_segments);
    s.first_sentence = first;
    s.source_first_row = b.has_source() ? b.source_segments.begin(first) : 0;
    s.target_first_row = b.target_segments.begin(first);
    const auto part = [](const auto& ids, int64_t from, int64_t rows) {
      return std::span(ids).subspan(static_cast<size_t>(from), static_cast<size_t>(rows));
    };
    s.source = part(b.source, s.source_first_row, s.source_segments.rows());
    s.target_in = part(b.target_in, s.target_first_row, s.target_segments.rows());
    s.target_out = part(b.target_out, s.target_first_row, s.target_segments.rows());
    s.streams = b.streams.empty() ? std::span<const int32_t>() : part(b.streams, first, end - first);
    s.first = b.first;
    s.links = b.links;
    s.link_start = b.link_start.empty() ? std::span<const int32_t>()
                                        : part(b.link_start, s.target_first_row, s.target_segments.rows() + 1);
    s.weights = {};
    if (!b.weights.empty()) s.weights = part(b.weights, s.target_first_row, s.target_segments.rows());
    first = end;
  }
}

}  // namespace attune
