#include "data/shards.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace attune {

namespace {

/// Rows of both sides before sentence i.
int64_t rows_before(const Batch& b, int64_t i) {
  return (b.has_source() ? b.source.segments.begin(i) : 0) + b.target().right.segments.begin(i);
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

void cut(const Batch& b, int64_t shards, Shards& out) {
  const int64_t count = shard_count(b, shards), tokens = b.source_tokens() + b.target_tokens();
  out.resize(static_cast<size_t>(count));
  int64_t first = 0;
  for (int64_t i = 0; i < count; ++i) {
    // Every shard gets a sentence, and leaves one for each that follows.
    const int64_t end =
        i + 1 == count ? b.size() : nearest_border(b, tokens * (i + 1) / count, first + 1, b.size() - (count - 1 - i));
    Batch& s = out[static_cast<size_t>(i)];
    slice(b.source, first, end, s.source);
    slice(b.read, first, end, s.read);
    s.wanted.resize(b.wanted.size());
    for (size_t w = 0; w < b.wanted.size(); ++w) {
      const Wanted& all = b.wanted[w];
      slice(all.right, first, end, s.wanted[w].right);
      const bool weighted = !all.weights.empty();
      s.wanted[w].weights =
          all.weights.part(weighted ? s.wanted[w].right.first_row : 0, weighted ? s.wanted[w].right.rows() : 0);
    }
    s.examples = b.examples.empty() ? b.examples.part(0, 0) : b.examples.part(first, end - first);
    s.first = b.first;
    first = end;
  }
}

}  // namespace attune
