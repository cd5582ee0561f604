// What every scheme of relative positions is held to: its hook against its reference, the reference against finite
// differences, the same bits everywhere, and a decoding step against the last row of the whole.
#pragma once
#include <memory>
#include <random>

#include "autograd/attention/attention.h"
#include "autograd/op_checks.h"
#include "base/aligned.h"
#include "kernels/attention/attention_step.h"
#include "tensor/atoms.h"

namespace attune {

struct HookCase {
  std::shared_ptr<const RelativeScores> hook;
  int64_t heads, dim;
  std::vector<CheckInput> tables = {};
  bool on_values = false;  // adds to the values, not to the scores alone
};

struct Sequences {
  std::vector<int32_t> queries, keys;
  Mask mask = {};
  float dropout = 0;
  int64_t heads_kv = 0;
  std::vector<int32_t> query_places = {}, key_places = {};  // of all rows, or none: the index, ends aligned
  int64_t axes = 1;
  std::string atoms = {};  // of a pattern in place of the mask, causal if that is

  Tensor places(const std::vector<int32_t>& of) const {
    return of.empty() ? Tensor() : Tensor(of.data(), Shape{std::ssize(of) / axes, axes});
  }
};

struct Patterns {
  PatternCache cache;
  BatchPattern batch;
  explicit Patterns(const Sequences& s)
      : cache(parse_pattern(s.atoms, {{}, {}, 24, 3, s.mask.causal}, "atoms")),
        batch(cache.of_batch(Segments::of_lengths(s.queries))) {}
};

inline std::array<Var, 2> tables_from(const std::vector<Var>& in, size_t from) {
  return {in.size() > from ? in[from] : Var(), in.size() > from + 1 ? in[from + 1] : Var()};
}

/// Inputs: q, k, v and the tables.
inline CheckedOp hooked_op(const HookCase& c, const Sequences& s, bool reference = false) {
  auto queries = std::make_shared<Segments>(Segments::of_lengths(s.queries));
  auto keys = std::make_shared<Segments>(Segments::of_lengths(s.keys));
  auto places = std::make_shared<Sequences>(s);
  auto patterns = s.atoms.empty() ? nullptr : std::make_shared<Patterns>(s);
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    Attention a{in[0], in[1], in[2]};
    a.queries = queries.get();
    a.keys = keys.get();
    a.heads = c.heads;
    a.heads_kv = s.heads_kv;
    a.dim = c.dim;
    if (patterns)
      a.pattern = &patterns->batch;
    else
      a.mask = s.mask;
    a.dropout = {s.dropout, 42, 1000};
    a.hook = c.hook.get();
    a.tables = tables_from(in, 3);
    a.query_places = places->places(places->query_places);
    a.key_places = places->places(places->key_places);
    return reference ? attention_reference(ctx, a) : attention(ctx, a);
  };
}

inline std::vector<CheckInput> hooked_inputs(const HookCase& c, const Sequences& s) {
  const int64_t n = Segments::of_lengths(s.queries).rows(), m = Segments::of_lengths(s.keys).rows();
  const int64_t wide = (s.heads_kv ? s.heads_kv : c.heads) * c.dim;
  std::vector<CheckInput> in{random_input({n, c.heads * c.dim}, 1), random_input({m, wide}, 2),
                             random_input({m, wide}, 3)};
  in.insert(in.end(), c.tables.begin(), c.tables.end());
  return in;
}

/// A query that sees one key has no gradient, and what remains of it in f32 is as large as what it is the difference
/// of: values with a second term leave a little more.
inline double tolerance(const HookCase& c) { return c.on_values ? 3e-4 : 1e-4; }

/// Values and all gradients, in f32 against the reference in f64, across the borders of tiles.
inline void expect_hook_near_reference(const HookCase& c) {
  const std::vector<int32_t> lengths{1, 5, 47, 0, 96, 130, 300};
  std::vector<Sequences> all;
  for (const Mask& mask : {Mask::none(), Mask::past(), Mask::band(20, true), Mask::band(9, false)})
    all.push_back({lengths, lengths, mask});
  all.push_back({{5, 40, 1, 97}, {9, 200, 4, 140}, Mask::past(), 0.2f});  // remembered keys in front
  all.push_back({{20, 133}, {20, 133}, Mask::none(), 0.2f, 1});           // heads share keys
  for (const Mask& mask : {Mask::none(), Mask::past()})  // tiles of rows that were brought together, and of neighbours
    for (const float dropout : {0.0f, 0.2f})
      for (const char* atoms : {"band 9, global 2, columns 40 summary 3", "band 20 gap 3, strided 70, block 1"})
        all.push_back(
            {.queries = {1, 47, 0, 200}, .keys = {1, 47, 0, 200}, .mask = mask, .dropout = dropout, .atoms = atoms});
  for (const Sequences& s : all)
    EXPECT_LT(precision_error(hooked_op(c, s), hooked_op(c, s, true), hooked_inputs(c, s)), tolerance(c))
        << s.atoms << " dim " << c.dim << " causal " << s.mask.causal << " before " << s.mask.before << " dropout "
        << s.dropout;
}

