// What every attention mechanism must do, with every position scheme it can stand beside. The tests run over the
// registries: a new mechanism or scheme gets them unasked.
#include <gtest/gtest.h>

#include <cmath>

#include "checks.h"
#include "model/contract.h"

namespace attune {
namespace {

std::vector<float> decoded(const Model& model, const IdLists& sources, const IdLists& targets,
                           ThreadPool* pool = nullptr) {
  Arena arena;
  Ctx ctx(arena);
  ctx.pool = pool;
  Pass pass{ctx, model.parameters()};
  const TinyBatch x = TinyBatch::of(sources), y = TinyBatch::of(targets);
  return numbers(model.decode(pass, x.tokens(), y.tokens()));
}

TEST_P(Contract, PackedIsOneByOne) {
  const auto m = model(options());
  const IdLists x = random_sentences(6, 40, 20, 1), y = random_sentences(6, 40, 20, 2);
  std::vector<float> apart, decoded_apart;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto one = encoded(*m, {x[i]}), two = decoded(*m, {x[i]}, {y[i]});
    apart.insert(apart.end(), one.begin(), one.end());
    decoded_apart.insert(decoded_apart.end(), two.begin(), two.end());
  }
  for (const float v : apart) ASSERT_TRUE(std::isfinite(v));
  EXPECT_TRUE(same_bits(encoded(*m, x), apart));
  EXPECT_TRUE(same_bits(decoded(*m, x, y), decoded_apart));
}

TEST_P(Contract, ThreadsChangeNothing) {
  const auto m = model(options(64));
  const IdLists x = random_sentences(30, 60, 20, 3), y = random_sentences(30, 60, 20, 4);
  ThreadPool pool(3);
  EXPECT_TRUE(same_bits(encoded(*m, x, &pool), encoded(*m, x)));
  EXPECT_TRUE(same_bits(decoded(*m, x, y, &pool), decoded(*m, x, y)));
}

TEST_P(Contract, TheFutureCannotChangeThePast) {
  const auto m = model(options());
  const IdLists x = random_sentences(1, 20, 20, 5);
  std::vector<int32_t> y{1};
  for (int i = 0; i < 60; ++i) y.push_back(4 + i * 7 % 16);
  const auto before = decoded(*m, x, {y});
  for (const size_t at : {1u, 17u, 50u, 60u}) {
    auto other = y;
    for (size_t i = at; i < other.size(); ++i) other[i] = 4 + (other[i] - 3) % 16;
    const auto after = decoded(*m, x, {other});
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(at * 32), after.begin())) << at;
    EXPECT_FALSE(same_bits(before, after)) << at;
  }
}

/// Row i of the steps is said by itself; rows part and die on the way.
TEST_P(Contract, StepsSayWhatAllAtOnceSays) {
  const auto m = model(options(), 1.2f);
  const IdLists x = random_sentences(3, 20, 20, 6);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m->parameters()};
  const TinyBatch batch = TinyBatch::of(x);
  const auto state = m->start(pass, batch, 100);
  IdLists said(3);
  std::vector<int32_t> source_of{0, 1, 2};
  std::mt19937 random(7);
  const std::vector<std::vector<int32_t>> orders{{0, 0, 1, 2, 2, 2}, {5, 0, 3, 1}, {0, 1, 2, 3}, {2, 2, 0}};
  for (size_t round = 0; round <= orders.size(); ++round)
    for (int t = 0; t < 13; ++t) {
      if (t == 0 && round > 0) {
        IdLists next;
        std::vector<int32_t> next_source;
        for (const int32_t p : orders[round - 1]) {
          next.push_back(said[static_cast<size_t>(p)]);
          next_source.push_back(source_of[static_cast<size_t>(p)]);
        }
        state->reorder(orders[round - 1]);
        said = next;
        source_of = next_source;
      }
      std::vector<int32_t> ids;
      for (auto& s : said) ids.push_back(s.emplace_back(s.empty() ? 1 : 4 + static_cast<int32_t>(random() % 16)));
      const auto rows = numbers(m->step(pass, *state, ids));
      if (t % 4 != 3) continue;
      for (size_t i = 0; i < said.size(); ++i) {
        const auto whole = decoded(*m, {x[static_cast<size_t>(source_of[i])]}, {said[i]});
        const std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(i * 32),
                                     rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * 32));
        ASSERT_LT(relative_error(row, {whole.end() - 32, whole.end()}), 1e-4) << "round " << round << ", step " << t;
      }
    }
}

