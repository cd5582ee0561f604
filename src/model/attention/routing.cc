#include "model/attention/routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "autograd/attention/heads.h"
#include "autograd/operations/arrange.h"
#include "base/error.h"
#include "base/portable_math.h"
#include "kernels/matrix/gemm.h"

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
Var RoutingAttention::unit_rows(const Pass& pass, const HeadColumns& x) const {
  return normalize_heads(pass.ctx, x.x, x.column, setup_.heads, setup_.dim);
}

/// In a decoder keys are the queries, unless the scheme turned the two differently.
RoutingAttention::Units RoutingAttention::units(const Pass& pass, const Projected& p) const {
  const bool causal = setup_.causal;
  const HeadColumns q{p.q, p.q_column}, k = causal && !p.plain_q.x ? q : HeadColumns{p.k, p.k_column};
  const HeadColumns plain_q = p.plain_q.x ? p.plain_q : q, plain_k = causal ? plain_q : p.plain_k.x ? p.plain_k : k;
  const auto same = [](const HeadColumns& a, const HeadColumns& b) {
    return a.x.slot() == b.x.slot() && a.column == b.column;
  };
  Units u;
  u.q = unit_rows(pass, q);
  u.k = same(k, q) ? u.q : unit_rows(pass, k);
  u.plain_q = same(plain_q, q) ? u.q : same(plain_q, k) ? u.k : unit_rows(pass, plain_q);
  u.plain_k = same(plain_k, plain_q) ? u.plain_q : same(plain_k, k) ? u.k : unit_rows(pass, plain_k);
  return u;
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
  r.heads.reserve(static_cast<size_t>(segments.count() * heads * clusters_));
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
        r.heads.push_back(static_cast<int32_t>(h));
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
  if (!pass.gradients || !pass.ctx.training || pass.recomputing || pass.parameters.is_frozen(centroids_)) return;
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
  const Units u = units(pass, p);
  const Var v = slice_columns(ctx, p.v, p.v_column, setup_.width());
  const auto of_q = clusters_of(pass, u.plain_q), of_k = setup_.causal ? of_q : clusters_of(pass, u.plain_k);
  gather(pass, u.plain_q, of_q);
  if (!setup_.causal) gather(pass, u.plain_k, of_k);

  const auto rearrange = [&](const std::vector<int32_t>& clusters, const Segments& segments, const Tensor& told) {
    Rearrangement r = sorted(clusters, segments);
    if (p.hook) find_places(ctx, r, segments, told, setup_.heads);
    return keep(ctx, std::move(r));
  };
  const auto queries = rearrange(of_q, *p.queries, p.query_places);
  const auto keys = setup_.causal ? queries : rearrange(of_k, *p.keys, p.key_places);
  Attention a{in_order(pass, u.q, *queries), in_order(pass, u.k, *keys), in_order(pass, v, *keys)};
  a.queries = &queries->segments;
  a.keys = &keys->segments;
  a.dim = setup_.dim;
  a.scale = std::sqrt(static_cast<float>(setup_.dim));
  if (setup_.causal) a.mask = Mask::band(window_, true);
  a.dropout = ctx.dropout(setup_.dropout, setup_.site);
  if (p.hook) {
    a.hook = p.hook;
    a.tables = p.tables;
    a.query_places = queries->place_tensor();
    a.key_places = keys->place_tensor();
    a.segment_heads = queries->heads;
    a.hook_heads = setup_.heads;
  }
  return ctx.reshape(put_back(ctx, attention(ctx, a), *queries), {u.q.rows(), setup_.width()});
}

namespace {

/// One query and keys that stand at these places, as the position scheme's hook sees them.
ScoreTile row_tile(int64_t head, const float* query, int64_t dim, const int32_t* place,
                   const std::vector<int32_t>& places) {
  ScoreTile t{};
  t.head = head;
  t.rows = 1;
  t.cols = t.stride = std::ssize(places);
  t.q = query;
  t.q_stride = t.dim = dim;
  t.scale = std::sqrt(static_cast<float>(dim));
  t.query_places = {place, 1};
  t.key_places = {places.data(), 1};
  return t;
}

}  // namespace

// --- One position at a time ------------------------------------------------------------------------------------------

std::unique_ptr<AttentionState> RoutingAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width() + setup_.heads);  // keys, values, clusters
}

