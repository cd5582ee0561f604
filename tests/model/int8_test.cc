// Models of int8 weights, for every mechanism and position there is: none reads weights past linear() and embed().
#include <gtest/gtest.h>

#include <cmath>

#include "checks.h"
#include "model/contract.h"
#include "model/int8_of.h"

namespace attune {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;

/// Scores of all words at every position, all at once; and the loss.
std::vector<float> scores(const Model& model, const Sentences& sources, const Sentences& targets, int threads) {
  Arena arena;
  Ctx ctx(arena);
  ThreadPool pool(threads);
  ctx.pool = &pool;
  Pass pass{ctx, model.parameters()};
  const TinyBatch x = TinyBatch::of(sources), y = TinyBatch::of(targets);
  const Var hidden = model.decode(pass, x.tokens(), y.tokens());
  const Var z = model.logits(pass, hidden);
  std::vector<float> all(z.value().as<float>(), z.value().as<float>() + z.value().size());
  all.push_back(*model.loss(pass, batch_of(x, y, y), {}).value().as<float>() / static_cast<float>(y.ids.size()));
  return all;
}

/// The same of the last position, step by step.
std::vector<float> last_scores(const Model& model, const std::vector<int32_t>& source,
                               const std::vector<int32_t>& target) {
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model.parameters()};
  const TinyBatch x = TinyBatch::of({source});
  const auto state = model.start(pass, x, 100);
  std::vector<float> all;
  for (const int32_t id : target) {
    const Var z = model.logits(pass, model.step(pass, *state, std::vector<int32_t>{id}));
    all.assign(z.value().as<float>(), z.value().as<float>() + z.value().size());
  }
  return all;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i] - b[i]), 2);
    size += std::pow(static_cast<double>(a[i]), 2);
  }
  return std::sqrt(error / size);
}

class Int8Contract : public Contract {};

TEST_P(Int8Contract, NearTheModelItWasMadeOf) {
  const auto f32 = model(options(), 1.0f);
  const auto int8 = int8_of(*f32);
  EXPECT_LT(int8->parameters().size(), f32->parameters().size());
  const Sentences sources = random_sentences(5, 9, 20, 1), targets = random_sentences(5, 9, 20, 2);
  const auto z = scores(*int8, sources, targets, 1);
  // Routing chooses clusters by what rows are: near a border another one.
  const double near = GetParam().attention.kind == "routing" ? 0.5 : 0.12;
  EXPECT_LT(relative_distance(scores(*f32, sources, targets, 1), z), near);
  EXPECT_TRUE(same_bits(scores(*int8, sources, targets, 3), z));
  const Sentences one{sources[0]}, said{{1, 5, 9, 7}};
  std::vector<float> at_once = scores(*int8, one, said, 1);
  at_once.pop_back();
  at_once.erase(at_once.begin(), at_once.end() - 20);
  if (!kind_of(GetParam()).causal) return;
  EXPECT_LT(relative_distance(at_once, last_scores(*int8, one[0], said[0])), near);
}

INSTANTIATE_TEST_SUITE_P(All, Int8Contract, testing::ValuesIn(all_pairs()), name_of_pair);

TEST(Int8Model, EveryTyingAndInstructionSet) {
  for (const Tie tie : {Tie::all, Tie::output, Tie::none}) {
    const auto f32 = tiny_model({.tie = tie}, 1, 1.0f);
    const Sentences sources = random_sentences(4, 9, 20, 3), targets = random_sentences(4, 9, 20, 4);
    const auto plain = scores(*f32, sources, targets, 1);
    std::vector<float> first;
    for (const auto& isa : available_isas()) {
      if (!isa_has_fma(isa)) continue;
      const IsaScope scope(isa);
      for (const auto& kernel : kernels::available_int8_kernels()) {
        kernels::force_int8_kernel(kernel);
        const auto z = scores(*int8_of(*f32), sources, targets, 2);
        EXPECT_LT(relative_distance(plain, z), 0.1);
        if (first.empty()) first = z;
        EXPECT_TRUE(same_bits(z, first)) << isa << ' ' << kernel;
      }
      kernels::force_int8_kernel("");
    }
  }
}

}  // namespace
}  // namespace attune