/// States at different positions, of different sources, take their steps together as each would alone.
TEST_P(Contract, StatesStepTogetherAsAlone) {
  const auto m = model(options(), 1.2f);
  const TinyBatch x = TinyBatch::of(random_sentences(3, 20, 20, 6)), z = TinyBatch::of(random_sentences(2, 20, 20, 7));
  const auto steps = [&](bool together) {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, m->parameters()};
    const auto one = m->start(pass, x, 100);
    std::vector<int32_t> ids{1, 1, 1};
    for (int t = 0; t < 5; ++t, ids = {4 + t, 9 - t, 7}) m->step(pass, *one, ids);
    const auto two = m->start(pass, z, 100);
    DecoderState* states[] = {one.get(), two.get()};
    std::vector<float> all;
    const auto add = [&](const Var& rows) {
      const auto more = numbers(rows);
      all.insert(all.end(), more.begin(), more.end());
    };
    for (int t = 0; t < 6; ++t) {
      const std::vector<int32_t> first{5 + t, 6, 11 - t}, second{t == 0 ? 1 : 8, t == 0 ? 1 : 15 - t};
      std::vector<int32_t> both = first;
      both.insert(both.end(), second.begin(), second.end());
      if (together) {
        add(m->step(pass, states, both));
      } else {
        add(m->step(pass, *one, first));
        add(m->step(pass, *two, second));
      }
      one->reorder(std::vector<int32_t>{2, 0, 0});
      two->reorder(std::vector<int32_t>{1, 0});
    }
    return all;
  };
  EXPECT_TRUE(same_bits(steps(true), steps(false)));
}

TEST_P(Contract, GradientsAreThoseOfTheFormula) {
  ModelOptions o = options(8, 1);
  o.heads = 2;
  o.d_ff = 8;
  o.activation = "gelu";  // no kinks for a difference to step over
  const auto m = model(o);
  const TinyBatch x = TinyBatch::of(random_sentences(3, 9, 20, 8)), y = TinyBatch::of(random_sentences(3, 12, 20, 9));
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& weights) {
    Pass pass{ctx, m->parameters()};
    pass.substitutes = weights;
    return m->decode(pass, x.tokens(), y.tokens());
  };
  expect_gradients_of_formula(*m, op);
}

TEST_P(Contract, WeightsAreWhatItAttendedTo) {
  const auto m = model(options());
  const TinyBatch x = TinyBatch::of(random_sentences(1, 30, 20, 12));
  Arena arena;
  Ctx ctx(arena);
  AttentionTap tap{.place = "encoder.1.self"};
  Pass pass{ctx, m->parameters(), nullptr, &tap};
  m->encode(pass, x.tokens());
  if (tap.weights.empty()) return;  // it has none
  ASSERT_EQ(tap.queries, x.segments.rows());
  for (int64_t row = 0; row < tap.heads * tap.queries; ++row) {
    double sum = 0;
    for (int64_t j = 0; j < tap.keys; ++j) {
      const float w = tap.weights[static_cast<size_t>(row * tap.keys + j)];
      EXPECT_GE(w, 0);
      sum += static_cast<double>(w);
    }
    if (GetParam().attention.kind == "routing" && sum == 0) continue;  // its cluster has no keys
    const std::string& kind = GetParam().attention.kind;
    if (kind == "persistent" || kind == "etc" || kind == "bp")  // some went to its memory, or to rows of its own
      EXPECT_TRUE(sum > 0 && sum < 1 + 1e-6) << sum;
    else
      EXPECT_NEAR(sum, 1, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Contract, testing::ValuesIn(all_pairs()), name_of_pair);

/// Section 3.5's reason to be: without positions the encoder does not know the order of its rows.
TEST(Positions, WithoutThemTheEncoderIsPermutationEquivariant) {
  ModelOptions o = tiny_options();
  o.position = {"none"};
  Model m(o, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
  m.initialize(1);
  const auto straight = encoded(m, {{4, 5, 6, 7, 8, 2}}), turned = encoded(m, {{8, 2, 6, 5, 7, 4}});
  const int from[] = {4, 5, 2, 1, 3, 0};
  for (size_t i = 0; i < 6; ++i)
    for (size_t j = 0; j < 32; ++j)
      EXPECT_NEAR(turned[i * 32 + j], straight[static_cast<size_t>(from[i]) * 32 + j], 1e-5);
}

}  // namespace
}  // namespace attune
