// Attention by a pattern against plain operations in double: values, gradients, dropout, shared heads, relative
// positions, and the same bits whatever the threads.
#include <array>

#include "autograd/attention/attention.h"
#include "autograd/attention/attention_op.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

using Kind = PatternAtom::Kind;

struct SparseCase {
  std::vector<int32_t> queries;
  int64_t heads, heads_kv, dim;
  Pattern pattern;
  float dropout = 0;
  std::vector<int32_t> keys = queries;
};

struct Patterns {
  PatternCache cache;
  BatchPattern batch;
  explicit Patterns(const SparseCase& c) : cache(c.pattern) {
    batch.definition = &cache.pattern();
    for (const int32_t n : c.queries) batch.segments.push_back(cache.of_length(n));
  }
};

CheckedOp op_of(const SparseCase& c, bool reference = false, bool joined = false) {
  auto patterns = std::make_shared<Patterns>(c);
  return attention_op<Attention>(c, joined, [=](Ctx& ctx, Attention a, const std::vector<Var>&) {
    a.pattern = &patterns->batch;
    a.dropout = {c.dropout, 42, 1000};
    return reference ? attention_reference(ctx, a) : attention(ctx, a);
  });
}

std::vector<CheckInput> inputs_of(const SparseCase& c) {
  const int64_t n = Segments::of_lengths(c.queries).rows();
  return {random_input({n, c.heads * c.dim}, 1), random_input({n, c.heads_kv * c.dim}, 2),
          random_input({n, c.heads_kv * c.dim}, 3)};
}

std::vector<std::vector<PatternAtom>> atoms() {
  return {{{Kind::band, 9}},
          {{Kind::band, 70}, {Kind::global, 3}, {Kind::random, 2}},
          {{Kind::block, 3}, {Kind::columns, 20, 3}},
          {{Kind::strided, 17}, {Kind::band, 20}},
          {{Kind::band, 30, 7}, {Kind::strided, 50}, {Kind::columns, 9, 2}}};
}

/// A row that sees itself alone has no gradient but rounding, which is much beside nothing: the bound is the
/// contract's.
TEST(SparseAttention, NearItsReference) {
  for (const auto& a : atoms())
    for (const bool causal : {false, true})
      for (const float dropout : {0.0f, 0.2f})
        for (const auto& [heads, heads_kv, dim] :
             {std::array<int64_t, 3>{2, 2, 16}, {2, 1, 7}, {4, 2, 33}, {1, 1, 80}}) {
          const SparseCase c{{7, 0, 1, 63, 65, 150}, heads, heads_kv, dim, {a, 24, causal, 3}, dropout};
          EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), 2e-4)
              << static_cast<int>(a[0].kind) << " causal " << causal << " dropout " << dropout << " dim " << dim;
        }
}

TEST(SparseAttention, ReferenceHasRightGradients) {
  const SparseCase c{{4, 0, 1, 7}, 2, 1, 3, {{{Kind::band, 3}, {Kind::strided, 3}, {Kind::random, 1}}, 2, true, 1},
                     0.3f};
  EXPECT_LT(gradient_error(op_of(c, true), inputs_of(c)), 1e-6);
}

TEST(SparseAttention, FixedBits) {
  for (const auto& a : atoms())
    for (const bool causal : {false, true}) {
      const SparseCase c{{150, 20, 0, 1, 300, 40}, 4, 2, 32, {a, 24, causal, 3}, 0.1f};
      expect_fixed_bits(op_of(c), inputs_of(c));
    }
}

TEST(SparseAttention, ABatchMateChangesNothing) {
  const SparseCase both{{130, 200}, 1, 1, 16, {{{Kind::band, 9}, {Kind::random, 1}, {Kind::strided, 30}}, 24, true, 3}};
  SparseCase one = both;
  one.queries = one.keys = {200};
  auto in = inputs_of(both);
  const CheckRun together = run_checked(op_of(both), in, DType::f32);
  for (CheckInput& x : in) {
    x.shape = Shape{200, 16};
    x.values.erase(x.values.begin(), x.values.begin() + 130 * 16);
  }
  const CheckRun alone = run_checked(op_of(one), in, DType::f32);
  EXPECT_TRUE(std::equal(alone.value.begin(), alone.value.end(), together.value.begin() + 130 * 16));
}

TEST(SparseAttention, AColumnRangeOfOneMatrixIsAsGoodAsThree) {
  const SparseCase c{
      {70, 5, 200}, 2, 2, 16, {{{Kind::band, 30}, {Kind::columns, 16, 2}, {Kind::strided, 40}}, 16, true, 3}};
  const auto in = inputs_of(c);
  const CheckRun apart = run_checked(op_of(c), in, DType::f32);
  CheckInput joined{{in[0].shape[0], 3 * 32}, {}, true};
  for (int64_t r = 0; r < in[0].shape[0]; ++r)
    for (const CheckInput& part : in)
      joined.values.insert(joined.values.end(), part.values.begin() + r * 32, part.values.begin() + (r + 1) * 32);
  const CheckRun together = run_checked(op_of(c, false, true), {joined}, DType::f32);
  EXPECT_TRUE(same_bits(apart.value, together.value));
  for (int64_t r = 0; r < in[0].shape[0]; ++r)
    for (size_t part = 0; part < 3; ++part)
      for (int64_t j = 0; j < 32; ++j)
        ASSERT_EQ(apart.grads[part][static_cast<size_t>(r * 32 + j)],
                  together.grads[0][static_cast<size_t>(r * 96 + static_cast<int64_t>(part) * 32 + j)]);
}

}  // namespace
}  // namespace attune
