#include "data/shards.h"

#include "data/files.h"
#include "data/random_corpus.h"

namespace attune::test {
namespace {

TEST(Shards, PartitionTheBatch) {
  for (const int32_t longest : {1, 5, 40, 250}) {
    const Corpus c = random_corpus(3000, longest, static_cast<uint64_t>(longest));
    Batches batches(c, {.tokens = 4096});
    Batch b;
    std::vector<Shard> shards;
    while (batches.position().epoch < 1) {
      batches.next(b);
      cut(b, 16, shards);
      const int64_t tokens = b.source_tokens() + b.target_tokens(), count = std::ssize(shards);
      EXPECT_EQ(count, shard_count(b, 16));
      EXPECT_TRUE(count == 1 || (tokens / count >= kLeastShardTokens && b.size() >= count));
      Ids source, in, out;
      int64_t sentences = 0;
      for (const Shard& s : shards) {
        EXPECT_EQ(s.first_sentence, sentences);
        EXPECT_EQ(s.source_first_row, std::ssize(source));
        EXPECT_EQ(s.target_first_row, std::ssize(in));
        ASSERT_GT(s.source_segments.count(), 0);
        EXPECT_EQ(s.source_segments.count(), s.target_segments.count());
        EXPECT_EQ(s.source_segments.rows(), std::ssize(s.source));
        EXPECT_EQ(s.target_segments.rows(), std::ssize(s.target_out));
        int32_t most = 0;
        for (int64_t i = 0; i < s.source_segments.count(); ++i) {
          EXPECT_EQ(s.source_segments.length(i), b.source_segments.length(sentences + i));
          EXPECT_EQ(s.target_segments.length(i), b.target_segments.length(sentences + i));
          most = std::max(most, static_cast<int32_t>(s.source_segments.length(i)));
        }
        EXPECT_EQ(s.source_segments.longest, most);
        // Balanced: no further from the mean than one sentence.
        EXPECT_LE(std::abs(std::ssize(s.source) + std::ssize(s.target_in) - tokens / count), 2 * (longest + 1) + 1);
        source.insert(source.end(), s.source.begin(), s.source.end());
        in.insert(in.end(), s.target_in.begin(), s.target_in.end());
        out.insert(out.end(), s.target_out.begin(), s.target_out.end());
        sentences += s.source_segments.count();
      }
      EXPECT_EQ(sentences, b.size());
      EXPECT_EQ(source, b.source);
      EXPECT_EQ(in, b.target_in);
      EXPECT_EQ(out, b.target_out);
    }
  }
}

TEST(Shards, CountDependsOnTokensAndSentences) {
  const auto count = [](int64_t sentences, int32_t length, int64_t shards) {
    Corpus c;
    for (int64_t i = 0; i < sentences; ++i) {
      c.source.add(Ids(static_cast<size_t>(length - 1), 7));
      c.target.add(Ids(static_cast<size_t>(length - 1), 7));
    }
    Batches batches(c, {.tokens = 1 << 20});
    Batch b;
    batches.next(b);
    return shard_count(b, shards);
  };
  EXPECT_EQ(count(64, 64, 16), 16);  // 4,096 tokens a side
  EXPECT_EQ(count(64, 64, 64), 32);
  EXPECT_EQ(count(32, 64, 16), 16);
  EXPECT_EQ(count(31, 64, 16), 8);
  EXPECT_EQ(count(1, 64, 16), 1);
  EXPECT_EQ(count(3, 1000, 16), 2);  // a shard needs a sentence
  EXPECT_EQ(count(64, 64, 1), 1);
  EXPECT_EQ(error_of([&] { count(1, 64, 12); }), "usage: [shards] 12 is not a power of two");
}

}  // namespace
}  // namespace attune::test
