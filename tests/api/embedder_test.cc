#include "attune/embedder.h"

#include <gtest/gtest.h>

#include "api/model_maker.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

const std::vector<std::string> kEmbedderLines{"a dog runs", "", "the cat \xff sees a dog in the park .", "   ", "zwei"};

TEST(Embedder, AVectorPerLineWhateverItsMates) {
  const TempFolder dir;
  LanguageRun run;
  run.train("model", {"train.stop=1u", "train.average=1"});
  for (const std::string& model : {make_model(dir), run.folder / "model"}) {
    const Embedder one(model, 1), three(model, 3);
    for (const Pool pool : {Pool::mean, Pool::first, Pool::last, Pool::max}) {
      const auto all = one.embed(kEmbedderLines, {.pool = pool});
      ASSERT_EQ(all.size(), kEmbedderLines.size());
      for (const int64_t batch_tokens : {1, 9, 4096}) {
        const auto again = three.embed(kEmbedderLines, {.pool = pool, .batch_tokens = batch_tokens});
        for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(again[i].vector, all[i].vector) << i;
      }
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(std::ssize(all[i].vector), one.width());
        EXPECT_EQ(three.embed({kEmbedderLines[i]}, {.pool = pool})[0].vector, all[i].vector) << i;
      }
      EXPECT_EQ(all[1].vector, all[3].vector) << "nothing is nothing";
      // the first state of a decoder has seen nothing
      EXPECT_TRUE(pool == Pool::first || all[0].vector != all[2].vector);
    }
  }
}

TEST(Embedder, PoolsAreWhatTheySay) {
  const TempFolder dir;
  const Embedder e(make_model(dir));
  const auto of = [&](Pool pool, const std::string& line) { return e.embed({line}, {.pool = pool})[0].vector; };
  EXPECT_EQ(of(Pool::mean, ""), of(Pool::first, "")) << "of one state";
  EXPECT_EQ(of(Pool::max, ""), of(Pool::last, ""));
  const auto max = of(Pool::max, "a dog runs"), mean = of(Pool::mean, "a dog runs"),
             first = of(Pool::first, "a dog runs");
  for (size_t i = 0; i < max.size(); ++i) {
    EXPECT_GE(max[i], mean[i]);
    EXPECT_GE(max[i], first[i]);
  }
}

TEST(Embedder, CropsWhatItCannotRead) {
  const TempFolder dir;
  const Embedder e(make_model(dir, {.position = "learned", .max_length = 5}));
  EXPECT_EQ(e.longest(), 5);
  EXPECT_TRUE(e.embed({"the cat sees a dog in the park"})[0].cropped);
  EXPECT_FALSE(e.embed({"a"})[0].cropped);
}

}  // namespace
}  // namespace attune::test