inline void expect_reference_gradients(const HookCase& c) {
  const Sequences s{{4, 0, 1, 6}, {4, 0, 1, 6}, Mask::past(), 0.3f}, t{{3, 2}, {5, 2}};
  EXPECT_LT(gradient_error(hooked_op(c, s, true), hooked_inputs(c, s)), 1e-6);
  EXPECT_LT(gradient_error(hooked_op(c, t, true), hooked_inputs(c, t)), 1e-6);
}

inline void expect_hook_bits(const HookCase& c) {
  const std::vector<int32_t> lengths{150, 20, 0, 1, 300, 40};
  for (const Mask& mask : {Mask::past(), Mask::none()}) {
    const Sequences s{lengths, lengths, mask, 0.1f};
    expect_fixed_bits(hooked_op(c, s), hooked_inputs(c, s));
  }
  const Sequences sparse{
      .queries = lengths, .keys = lengths, .mask = Mask::past(), .dropout = 0.1f, .atoms = "strided 5, band 30"};
  expect_fixed_bits(hooked_op(c, sparse), hooked_inputs(c, sparse));
  const Sequences s{lengths, lengths, Mask::past()};
  const auto in = hooked_inputs(c, s);
  expect_precise(hooked_op(c, s), hooked_op(c, s, true), in, "", tolerance(c));
  expect_views_and_plan(hooked_op(c, s), in);
  // a sequence does not depend on batch mates
  const CheckRun batch = run_checked(hooked_op(c, s), in, DType::f32);
  const int64_t wide = c.heads * c.dim;
  int64_t row = 0;
  for (const int32_t length : lengths) {
    std::vector<CheckInput> part;
    for (size_t i = 0; i < 3; ++i)
      part.push_back(
          {{length, wide},
           std::vector<double>(in[i].values.begin() + row * wide, in[i].values.begin() + (row + length) * wide)});
    part.insert(part.end(), in.begin() + 3, in.end());
    const CheckRun alone = run_checked(hooked_op(c, {{length}, {length}, Mask::past()}), part, DType::f32);
    EXPECT_TRUE(same_bits(alone.value, std::vector<double>(batch.value.begin() + row * wide,
                                                           batch.value.begin() + (row + length) * wide)));
    row += length;
  }
}

/// A packed batch in f32, its result, and the hook's tables as kernels want them.
struct HookedBatch {
  Sequences s;
  Segments segments;
  std::vector<std::vector<float>> in;
  std::vector<double> out;
  HookTables tables;

  HookedBatch(const HookCase& c, const Sequences& given) : s(given), segments(Segments::of_lengths(s.queries)) {
    const auto inputs = hooked_inputs(c, s);
    for (const auto& x : inputs) in.emplace_back(x.values.begin(), x.values.end());
    for (size_t i = 3; i < inputs.size(); ++i) tables.values[i - 3] = Tensor(in[i].data(), inputs[i].shape);
    out = run_checked(hooked_op(c, s), inputs, DType::f32).value;
  }
};

/// The last row of each sequence as a decoding step, all keys or those of a band.
inline void expect_steps_as_rows(const HookCase& c) {
  const int64_t wide = c.heads * c.dim;
  for (const int64_t band : {0, 20}) {
    const std::vector<int32_t> lengths{1, 5, 47, 96, 130, 300};
    const HookedBatch b(c, {lengths, lengths, band ? Mask::band(band, true) : Mask::past()});
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int64_t keys = band ? std::min<int64_t>(band, lengths[i]) : lengths[i];
      const int64_t last = b.segments.begin(static_cast<int64_t>(i) + 1) - 1;
      const auto first = static_cast<int32_t>(last + 1 - keys), count = static_cast<int32_t>(keys);
      std::vector<float> out(static_cast<size_t>(wide));
      const float *k = b.in[1].data(), *v = b.in[2].data();
      kernels::AttentionStep step;
      step.rows = 1;
      step.heads = step.heads_kv = c.heads;
      step.dim = c.dim;
      step.scale = 1 / std::sqrt(static_cast<float>(c.dim));
      step.q = {const_cast<float*>(b.in[0].data()) + last * wide, wide};
      step.out = {out.data(), wide};
      step.keys.pages = &k;
      step.values.pages = &v;
      step.keys.stride = step.values.stride = wide;
      step.first = &first;
      step.count = &count;
      step.longest = keys;
      step.hook = c.hook.get();
      step.tables = b.tables;
      if (band) step.positions = lengths[i];
      const Aligned<char> scratch(kernels::attention_step_scratch(keys, 1, step.hook, c.dim));
      step.scratch = scratch.data();
      kernels::attention_step(step);
      for (int64_t j = 0; j < wide; ++j)
        ASSERT_NEAR(out[static_cast<size_t>(j)], b.out[static_cast<size_t>(last * wide + j)], 2e-5)
            << lengths[i] << " keys, band " << band;
    }
  }
}

