#include "model/attention/luna.h"

#include <cmath>

#include "autograd/attention/linear_attention.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/operations/reduce.h"
#include "base/error.h"
#include "model/attention/dot_product.h"
#include "model/attention/multi_head.h"
#include "model/attention/rehearsed.h"
#include "model/attention/running_sums.h"

namespace attune {

LunaAttention::LunaAttention(const Options& o, const AttentionSetup& s, const Blueprint& place)
    : setup_(s), length_(o.length) {
  if (s.heads_kv != s.heads)
    fail(ErrorKind::recipe,
         "attention \"luna\" has keys and values of its own: heads_kv = {} can't be shared by {}\n"
         "  fix: leave out heads_kv",
         s.heads_kv, s.heads);
  const int64_t d = s.width();
  const Init init = s.projection();
  // The stream begins once per stack; each layer's own packing is learned apart.
  memory_ = place.at_stack().table_once("luna.memory", length_, d, Init::normal(1 / std::sqrt(static_cast<double>(d))));
  pack_query_.emplace(place.at("pack.query"), d, d);
  if (s.causal) {
    key_value_.emplace(place, std::vector<JoinedLinear::Part>{{"query", d}, {"key", d}, {"value", d}}, d, init);
  } else {
    pack_key_value_.emplace(place.at("pack"), std::vector<JoinedLinear::Part>{{"key", d}, {"value", d}}, d, init);
    query_.emplace(place.at("query"), d, d);
    key_value_.emplace(place, std::vector<JoinedLinear::Part>{{"key", d}, {"value", d}}, d, init);
    norm_.emplace(place.at("pack.norm"), d);
  }
  output_.emplace(place.at("output"), d, d);
}

Var LunaAttention::mix(const Pass&, const Projected&) const {
  fail(ErrorKind::internal, "attention: luna mixes rows that are not projected yet");
}

Var LunaAttention::attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
                          Carried& carried) const {
  if (setup_.causal) return attend_past(pass, x, segments);
  Ctx& ctx = pass.ctx;
  const auto rehearsed = rehearsed_segments(ctx, segments, 4);  // not more, about
  const Segments& rows_of = rehearsed ? *rehearsed : segments;
  const int64_t count = rows_of.count(), d = setup_.width();
  const auto packed =
      keep(ctx, Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(count), static_cast<int32_t>(length_))));
  if (!carried.stream) {  // the first layer: the same learned rows for every sequence
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < count * length_; ++i) rows.push_back(static_cast<int32_t>(i % length_));
    const auto ids = keep(ctx, std::move(rows));
    carried.stream = gather_rows(ctx, pass[memory_], ctx.input(Tensor(ids->data(), Shape{std::ssize(*ids)})));
  }
  const auto from = [&](const Var& q, const Var& kv, const Segments* queries, const Segments* keys) {
    return Projected{q, kv, kv, 0, 0, d, queries, keys};
  };
  const Var p = residual_norm(ctx, carried.stream, {}, (*norm_)(pass)).y;  // of the sum that the layer below left
  const Projected pack = from((*pack_query_)(pass, p), (*pack_key_value_)(pass, x), packed.get(), &rows_of);
  const Var y_p = attention(ctx, dot_attention(pass, setup_, pack, Mask::none()));
  const Projected unpack = from((*query_)(pass, x), (*key_value_)(pass, y_p), &rows_of, packed.get());
  const Var y_x = attention(ctx, dot_attention(pass, setup_, unpack, Mask::none()));
  carried.stream = add(ctx, p, y_p);
  if (float* to = layer.tapped(pass, x.rows(), x.rows())) weights_through(pass, pack, unpack, to);
  return (*output_)(pass, y_x);
}

/// What rows attend to through the packed ones: the product of both weights.
void LunaAttention::weights_through(const Pass& pass, const Projected& pack, const Projected& unpack,
                                    float* out) const {
  const int64_t n = pack.keys->rows();
  std::vector<float> a(static_cast<size_t>(setup_.heads * length_ * n)), u(a.size());
  dot_weights(pass, setup_, pack, Mask::none(), a.data());
  dot_weights(pass, setup_, unpack, Mask::none(), u.data());
  std::fill_n(out, setup_.heads * n * n, 0.0f);
  for (int64_t h = 0; h < setup_.heads; ++h)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t l = 0; l < length_; ++l)
        for (int64_t j = 0; j < n; ++j)
          out[(h * n + i) * n + j] +=
              u[static_cast<size_t>((h * n + i) * length_ + l)] * a[static_cast<size_t>((h * length_ + l) * n + j)];
}

// --- In a decoder ----------------------------------------------------------------------------------------------------

