#include "model/attention/routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "autograd/arrange.h"
#include "autograd/heads.h"
#include "base/error.h"
#include "kernels/gemm.h"

namespace attune {

RoutingAttention::RoutingAttention(const Options& o, const AttentionSetup& s, const Blueprint& place)
    : setup_(s), clusters_(o.clusters), window_(o.window), decay_(o.decay) {
  if (s.heads_kv != s.heads)
    fail(ErrorKind::recipe,
         "attention \"routing\" clusters each head by itself: heads_kv = {} can't be shared by {}\n"
         "  fix: leave out heads_kv",
         s.heads_kv, s.heads);
  centroids_ = place.buffer("centroids", s.heads * clusters_, s.dim + 1,
                            Init::normal(1 / std::sqrt(static_cast<double>(s.dim))));
}

/// Each head's part of each row divided by its length, [n, heads * dim].
Var RoutingAttention::unit_rows(const Pass& pass, const Var& x, int64_t column) const {
  return normalize_heads(pass.ctx, x, column, setup_.heads, setup_.dim);
}

/// c(x) = argmax_c mu_c . x of each row and head, [n, heads]; the first of equal ones. All 0 in a rehearsal.
std::vector<int32_t> RoutingAttention::clusters_of(const Pass& pass, const Var& x) const {
  const int64_t n = x.rows(), heads = setup_.heads, dim = setup_.dim;
  std::vector<int32_t> out(static_cast<size_t>(n * heads), 0);
  const Tensor mu = pass[centroids_].value();
  const Scratch scratch(pass.ctx.arena, n * clusters_ * bytes_of(x.dtype()));
  pass.ctx.run([&] {
    by_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      T* scores = scratch.as<T>();
      for (int64_t h = 0; h < heads; ++h) {
        const T* m = mu.row<T>(h * clusters_);
        if constexpr (std::is_same_v<T, float>) {
          kernels::Gemm g{.m = n, .n = clusters_, .k = dim, .a = x.value().as<float>() + h * dim};
          g.a_stride = x.value().stride;
          g.b = m;
          g.b_stride = mu.stride;
          g.b_transposed = true;
          g.c = scores;
          g.c_stride = clusters_;
          kernels::gemm(g, pass.ctx.pool);
        } else {
          for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < clusters_; ++c) {
              T sum = 0;
              for (int64_t d = 0; d < dim; ++d) sum += x.value().row<T>(i)[h * dim + d] * m[c * mu.stride + d];
              scores[i * clusters_ + c] = sum;
            }
        }
        for (int64_t i = 0; i < n; ++i) {
          const T* row = scores + i * clusters_;
          out[static_cast<size_t>(i * heads + h)] = static_cast<int32_t>(std::max_element(row, row + clusters_) - row);
        }
      }
    });
  });
  return out;
}

/// Rows of [n * heads, dim] so that those of one sequence, head and cluster lie together, in their order in time.
Rearrangement RoutingAttention::sorted(const std::vector<int32_t>& clusters, const Segments& segments) const {
  const int64_t heads = setup_.heads;
  Rearrangement r;
  r.rows.resize(clusters.size());
  std::vector<int32_t> lengths;
  int32_t at = 0;
  std::vector<int32_t> next(static_cast<size_t>(clusters_));
  for (int64_t s = 0; s < segments.count(); ++s)
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t from = segments.begin(s), to = from + segments.length(s);
      std::fill(next.begin(), next.end(), 0);
      for (int64_t i = from; i < to; ++i) ++next[static_cast<size_t>(clusters[static_cast<size_t>(i * heads + h)])];
      for (int32_t& n : next) {
        lengths.push_back(n);
        at += std::exchange(n, at);
      }
      for (int64_t i = from; i < to; ++i)
        r.rows[static_cast<size_t>(next[static_cast<size_t>(clusters[static_cast<size_t>(i * heads + h)])]++)] =
            static_cast<int32_t>(i * heads + h);
    }
  r.segments = Segments::of_lengths(lengths);
  return r;
}

