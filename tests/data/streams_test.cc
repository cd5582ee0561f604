#include "data/streams.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune::test {
namespace {

TEST(Streams, EveryTokenIsInOneWindowAndWindowsGoOnFromBatchToBatch) {
  for (const int64_t tokens : {1, 2, 7, 63, 64, 65, 100, 1000, 1001, 12345})
    for (const int64_t window : {1, 2, 7, 64, 100})
      for (const int64_t batch : {100, 128, 1000, 100000}) {
        if (window > tokens) continue;
        const Streams s(tokens, window, batch);
        std::vector<int> seen(static_cast<size_t>(tokens));
        int64_t done = 0;
        for (int64_t t = 0; t < s.batches(); ++t) {
          EXPECT_EQ(s.tokens_before(t), done);
          EXPECT_EQ(s.batch_after(done), t);
          int64_t rows = 0;
          for (int64_t i = 0; i < s.count(); ++i) {
            const auto [begin, end] = s.window(i, t);
            ASSERT_TRUE(begin >= 0 && begin <= end && end <= tokens);
            EXPECT_LE(end - begin, window);
            EXPECT_GE(end - begin, tokens / s.count() / s.batches()) << "a rest";
            EXPECT_TRUE(begin < end || window == 1) << "nothing";
            if (t > 0) { EXPECT_EQ(s.window(i, t - 1).end, begin); }
            for (int64_t k = begin; k < end; ++k) ++seen[static_cast<size_t>(k)];
            rows += end - begin;
          }
          EXPECT_LE(rows, std::max(batch, window));
          done += rows;
        }
        EXPECT_EQ(done, tokens);
        EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(tokens), 1)) << tokens << " " << window << " " << batch;
      }
}

TEST(Streams, AreAsManyAsFitABatchAndTheTextHas) {
  EXPECT_EQ(Streams(1'003'854, 64, 768).count(), 12);
  EXPECT_EQ(Streams(1'003'854, 64, 768).batches(), 1308);
  EXPECT_EQ(Streams(1'003'854, 64, 800).count(), 12);
  EXPECT_EQ(Streams(200, 64, 768).count(), 3);
  EXPECT_EQ(Streams(64, 64, 768).batches(), 1);
  EXPECT_EQ(Streams(1000, 10, 100).batch_after(101), -1);
}

}  // namespace
}  // namespace attune::test
