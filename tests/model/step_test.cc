// Decoding step by step against all positions at once.
#include <gtest/gtest.h>

#include "checks.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;

std::vector<float> row_of(const std::vector<float>& all, size_t row, size_t width) {
  return {all.begin() + static_cast<std::ptrdiff_t>(row * width),
          all.begin() + static_cast<std::ptrdiff_t>((row + 1) * width)};
}

/// Rows of every step, [step][rows * d_model], of `targets` (equally long) said one by one.
std::vector<std::vector<float>> by_steps(const Model& model, const Sentences& sources, const Sentences& targets,
                                         ThreadPool* pool = nullptr) {
  Arena arena;
  Ctx ctx(arena);
  ctx.pool = pool;
  Pass pass{ctx, model.parameters()};
  const TinyBatch batch = TinyBatch::of(sources);
  const auto state = model.start(pass, batch, 100);
  std::vector<std::vector<float>> out;
  for (size_t t = 0; t < targets[0].size(); ++t) {
    std::vector<int32_t> ids;
    for (const auto& y : targets) ids.push_back(y[t]);
    out.push_back(numbers(model.step(pass, *state, ids)));
  }
  return out;
}

/// The same all at once: [sentence][length * d_model].
std::vector<float> at_once(const Model& model, const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model.parameters()};
  const TinyBatch x = TinyBatch::of({source}), y = TinyBatch::of({target});
  return numbers(model.decode(pass, x.tokens(), y.tokens()));
}

Sentences equally_long(int count, int length, int seed) {
  Sentences all = random_sentences(count, 2, 20, seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (auto& s : all) {
    s.assign(1, 1);
    while (std::ssize(s) < length) s.push_back(4 + static_cast<int32_t>(random() % 16));
  }
  return all;
}

TEST(DecoderSteps, SayWhatAllAtOnceSays) {
  const Sentences sources = random_sentences(5, 30, 20, 3), targets = equally_long(5, 70, 4);
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre})
    for (const int64_t heads_kv : {4, 2, 1})
      for (const int64_t d_model : {32, 44, 144, 320}) {
        const auto model = tiny_model({.norm = norm, .heads_kv = heads_kv, .d_model = d_model}, 1, 1.5f);
        const auto steps = by_steps(*model, sources, targets);
        const auto d = static_cast<size_t>(d_model);
        for (size_t s = 0; s < sources.size(); ++s) {
          const auto whole = at_once(*model, sources[s], targets[s]);
          for (size_t t = 0; t < targets[s].size(); ++t) {
            double error = 0, size = 0;
            for (size_t j = 0; j < d; ++j) {
              const double a = steps[t][s * d + j], b = whole[t * d + j];
              error += (a - b) * (a - b);
              size += b * b;
            }
            ASSERT_LT(std::sqrt(error / size), 1e-4) << "step " << t << " of sentence " << s << ", width " << d_model;
          }
        }
      }
}

TEST(DecoderSteps, ARowDoesNotSeeItsBatchMates) {
  const auto model = tiny_model({.heads_kv = 2});
  const Sentences sources = random_sentences(9, 30, 20, 5), targets = equally_long(9, 20, 6);
  const auto together = by_steps(*model, sources, targets);
  for (size_t s = 0; s < sources.size(); ++s) {
    const auto alone = by_steps(*model, {sources[s]}, {targets[s]});
    for (size_t t = 0; t < alone.size(); ++t) EXPECT_TRUE(same_bits(alone[t], row_of(together[t], s, 32))) << s;
  }
}

TEST(DecoderSteps, ThreadsAndInstructionSetsChangeNothing) {
  const auto model = tiny_model({.d_model = 128});
  const Sentences sources = random_sentences(60, 40, 20, 7), targets = equally_long(60, 12, 8);
  const auto want = by_steps(*model, sources, targets);
  for (const int threads : {2, 3}) {
    ThreadPool pool(threads);
    EXPECT_EQ(by_steps(*model, sources, targets, &pool), want) << threads;
  }
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa)) continue;
    const IsaScope scope(isa);
    const auto again = tiny_model({.d_model = 128});
    EXPECT_EQ(by_steps(*again, sources, targets), want) << isa;
  }
}

/// Hypotheses part, die and multiply: each must be what saying its own words from the start gives.
TEST(DecoderSteps, ReorderedRowsAreTheirParents) {
  const auto model = tiny_model({.heads_kv = 2});
  const Sentences sources = random_sentences(4, 20, 20, 9);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model->parameters()};
  const TinyBatch batch = TinyBatch::of(sources);
  const auto state = model->start(pass, batch, 100);
  Sentences said(4);
  std::vector<int32_t> source_of{0, 1, 2, 3};
  std::mt19937 random(10);
  std::vector<float> last;
  // more rows than at first, fewer, the same in another order, in the same order
  const std::vector<std::vector<int32_t>> orders{
      {0, 0, 0, 1, 1, 3, 3, 3, 3}, {8, 0, 2, 1, 4, 4, 5}, {0, 1, 2, 3, 4, 5, 6}, {2, 2, 6}, {0, 1, 2}, {2, 1, 0, 0}};
  for (size_t round = 0; round <= orders.size(); ++round)
    for (int t = 0; t < 15; ++t) {
      if (t == 0 && round > 0) {
        const auto& parents = orders[round - 1];
        state->reorder(parents);
        Sentences next;
        std::vector<int32_t> next_source;
        for (const int32_t p : parents) {
          next.push_back(said[static_cast<size_t>(p)]);
          next_source.push_back(source_of[static_cast<size_t>(p)]);
        }
        said = next;
        source_of = next_source;
      }
      std::vector<int32_t> ids;
      for (auto& s : said) {
        s.push_back(s.empty() ? 1 : 4 + static_cast<int32_t>(random() % 16));
        ids.push_back(s.back());
      }
      last = numbers(model->step(pass, *state, ids));
    }
  ASSERT_EQ(state->rows(), 4);
  for (size_t i = 0; i < said.size(); ++i) {
    const auto anew = by_steps(*model, {sources[static_cast<size_t>(source_of[i])]}, {said[i]});
    EXPECT_TRUE(same_bits(anew.back(), row_of(last, i, 32))) << i;
  }
}

TEST(DecoderSteps, AnImpossibleParentIsRefused) {
  const auto model = tiny_model();
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model->parameters()};
  const TinyBatch batch = TinyBatch::of({{5, 2}, {6, 2}});
  const auto state = model->start(pass, batch, 100);
  model->step(pass, *state, std::vector<int32_t>{1, 1});
  EXPECT_NE(error_of([&] { state->reorder(std::vector<int32_t>{0, 2}); }).find("can't be a parent"), std::string::npos);
  EXPECT_NE(error_of([&] { model->step(pass, *state, std::vector<int32_t>{1}); }).find("1 words for 2 rows"),
            std::string::npos);
}

}  // namespace
}  // namespace attune