Var RoutingAttention::in_order(const Pass& pass, const Var& x, const Rearrangement& r) const {
  return gather_rows(pass.ctx, pass.ctx.reshape(x, {x.rows() * setup_.heads, setup_.dim}), row_ids(pass.ctx, r));
}

/// Sums and numbers of the rows of each cluster: what the centroids will move towards.
void RoutingAttention::gather(const Pass& pass, const Var& x, const std::vector<int32_t>& clusters) const {
  if (!pass.gradients || !pass.ctx.training || pass.recomputing) return;
  const Tensor sums = pass.gradients->grad(centroids_);
  bool* written = pass.gradients->written(centroids_);
  const int64_t heads = setup_.heads, dim = setup_.dim;
  pass.ctx.run([&] {
    if (!*written) std::fill_n(sums.as<float>(), sums.size(), 0.0f);
    *written = true;
    for (int64_t i = 0; i < x.rows(); ++i)
      for (int64_t h = 0; h < heads; ++h) {
        float* sum = sums.row<float>(h * clusters_ + clusters[static_cast<size_t>(i * heads + h)]);
        const float* row = x.value().row<float>(i) + h * dim;
        for (int64_t d = 0; d < dim; ++d) sum[d] += row[d];
        sum[dim] += 1;
      }
  });
}

void RoutingAttention::after_update(Parameters& parameters, const Gradients& gathered) const {
  if (parameters.is_frozen(centroids_)) return;
  const Tensor mu = parameters.value(centroids_), sums = gathered.grad(centroids_);
  const int64_t dim = setup_.dim;
  for (int64_t c = 0; c < mu.rows(); ++c) {
    float* m = mu.row<float>(c);
    const float *sum = sums.row<float>(c), count = sum[dim];
    m[dim] = count;
    if (count == 0) continue;  // nobody came: it stays where it is
    double length = 0;
    for (int64_t d = 0; d < dim; ++d) {
      m[d] = static_cast<float>(decay_) * m[d] + static_cast<float>(1 - decay_) * sum[d] / count;
      length += static_cast<double>(m[d]) * static_cast<double>(m[d]);
    }
    for (int64_t d = 0; d < dim; ++d) m[d] /= static_cast<float>(std::sqrt(std::max(length, 1e-12)));
  }
}

Var RoutingAttention::mix(const Pass& pass, const Projected& p) const {
  Ctx& ctx = pass.ctx;
  const Var q = unit_rows(pass, p.q, p.q_column), k = setup_.causal ? q : unit_rows(pass, p.k, p.k_column);
  const Var v = slice_columns(ctx, p.v, p.v_column, setup_.width());
  const auto of_q = clusters_of(pass, q), of_k = setup_.causal ? of_q : clusters_of(pass, k);
  gather(pass, q, of_q);
  if (!setup_.causal) gather(pass, k, of_k);

  const auto queries = keep(ctx, sorted(of_q, *p.queries));
  const auto keys = setup_.causal ? queries : keep(ctx, sorted(of_k, *p.keys));
  Attention a{in_order(pass, q, *queries), in_order(pass, k, *keys), in_order(pass, v, *keys)};
  a.queries = &queries->segments;
  a.keys = &keys->segments;
  a.dim = setup_.dim;
  a.scale = std::sqrt(static_cast<float>(setup_.dim));
  if (setup_.causal) a.mask = Mask::band(window_, true);
  a.dropout = ctx.dropout(setup_.dropout, setup_.site);
  return ctx.reshape(put_back(ctx, attention(ctx, a), *queries), {q.rows(), setup_.width()});
}

// --- One position at a time ------------------------------------------------------------------------------------------

std::unique_ptr<AttentionState> RoutingAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width() + setup_.heads);  // keys, values, clusters
}