/// The weights people look at, times the values, are the result.
inline void expect_weights_as_used(const HookCase& c) {
  const HookedBatch b(c, {{7, 150}, {7, 150}, Mask::past()});
  kernels::AttentionShape shape{&b.segments, &b.segments, c.heads, c.heads, c.dim};
  shape.scale = 1 / std::sqrt(static_cast<float>(c.dim));
  shape.mask = b.s.mask;
  shape.hook = c.hook.get();
  shape.tables = b.tables;
  const int64_t n = 150, wide = c.heads * c.dim, head = c.heads - 1;
  std::vector<float> w(static_cast<size_t>(n * n));
  kernels::attention_weights(shape, {const_cast<float*>(b.in[0].data()), wide},
                             {const_cast<float*>(b.in[1].data()), wide}, 1, head, w.data());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t d = 0; d < c.dim; ++d) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += static_cast<double>(w[static_cast<size_t>(i * n + j)]) *
               b.in[2][static_cast<size_t>((7 + j) * wide + head * c.dim + d)];
      ASSERT_NEAR(sum, b.out[static_cast<size_t>((7 + i) * wide + head * c.dim + d)], 2e-5);
    }
}

inline void expect_hook_right(const HookCase& c) {
  expect_hook_near_reference(c);
  expect_hook_bits(c);
  expect_steps_as_rows(c);
  if (!c.on_values) expect_weights_as_used(c);
}

/// One head of one sequence by the paper's formula, in double: `score(i, j)` is the whole score of query i and key j,
/// `value(i, j, d)` what they contribute. Compared with the hook's reference in f64 and with the hook in f32.
struct Formula {
  std::function<double(int64_t head, int64_t i, int64_t j)> score;
  std::function<double(int64_t head, int64_t i, int64_t j, int64_t d)> value;
};

inline void expect_formula(const HookCase& c, const Sequences& s, const std::vector<CheckInput>& in,
                           const Formula& formula) {
  ASSERT_EQ(s.queries.size(), 1u);
  const int64_t n = s.queries[0], m = s.keys[0];
  const CheckRun exact = run_checked(hooked_op(c, s, true), in, DType::f64);
  const CheckRun fast = run_checked(hooked_op(c, s), in, DType::f32);
  for (int64_t h = 0; h < c.heads; ++h)
    for (int64_t i = 0; i < n; ++i) {
      const Mask::Range seen = s.mask.keys_of(i, n, m, 0);
      std::vector<double> e;
      double total = 0;
      for (int64_t j = seen.from; j < seen.to; ++j) total += e.emplace_back(std::exp(formula.score(h, i, j)));
      for (int64_t d = 0; d < c.dim; ++d) {
        double want = 0;
        for (int64_t j = seen.from; j < seen.to; ++j)
          want += e[static_cast<size_t>(j - seen.from)] / total * formula.value(h, i, j, d);
        const auto at = static_cast<size_t>(i * c.heads * c.dim + h * c.dim + d);
        ASSERT_NEAR(exact.value[at], want, 1e-7) << h << " " << i << " " << d;  // the scale is a float
        ASSERT_NEAR(fast.value[at], want, 2e-5) << h << " " << i << " " << d;
      }
    }
}

/// Element [row, column] of an input.
inline double at(const CheckInput& x, int64_t row, int64_t column) {
  return x.values[static_cast<size_t>(row * x.shape.cols() + column)];
}
/// a[row] . b[other] over `dim` columns from `column` and `other_column` on.
inline double dot(const CheckInput& a, int64_t row, int64_t column, const CheckInput& b, int64_t other,
                  int64_t other_column, int64_t dim) {
  double sum = 0;
  for (int64_t d = 0; d < dim; ++d) sum += at(a, row, column + d) * at(b, other, other_column + d);
  return sum;
}

}  // namespace attune
