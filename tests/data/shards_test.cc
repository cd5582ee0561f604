#include "data/shards.h"

#include "data/corpus/random_corpus.h"
#include "data/files.h"

namespace attune::test {
namespace {

TEST(Shards, PartitionTheBatch) {
  for (const int32_t longest : {1, 5, 40, 250}) {
    const Corpus c = random_corpus(3000, longest, static_cast<uint64_t>(longest));
    Batches batches(c, {.tokens = 4096});
    Batch b;
    Shards shards;
    while (batches.position().epoch < 1) {
      batches.next(b);
      cut(b, 16, shards);
      const int64_t tokens = b.source_tokens() + b.target_tokens(), count = std::ssize(shards);
      EXPECT_EQ(count, shard_count(b, 16));
      EXPECT_TRUE(count == 1 || (tokens / count >= kLeastShardTokens && b.size() >= count));
      Ids source, in, out;
      int64_t sentences = 0;
      for (const Batch& s : shards) {
        EXPECT_EQ(s.examples, b.examples.part(sentences, s.size()));
        EXPECT_EQ(s.source.first_row, std::ssize(source));
        EXPECT_EQ(s.read.first_row, std::ssize(in));
        ASSERT_GT(s.source.segments.count(), 0);
        EXPECT_EQ(s.source.segments.count(), s.target().right.segments.count());
        EXPECT_EQ(s.source.segments.rows(), std::ssize(s.source.ids));
        EXPECT_EQ(s.target().right.segments.rows(), std::ssize(s.target().right.ids));
        int32_t most = 0;
        for (int64_t i = 0; i < s.source.segments.count(); ++i) {
          EXPECT_EQ(s.source.segments.length(i), b.source.segments.length(sentences + i));
          EXPECT_EQ(s.target().right.segments.length(i), b.target().right.segments.length(sentences + i));
          most = std::max(most, static_cast<int32_t>(s.source.segments.length(i)));
        }
        EXPECT_EQ(s.source.segments.longest, most);
        // Balanced: no further from the mean than one sentence.
        EXPECT_LE(std::abs(std::ssize(s.source.ids) + std::ssize(s.read.ids) - tokens / count), 2 * (longest + 1) + 1);
        source.insert(source.end(), s.source.ids.begin(), s.source.ids.end());
        in.insert(in.end(), s.read.ids.begin(), s.read.ids.end());
        out.insert(out.end(), s.target().right.ids.begin(), s.target().right.ids.end());
        sentences += s.source.segments.count();
      }
      EXPECT_EQ(sentences, b.size());
      EXPECT_EQ(source, b.source.ids);
      EXPECT_EQ(in, b.read.ids);
      EXPECT_EQ(out, b.target().right.ids);
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
  EXPECT_EQ(error_with_kind([&] { count(1, 64, 12); }), "usage: [shards] 12 is not a power of two");
}

}  // namespace
}  // namespace attune::test