LunaAttention::Causal LunaAttention::causal(const Pass& pass, const Var& x) const {
  Ctx& ctx = pass.ctx;
  const int64_t d = setup_.width(), dim = setup_.dim;
  const Var qkv = (*key_value_)(pass, x), p = (*pack_query_)(pass, pass[memory_]);
  const double by = 1 / std::sqrt(static_cast<double>(dim));
  Causal c;
  c.q = scale(ctx, slice_columns(ctx, qkv, 0, d), by);
  c.k = slice_columns(ctx, qkv, d, d);
  c.v = slice_columns(ctx, qkv, 2 * d, d);
  std::vector<Var> heads;
  for (int64_t h = 0; h < setup_.heads; ++h)
    heads.push_back(matmul(ctx, slice_columns(ctx, c.k, h * dim, dim), slice_columns(ctx, p, h * dim, dim),
                           {.right = true}));  // [n, length]
  c.packing = elu_plus_one(ctx, scale(ctx, concatenate_columns(ctx, heads), by));
  return c;
}

/// U: the softmax over the packed rows, head by head.
Var LunaAttention::unpacking(const Pass& pass, const Var& scores) const {
  Ctx& ctx = pass.ctx;
  const int64_t n = scores.rows();
  return ctx.reshape(softmax(ctx, ctx.reshape(scores, {n * setup_.heads, length_})), {n, setup_.heads * length_});
}

Var LunaAttention::attend_past(const Pass& pass, const Var& x, const Segments& segments) const {
  const Causal c = causal(pass, x);
  const auto f = [&](const Var& q, const Var& k, const Var& v, int64_t dim, int64_t value_dim) {
    LinearAttention a{q, k, v};
    a.queries = a.keys = &segments;
    a.heads = setup_.heads;
    a.dim = dim;
    a.value_dim = value_dim;
    a.causal = true;
    a.feature = FeatureMap::none;
    a.norm = LinearNorm::by_count;
    return linear_attention(pass.ctx, a);
  };
  const Var u = unpacking(pass, f(c.q, c.k, c.packing, setup_.dim, length_));
  return (*output_)(pass, f(u, c.packing, c.v, length_, setup_.dim));
}

namespace {

kernels::LinearShape mean_shape(int64_t heads, int64_t dim, int64_t value_dim) {
  kernels::LinearShape s;
  s.heads = s.heads_kv = heads;
  s.dim = dim;
  s.value_dim = value_dim;
  s.causal = true;
  s.feature = FeatureMap::none;
  s.norm = LinearNorm::by_count;
  return s;
}

}  // namespace

std::unique_ptr<AttentionState> LunaAttention::state(int64_t) const {
  return std::make_unique<RunningSums>(kernels::linear_state_floats(mean_shape(setup_.heads, setup_.dim, length_)) +
                                       kernels::linear_state_floats(mean_shape(setup_.heads, length_, setup_.dim)));
}

Var LunaAttention::attend_step(const Pass& pass, const SelfAttention&, const Var& x, const RowPositions&,
                               AttentionState& state) const {
  Ctx& ctx = pass.ctx;
  auto& sums = static_cast<RunningSums&>(state);
  const int64_t rows = x.rows();
  sums.begin(rows);
  const Causal c = causal(pass, x);
  const std::vector<int32_t> count(static_cast<size_t>(rows), static_cast<int32_t>(sums.steps()));
  // Two running means a row: of keys by packing, and behind it of packing by values.
  const auto mean = [&](const Var& q, const Var& k, const Var& v, const kernels::LinearShape& shape, int64_t offset) {
    std::vector<float*> states;
    for (int64_t i = 0; i < rows; ++i) states.push_back(sums.row(i) + offset);
    const Var y = ctx.make(Shape{rows, shape.heads * shape.value_dim}, DType::f32, {});
    const Scratch scratch(ctx.arena, kernels::linear_step_scratch(shape, workers_of(ctx.pool)));
    const auto rows_of = [](const Var& m) { return kernels::Rows{m.value().as<float>(), m.value().stride}; };
    kernels::LinearStep a;
    a.shape = shape;
    a.rows = rows;
    a.q = rows_of(q);
    a.k = rows_of(k);
    a.v = rows_of(v);
    a.out = rows_of(y);
    a.states = states.data();
    a.count = count.data();
    a.scratch = scratch.as<void>();
    kernels::linear_step(a, ctx.pool);
    return y;
  };
  const auto first = mean_shape(setup_.heads, setup_.dim, length_),
             second = mean_shape(setup_.heads, length_, setup_.dim);
  const Var u = unpacking(pass, mean(c.q, c.k, c.packing, first, 0));
  return (*output_)(pass, mean(u, c.packing, c.v, second, kernels::linear_state_floats(first)));
}

/// Packing and unpacking: each row of the sequence meets each of the stream twice.
double LunaAttention::operations(const Parameters&, const Segments& queries, const Segments&) const {
  const auto rows = static_cast<double>(queries.rows()), d = static_cast<double>(setup_.width());
  return (setup_.causal ? 10.0 : 8.0) * rows * static_cast<double>(length_) * d;
}

}  // namespace attune
