// Attention by a pattern against plain operations in double: values, gradients, dropout, shared heads, relative
// positions, and the same bits whatever the threads.
#include <array>

#include "autograd/attention/attention.h"
#include "autograd/attention/attention_op.h"
#include "autograd/op_checks.h"
#include "tensor/atoms.h"

namespace attune {
namespace {

Pattern pattern_of(const std::string& atoms, int64_t block, bool causal) {
  return parse_pattern(atoms, {{}, {}, block, 3, causal}, "atoms");
}

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
  explicit Patterns(const SparseCase& c) : cache(c.pattern) { batch = cache.of_batch(Segments::of_lengths(c.queries)); }
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

const char* const kAtoms[] = {"band 9",
                              "band 70, global 3, random 2",
                              "block 3, columns 20 summary 3",
                              "strided 17, band 20",
                              "band 30 gap 7, strided 50, columns 9 summary 2",
                              "chunk 40 memory 30, global at 5 70",
                              "strided 10 within 70, strided 70, chunk 10",
                              "rectangle 5 by 7 above 3 beside 2 of 20"};

/// A row that sees itself alone has no gradient but rounding, which is much beside nothing: the bound is the
/// contract's.
TEST(SparseAttention, NearItsReference) {
  for (const std::string a : kAtoms)
    for (const bool causal : {false, true})
      for (const float dropout : {0.0f, 0.2f})
        for (const auto& [heads, heads_kv, dim] :
             {std::array<int64_t, 3>{2, 2, 16}, {2, 1, 7}, {4, 2, 33}, {1, 1, 80}}) {
          const SparseCase c{{7, 0, 1, 63, 65, 150}, heads, heads_kv, dim, pattern_of(a, 24, causal), dropout};
          EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), 2e-4)
              << a << " causal " << causal << " dropout " << dropout << " dim " << dim;
        }
}

/// Classes and columns of more than one tile, which meet wholly or not at all.
TEST(SparseAttention, NearItsReferenceWhereTilesThatAreGatheredMeet) {
  for (const char* a :
       {"strided 2", "strided 3, band 5", "band 9 gap 2", "band 300 gap 2", "columns 4 summary 2, band 3",
        "strided 20 within 200, strided 200, chunk 20", "rectangle 16 by 16 above 8 beside 8 of 21"})
    for (const bool causal : {false, true})
      for (const float dropout : {0.0f, 0.2f}) {
        const SparseCase c{{450, 3, 64}, 2, 1, 16, pattern_of(a, 24, causal), dropout};
        EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), 2e-4)
            << a << " causal " << causal << " dropout " << dropout;
      }
}

TEST(SparseAttention, ReferenceHasRightGradients) {
  const SparseCase c{{4, 0, 1, 7}, 2, 1, 3, pattern_of("band 3, strided 3, random 1", 2, true), 0.3f};
  EXPECT_LT(gradient_error(op_of(c, true), inputs_of(c)), 1e-6);
}

TEST(SparseAttention, FixedBits) {
  for (const std::string a : kAtoms)
    for (const bool causal : {false, true}) {
      const SparseCase c{{150, 20, 0, 1, 300, 40}, 4, 2, 32, pattern_of(a, 24, causal), 0.1f};
      expect_fixed_bits(op_of(c), inputs_of(c));
    }
}

TEST(SparseAttention, ABatchMateChangesNothing) {
  const SparseCase both{{130, 200}, 1, 1, 16, pattern_of("band 9, random 1, strided 30", 24, true)};
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
  const SparseCase c{{70, 5, 200}, 2, 2, 16, pattern_of("band 30, columns 16 summary 2, strided 40", 16, true)};
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
