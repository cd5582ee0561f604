#include "model/attention/sparse/binary_partition.h"

#include <bit>
#include <vector>

#include "model/attention/listed.h"

namespace attune {

namespace {

/// The tree over a sequence of words whose spans stand in front of it.
struct SpanTree {
  struct Level {
    int64_t first, count;  // row of its first node, from the begin of the sequence
  };
  std::vector<Level> levels;  // 0: the words
  int64_t words;

  explicit SpanTree(int64_t n, int64_t own) : levels{{own, n}}, words(n) {
    int64_t first = 0;
    for (int64_t count = n; count > 1;) {
      count = (count + 1) / 2;
      levels.push_back({first, count});
      first += count;
    }
  }
  int64_t row(size_t level, int64_t node) const { return levels[level].first + node; }
};

/// What word i sees, all but itself: rows of the sequence. `take(row)`.
template <class Take>
void see(const SpanTree& tree, int64_t i, int64_t near, const Take& take) {
  int64_t left = i - 1, right = i + 1;
  bool left_inside = false, right_inside = false;  // the next one begins inside a node that was seen in part
  for (size_t l = 0; l < tree.levels.size(); ++l) {
    for (int64_t t = 0; t < near; ++t, --left, ++right) {
      if (right_inside) {
        if (2 * right + 1 < tree.levels[l - 1].count) take(tree.row(l - 1, 2 * right + 1));  // the last has one child
      } else if (right < tree.levels[l].count) {
        take(tree.row(l, right));
      }
      right_inside = false;
      if (left >= 0) take(left_inside ? tree.row(l - 1, 2 * left) : tree.row(l, left));
      left_inside = false;
    }
    left_inside = left >= 0 && left % 2 == 0;
    right_inside = right % 2 == 1;
    left = left < 0 ? left : left / 2;
    right /= 2;
  }
}

}  // namespace

int64_t SpanRows::of(int64_t length) const {
  int64_t all = 0;
  for (int64_t count = length; count > 1;) all += count = (count + 1) / 2;
  return all;
}

int64_t SpanRows::kind(int64_t length, int64_t i) const {
  int64_t level = 0;
  for (int64_t count = length; i >= 0; ++level) i -= count = (count + 1) / 2;
  return level - 1;
}

/// Rows that are more than the spans of the others read themselves alone.
KeyLists BinaryPartitionAttention::lists_of(const Segments& segments) const {
  KeyLists lists;
  for (int64_t s = 0; s < segments.count(); ++s) {
    const int64_t begin = segments.begin(s), all = segments.length(s), own = own_among(spans_, all), n = all - own;
    const SpanTree tree(n, own);
    for (size_t l = 1; l < tree.levels.size(); ++l)
      for (int64_t j = 0; j < tree.levels[l].count; ++j) {
        const int64_t to = std::min(n, (j + 1) << l);
        for (int64_t i = j << l; i < to; ++i) lists.add(begin + own + i);
        lists.end_row();
      }
    for (int64_t i = lists.rows() - begin; i < own; ++i) {
      lists.add(begin + i);
      lists.end_row();
    }
    for (int64_t i = 0; i < n; ++i) {
      lists.add(begin + own + i);
      see(tree, i, near_, [&](int64_t row) { lists.add(begin + row); });
      lists.end_row();
    }
  }
  lists.longest = std::max(lists.longest, segments.longest);  // in a rehearsal none is that long
  lists.finish(segments.rows());
  return lists;
}

std::shared_ptr<const KeyLists> BinaryPartitionAttention::kept_lists(Ctx& ctx, const Segments& segments) const {
  auto lists = lists_.of(segments, [&](const Segments& s) { return lists_of(s); });
  keep(ctx, lists);
  return lists;
}

Var BinaryPartitionAttention::mix(const Pass& pass, const Projected& p) const {
  const auto lists = kept_lists(pass.ctx, *p.queries);
  ListAttention a = listed_attention(setup_, p, *lists);
  a.dropout = pass.ctx.dropout(setup_.dropout, setup_.site);
  return list_attention(pass.ctx, a);
}

bool BinaryPartitionAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const auto lists = kept_lists(pass.ctx, *p.queries);
  const Var w = list_weights(pass.ctx, listed_attention(setup_, p, *lists));
  const int64_t n = lists->rows();
  std::fill_n(out, setup_.heads * n * n, 0.0f);
  for (int64_t e = 0; e < lists->pairs(); ++e)
    for (int64_t h = 0; h < setup_.heads; ++h)
      out[(h * n + lists->query[static_cast<size_t>(e)]) * n + lists->keys[static_cast<size_t>(e)]] +=
          w.value().row<float>(e)[h];
  return true;
}

double BinaryPartitionAttention::operations(const Parameters&, const Segments& queries, const Segments&) const {
  double pairs = 0;
  for (int64_t s = 0; s < queries.count(); ++s) {
    const auto n = static_cast<double>(queries.length(s) - own_among(spans_, queries.length(s)));
    const double levels = std::bit_width(static_cast<uint64_t>(n));
    pairs += n * (levels + std::min(n, 1 + 2 * static_cast<double>(near_) * levels));
  }
  return 4 * static_cast<double>(setup_.width()) * pairs;
}

}  // namespace attune
