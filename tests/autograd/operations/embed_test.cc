#include "autograd/operations/embed.h"

#include <cmath>

#include "autograd/op_checks.h"
#include "autograd/operations/residual_norm.h"

namespace attune {
namespace {

using EmbedOp = Var (*)(Ctx&, const EmbedArgs&, const Dropout&);

/// A packed batch: ids that repeat, within a segment and between segments.
struct Batch {
  std::vector<int32_t> ids, offsets;
  Segments segments;
  int64_t words;

  Batch(const std::vector<int32_t>& lengths, int64_t words_, bool with_offsets) : words(words_) {
    segments = Segments::of_lengths(lengths);
    Random random(11);
    for (int64_t r = 0; r < segments.rows(); ++r)
      ids.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(words - 1))));  // one id never comes
    for (size_t i = 0; i < lengths.size() && with_offsets; ++i) offsets.push_back(static_cast<int32_t>(i % 3));
  }
  EmbedArgs embedding(const Var& table, const Var& positions) const {
    return {table, Tensor(ids.data(), {segments.rows()}), 3.5f, positions, {&segments, offsets}};
  }
};

CheckedOp checked(EmbedOp op, const Batch& batch, bool positions, float rate) {
  return [=, &batch](Ctx& ctx, const std::vector<Var>& in) {
    Dropout dropout = ctx.dropout(rate, 2);
    dropout.first_row = 9;
    EmbedArgs e = batch.embedding(in[0], positions ? in[1] : Var());
    e.words = ctx.dropout(rate, 3);
    e.words.first_row = 9;
    return op(ctx, e, dropout);
  };
}
std::vector<CheckInput> inputs_of(const Batch& b, int64_t d) {
  return {random_input({b.words, d}, 1), random_input({b.segments.longest + 2, d}, 2)};
}

TEST(Embed, ReferenceAgreesWithFiniteDifferences) {
  for (bool offsets : {false, true})
    for (bool positions : {false, true})
      for (float rate : {0.0f, 0.3f}) {
        const Batch batch({3, 0, 1, 4}, 6, offsets);
        EXPECT_LT(gradient_error(checked(embed_reference, batch, positions, rate), inputs_of(batch, 5)), 1e-6);
      }
}

TEST(Embed, FusedAgreesWithReference) {
  for (const std::vector<int32_t>& lengths :
       {std::vector<int32_t>{}, {0}, {0, 0}, {1}, {1, 1, 1}, {0, 7, 0, 0, 63, 1, 0}, {65, 2}})
    for (int64_t d : {1, 7, 16, 63, 65})
      for (bool offsets : {false, true})
        for (bool positions : {false, true})
          for (float rate : {0.0f, 0.3f}) {
            const Batch batch(lengths, 13, offsets);
            expect_precise(checked(embed, batch, positions, rate), checked(embed_reference, batch, positions, rate),
                           inputs_of(batch, d), std::to_string(batch.ids.size()) + " x " + std::to_string(d));
          }
}

TEST(Embed, BitsDoNotDependOnThreadsOrInstructionSet) {
  const Batch batch({100, 0, 1, 55, 200, 17}, 300, true);
  for (bool positions : {false, true})
    for (float rate : {0.0f, 0.1f}) expect_fixed_bits(checked(embed, batch, positions, rate), inputs_of(batch, 201));
}

/// A table used twice: the second backward adds to what the first one stored.
TEST(Embed, GradientsAdd) {
  const Batch a({3, 2}, 9, false), b({4, 1}, 7, false);
  const auto twice = [&](auto op, auto norm) {
    return [&, op, norm](Ctx& ctx, const std::vector<Var>& in) {
      const Var x = op(ctx, a.embedding(in[0], in[1]), ctx.dropout(0.2f, 1));
      const Var y = op(ctx, b.embedding(in[0], in[1]), {});
      return norm(ctx, x, y, NormWeights{in[2]}, {}).y;
    };
  };
  std::vector<CheckInput> inputs = {random_input({9, 20}, 1), random_input({8, 20}, 2), random_input({20}, 3)};
  const auto exact = twice(embed_reference, residual_norm_reference);
  EXPECT_LT(gradient_error(exact, inputs), 1e-6);
  expect_precise(twice(embed, residual_norm), exact, inputs, "twice");
}

/// Gradient memory that holds rubbish: rows no id touched must come out zero unless something was there to add to.
TEST(Embed, UntouchedRowsAreZeroOrKept) {
  for (bool was_written : {false, true}) {
    Arena arena;
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    std::vector<float> table(6 * 4, 1.0f), grad(6 * 4, 5.0f), ones(3 * 4, 1.0f);
    const std::vector<int32_t> ids = {2, 4, 2};
    bool written = was_written;
    const Var w = ctx.parameter(Tensor(table.data(), {6, 4}), Tensor(grad.data(), {6, 4}), &written);
    const Var y = embed(ctx, {w, Tensor(ids.data(), {3}), 2.0f});
    const Tensor seed(ones.data(), {3, 4});
    tape.backward(ctx, y, &seed);
    const float base = was_written ? 5.0f : 0.0f;
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 4; ++j)
        EXPECT_EQ(grad[static_cast<size_t>(i * 4 + j)], base + (i == 2 ? 4.0f : i == 4 ? 2.0f : 0.0f));
    EXPECT_TRUE(written);
  }
}