Var RoutingAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  const int64_t rows = p.q.rows(), width = setup_.width(), heads = setup_.heads, dim = setup_.dim;
  const Var q = unit_rows(pass, p.q, p.q_column);
  const std::vector<int32_t> clusters = clusters_of(pass, q);
  cache.append(rows);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(q.value().row<float>(i), width, cache.row(i));
    std::copy_n(p.v.value().row<float>(i) + p.v_column, width, cache.row(i) + width);
    std::copy_n(clusters.begin() + i * heads, heads, cache.row(i) + 2 * width);
  }
  Var y = pass.ctx.make(Shape{rows, width}, DType::f32, {});
  const kernels::PagedRows said = cache.paged(0);
  const float scale = std::sqrt(static_cast<float>(dim));
  parallel_for(pass.ctx.pool, rows, [&](int64_t i, int) {
    std::vector<const float*> seen;
    std::vector<float> scores;
    for (int64_t h = 0; h < heads; ++h) {
      const auto cluster = static_cast<float>(clusters[static_cast<size_t>(i * heads + h)]);
      seen.clear();
      scores.clear();
      for (int64_t t = cache.steps() - 1; t >= 0 && std::ssize(seen) < window_; --t) {
        const float* row = said.row(cache.ancestors()[t * rows + i]);
        if (row[2 * width + h] == cluster) seen.push_back(row + h * dim);
      }
      const float* query = q.value().row<float>(i) + h * dim;
      float total = 0, *out = y.value().row<float>(i) + h * dim;
      for (const float* key : seen) scores.push_back(scale * std::inner_product(query, query + dim, key, 0.0f));
      const float most = *std::max_element(scores.begin(), scores.end());
      for (float& s : scores) total += s = std::exp(s - most);
      std::fill_n(out, dim, 0.0f);
      for (size_t j = 0; j < seen.size(); ++j)
        for (int64_t d = 0; d < dim; ++d) out[d] += scores[j] / total * seen[j][width + d];
    }
  });
  return y;
}

bool RoutingAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const Var q = unit_rows(pass, p.q, p.q_column), k = setup_.causal ? q : unit_rows(pass, p.k, p.k_column);
  const auto of_q = clusters_of(pass, q), of_k = clusters_of(pass, k);
  const int64_t n = q.rows(), heads = setup_.heads, dim = setup_.dim;
  const float scale = std::sqrt(static_cast<float>(dim));
  std::fill_n(out, heads * n * n, 0.0f);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < n; ++i) {
      float total = 0, *row = out + (h * n + i) * n;
      int64_t seen = 0;
      for (int64_t j = setup_.causal ? i : n - 1; j >= 0; --j) {
        if (of_k[static_cast<size_t>(j * heads + h)] != of_q[static_cast<size_t>(i * heads + h)]) continue;
        if (setup_.causal && ++seen > window_) break;
        const float* query = q.value().row<float>(i) + h * dim;
        total += row[j] =
            std::exp(scale * (std::inner_product(query, query + dim, k.value().row<float>(j) + h * dim, 0.0f) - 1));
      }
      for (int64_t j = 0; j < n && total > 0; ++j) row[j] /= total;
    }
  return true;
}

/// With clusters of one size, as k-means tends to make them.
double RoutingAttention::operations(const Parameters&, const Segments& queries, const Segments& keys) const {
  double pairs = 0;
  const auto c = static_cast<double>(clusters_);
  for (int64_t s = 0; s < queries.count(); ++s) {
    const auto n = static_cast<double>(queries.length(s)), m = static_cast<double>(keys.length(s));
    const double inside = std::min(n / c, static_cast<double>(window_));
    pairs += setup_.causal ? n * inside - inside * inside * c / 2 : n * m / c;
    pairs += (n + (setup_.causal ? 0 : m)) * c / 2;  // a product with each centroid: half of what a pair costs
  }
  return 4 * static_cast<double>(setup_.width()) * pairs;
}

}  // namespace attune