Var RoutingAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  check(!p.hook || !p.query_places, "attention", "steps count their places by themselves");
  const int64_t rows = p.q.rows(), width = setup_.width(), heads = setup_.heads, dim = setup_.dim;
  const Units u = units(pass, p);
  const std::vector<int32_t> clusters = clusters_of(pass, u.plain_q);
  cache.append(rows);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(u.k.value().row<float>(i), width, cache.row(i));
    std::copy_n(p.v.value().row<float>(i) + p.v_column, width, cache.row(i) + width);
    std::copy_n(clusters.begin() + i * heads, heads, cache.row(i) + 2 * width);
  }
  Var y = pass.ctx.make(Shape{rows, width}, DType::f32, {});
  const kernels::PagedRows said = cache.paged(0);
  const float scale = std::sqrt(static_cast<float>(dim));
  const HookTables tables = hook_tables(p);
  const auto place = static_cast<int32_t>(cache.steps() - 1);
  const int64_t floats = p.hook ? (p.hook->scratch(dim) + 15) / 16 * 16 : 0;  // of each worker
  const Scratch scratch(pass.ctx.arena, workers_of(pass.ctx.pool) * floats * static_cast<int64_t>(sizeof(float)));
  parallel_for(pass.ctx.pool, rows, [&](int64_t i, int worker) {
    std::vector<const float*> seen;
    std::vector<int32_t> places;
    std::vector<float> scores;
    for (int64_t h = 0; h < heads; ++h) {
      const auto cluster = static_cast<float>(clusters[static_cast<size_t>(i * heads + h)]);
      seen.clear();
      places.clear();
      scores.clear();
      for (int32_t t = place; t >= 0 && std::ssize(seen) < window_; --t) {
        const float* row = said.row(cache.ancestors()[t * rows + i]);
        if (row[2 * width + h] != cluster) continue;
        seen.push_back(row + h * dim);
        places.push_back(t);
      }
      const float* query = u.q.value().row<float>(i) + h * dim;
      float total = 0, *out = y.value().row<float>(i) + h * dim;
      for (const float* key : seen) scores.push_back(scale * std::inner_product(query, query + dim, key, 0.0f));
      ScoreTile tile = row_tile(h, query, dim, &place, places);
      tile.scratch = scratch.as<float>() + worker * floats;
      if (p.hook) p.hook->scores(tile, tables, scores.data());
      const float most = *std::max_element(scores.begin(), scores.end());
      for (float& s : scores) total += s = static_cast<float>(portable::exp(s - most));
      std::fill_n(out, dim, 0.0f);
      for (size_t j = 0; j < seen.size(); ++j)
        for (int64_t d = 0; d < dim; ++d) out[d] += scores[j] / total * seen[j][width + d];
      if (!p.hook) continue;
      for (float& s : scores) s /= total;
      p.hook->values(tile, tables, scores.data(), out, dim);
    }
  });
  return y;
}

bool RoutingAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const Units u = units(pass, p);
  const auto of_q = clusters_of(pass, u.plain_q), of_k = clusters_of(pass, u.plain_k);
  const int64_t n = u.q.rows(), heads = setup_.heads, dim = setup_.dim;
  const float scale = std::sqrt(static_cast<float>(dim));
  const HookTables tables = hook_tables(p);
  const Scratch scratch(pass.ctx.arena, (p.hook ? p.hook->scratch(dim) : 0) * static_cast<int64_t>(sizeof(float)));
  const auto place_of = [](const Tensor& told, int64_t i) {
    return static_cast<int32_t>(told ? RowPlaces(told)[i] : i);
  };
  std::vector<int64_t> seen;
  std::vector<int32_t> places;
  std::vector<float> scores;
  std::fill_n(out, heads * n * n, 0.0f);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < n; ++i) {
      const float* query = u.q.value().row<float>(i) + h * dim;
      float total = 0, *row = out + (h * n + i) * n;
      seen.clear();
      places.clear();
      scores.clear();
      for (int64_t j = setup_.causal ? i : n - 1; j >= 0; --j) {
        if (of_k[static_cast<size_t>(j * heads + h)] != of_q[static_cast<size_t>(i * heads + h)]) continue;
        if (setup_.causal && std::ssize(seen) == window_) break;
        seen.push_back(j);
        places.push_back(place_of(p.key_places, j));
        const float* key = u.k.value().row<float>(j) + h * dim;
        scores.push_back(scale * (std::inner_product(query, query + dim, key, 0.0f) - 1));
      }
      if (p.hook && !seen.empty()) {
        const int32_t place = place_of(p.query_places, i);
        ScoreTile tile = row_tile(h, query, dim, &place, places);
        tile.scratch = scratch.as<float>();
        p.hook->scores(tile, tables, scores.data());
        const float most = *std::max_element(scores.begin(), scores.end());
        for (float& s : scores) s -= most;
      }
      for (size_t j = 0; j < seen.size(); ++j) total += row[seen[j]] = static_cast<float>(portable::exp(scores[j]));
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
