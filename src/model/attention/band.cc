#include "model/attention/band.h"

#include <algorithm>

#include "autograd/operations/arrange.h"

namespace attune {

namespace {

/// A dilated band is a plain one over each of `gap` sequences: positions r, r + gap, r + 2 gap, ...
Rearrangement interleave(const Segments& segments, int64_t gap) {
  Rearrangement r;
  std::vector<int32_t> lengths;
  for (int64_t s = 0; s < segments.count(); ++s)
    for (int64_t first = 0; first < std::min<int64_t>(gap, segments.length(s)); ++first) {
      const int64_t before = std::ssize(r.rows);
      for (int64_t i = first; i < segments.length(s); i += gap)
        r.rows.push_back(static_cast<int32_t>(segments.begin(s) + i));
      lengths.push_back(static_cast<int32_t>(std::ssize(r.rows) - before));
    }
  r.segments = Segments::of_lengths(lengths);
  return r;
}

}  // namespace

BandAttention::BandAttention(const Options& o, const AttentionSetup& setup, const Blueprint&)
    : setup_(setup), width_(o.width), dilation_(o.dilation), mask_(Mask::band(o.width, setup.causal)) {}

/// The sequences of a dilated band, and where their rows stood.
Rearrangement BandAttention::apart(const Pass& pass, const Projected& p) const {
  Rearrangement r = interleave(*p.queries, dilation_);
  if (p.hook) find_places(pass.ctx, r, *p.queries, p.query_places);
  return r;
}

Var BandAttention::mix(const Pass& pass, const Projected& p) const {
  if (dilation_ == 1) return attention(pass.ctx, dot_attention(pass, setup_, p, mask_));
  const auto r = keep(pass.ctx, apart(pass, p));
  const Var mixed = attention(pass.ctx, dot_attention(pass, setup_, rearranged(pass.ctx, p, *r), mask_));
  return put_back(pass.ctx, mixed, *r);
}

std::unique_ptr<AttentionState> BandAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv(), (width_ - 1) * dilation_ + 1);
}

Var BandAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  cache.append(p, setup_.width_kv());
  return step_dot(pass, setup_, p, {cache, KeyCache::kEverything, dilation_});
}

bool BandAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  if (dilation_ == 1) {
    dot_weights(pass, setup_, p, mask_, out);
    return true;
  }
  const int64_t n = p.queries->length(0);
  std::fill_n(out, setup_.heads * n * n, 0.0f);
  // Each of the sequences by itself, its weights spread over the positions they belong to.
  const Rearrangement r = apart(pass, p);
  Projected all = rearranged(pass.ctx, p, r);
  std::vector<float> part;
  for (int64_t s = 0; s < r.segments.count(); ++s) {
    const int64_t m = r.segments.length(s), from = r.segments.begin(s);
    const Segments one = Segments::single(m);
    Projected q = all;
    q.q = q.k = slice_rows(pass.ctx, all.q, from, m);
    if (all.k.slot() != all.q.slot()) q.k = slice_rows(pass.ctx, all.k, from, m);
    q.queries = q.keys = &one;
    if (all.query_places) q.query_places = q.key_places = all.query_places.row_range(from, m);
    part.assign(static_cast<size_t>(setup_.heads * m * m), 0);
    dot_weights(pass, setup_, q, mask_, part.data());
    for (int64_t h = 0; h < setup_.heads; ++h)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < m; ++j)
          out[(h * n + r.rows[static_cast<size_t>(from + i)]) * n + r.rows[static_cast<size_t>(from + j)]] =
              part[static_cast<size_t>((h * m + i) * m + j)];
  }
  return true;
}

double BandAttention::operations(const Parameters&, const Segments& queries, const Segments& keys) const {
  if (dilation_ == 1) return dot_operations(setup_, mask_, queries, keys);
  const Segments apart = interleave(queries, dilation_).segments;
  return dot_operations(setup_, mask_, apart, apart);
}

}  // namespace attune
