#include "model/position/growing_rows.h"

#include <gtest/gtest.h>

#include <thread>

#include "model/tiny_model.h"

namespace attune {
namespace {

TEST(GrowingRows, GivesWhatIsAskedForAndKeepsIt) {
  int64_t made = 0, times = 0;
  GrowingRows rows(2, [&](const Tensor& t) {
    made += t.rows();
    ++times;
    for (int64_t i = 0; i < t.rows(); ++i) t.row<float>(i)[0] = t.row<float>(i)[1] = static_cast<float>(i);
  });
  EXPECT_EQ(rows.first(0).rows(), 0);
  std::vector<Tensor> given;
  for (int64_t n = 1; n < 5000; n = n * 3 / 2 + 1) given.push_back(rows.first(n));
  for (const Tensor& t : given) EXPECT_EQ(t.row<float>(t.rows() - 1)[1], static_cast<float>(t.rows() - 1));
  EXPECT_LE(times, 7);
  EXPECT_LE(made, 4 * 5000);
}

TEST(GrowingRows, AnyThreadMayAsk) {
  GrowingRows rows(1, [](const Tensor& t) {
    for (int64_t i = 0; i < t.rows(); ++i) *t.row<float>(i) = static_cast<float>(i);
  });
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (int64_t n = 1; n < 3000; n += 7) EXPECT_EQ(*rows.first(n).row<float>(n - 1), static_cast<float>(n - 1));
    });
  for (std::thread& t : threads) t.join();
}

/// What a recipe allows changes nothing of what a short text gives, and costs next to nothing.
TEST(Positions, GoByTheTextNotByWhatTheRecipeAllows) {
  const auto sources = random_sentences(5, 30, 20, 3), targets = random_sentences(5, 40, 20, 4);
  for (const char* kind : {"sinusoidal", "rope", "transformer-xl"}) {
    std::vector<std::vector<float>> said;
    for (const int64_t longest : {int64_t{100}, int64_t{1} << 30}) {
      ModelOptions o = tiny_options();
      o.position = {kind};
      Model m(o, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = longest});
      m.initialize(1);
      Arena arena;
      Ctx ctx(arena);
      Pass pass{ctx, m.parameters()};
      const TinyBatch source = TinyBatch::of(sources), target = TinyBatch::of(targets);
      said.push_back(numbers(m.decode(pass, source, target)));
    }
    EXPECT_EQ(said[0], said[1]) << kind;
  }
}

}  // namespace
}  // namespace attune