/// Whole words go, their positions stay, and those that are left make up for them.
TEST(Embed, WordsAreDroppedWhole) {
  Arena arena;
  Ctx ctx(arena);
  ctx.training = true;
  constexpr int64_t n = 4000, d = 5;
  const std::vector<float> table(d, 1.0f), positions(n * d, 0.5f);
  const std::vector<int32_t> ids(n, 0);
  EmbedArgs e{ctx.input(Tensor(table.data(), {1, d})), Tensor(ids.data(), {n}), 2.0f};
  const Segments segments = Segments::single(n);
  e.positions = ctx.input(Tensor(positions.data(), {n, d}));
  e.where = {&segments, {}};
  e.words = ctx.dropout(0.25f, 1);
  const Var y = embed(ctx, e);
  int64_t gone = 0;
  for (int64_t r = 0; r < n; ++r) {
    const float* row = y.value().row<float>(r);
    gone += row[0] == 0.5f;
    for (int64_t j = 0; j < d; ++j) ASSERT_EQ(row[j], dropped(e.words, r, 0) ? 0.5f : 0.5f + 2.0f / 0.75f);
  }
  EXPECT_NEAR(static_cast<double>(gone) / n, 0.25, 0.03);
}

/// A shard of a batch drops what the whole batch would drop there.
TEST(Embed, ShardsDropTheSame) {
  Arena arena;
  Ctx ctx(arena);
  ctx.training = true;
  std::vector<float> table(10 * 33, 1.0f);
  const Var w = ctx.input(Tensor(table.data(), {10, 33}));
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6};
  const Var whole = embed(ctx, {w, Tensor(ids.data(), {6})}, ctx.dropout(0.5f, 1));
  ctx.first_row = 4;
  const Var shard = embed(ctx, {w, Tensor(ids.data() + 4, {2})}, ctx.dropout(0.5f, 1));
  EXPECT_EQ(std::memcmp(whole.value().row<float>(4), shard.value().data, 2 * 33 * 4), 0);
}

TEST(Embed, SinusoidalPositions) {
  std::vector<float> table(50 * 7);
  const Tensor t(table.data(), {50, 7});
  fill_sinusoidal(t);
  for (int pos : {0, 1, 49})
    for (int j = 0; j < 7; ++j) {
      const double angle = pos / std::pow(10000.0, (j - j % 2) / 7.0);
      EXPECT_NEAR(t.row<float>(pos)[j], j % 2 ? std::cos(angle) : std::sin(angle), 1e-7);
    }
}

TEST(Embed, SaysWhatIsWrong) {
  Arena arena;
  Ctx ctx(arena);
  const auto var = [&](DType type, const Shape& shape) { return ctx.input(Tensor(nullptr, type, shape)); };
  const Var table = var(DType::f32, {32000, 8});
  const std::vector<int32_t> ids = {1, 2, 3, 70000}, fine = {1, 2, 3}, below = {-1};
  const Segments segments = Segments::of_lengths({1, 2});
  const std::vector<int32_t> offsets = {0, 9}, too_many = {1, 2, 3};
  const auto says = [&](const EmbedArgs& e) { return error_of([&] { embed(ctx, e); }); };
  const Tensor three(fine.data(), {3});
  EXPECT_EQ(says({table, Tensor(ids.data(), {4})}), "[embed] row 3: id 70000, the table has 32000 rows");
  EXPECT_EQ(says({table, Tensor(below.data(), {1})}), "[embed] row 0: id -1, the table has 32000 rows");
  EXPECT_EQ(says({table, Tensor(ids.data(), {4}), 1, {}, {&segments}}), "[embed] 4 ids for segments of 3 rows");
  EXPECT_EQ(says({table, three, 1, var(DType::f32, {9, 7})}),
            "[embed] positions are f32 [9, 7], the table is f32 [32000, 8]");
  EXPECT_EQ(says({table, three, 1, var(DType::f64, {9, 8})}),
            "[embed] positions are f64 [9, 8], the table is f32 [32000, 8]");
  EXPECT_EQ(says({table, three, 1, var(DType::f32, {2, 8})}),
            "[embed] segment 0 has the positions 0 to 2, the table of positions has 2 rows");
  EXPECT_EQ(says({table, three, 1, var(DType::f32, {10, 8}), {&segments, offsets}}),
            "[embed] segment 1 has the positions 9 to 10, the table of positions has 10 rows");
  EXPECT_EQ(says({table, three, 1, var(DType::f32, {10, 8}), {&segments, too_many}}),
            "[embed] 3 offsets for 2 segments");
  EXPECT_EQ(says({var(DType::i8, {4, 8}), three}), "[embed] the table is i8, not f32 or f64");
  EXPECT_EQ(says({table, Tensor(nullptr, DType::f32, {3})}), "[embed] ids are f32, not i32 one after another");
  EXPECT_EQ(says({var(DType::f32, {4}), three}), "[embed] the table is [4], not [rows, columns]");
  EXPECT_EQ(says({}), "[embed] the table is missing");
}

}  // namespace
}  // namespace attune
