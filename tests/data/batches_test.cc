#include "data/batches.h"

#include <numeric>

#include "data/corpus/random_corpus.h"
#include "data/files.h"

namespace attune::test {
namespace {

TEST(Batches, ShowBothSidesWithTheirMarks) {
  Corpus c;
  c.source.add(Ids{5, 6});
  c.target.add(Ids{7});
  c.source.add(Ids{8});
  c.target.add(Ids{9, 10, 11});
  Batches batches(c, {.tokens = 100, .begin = 1, .end = 2, .shuffle = false});
  Batch b;
  batches.next(b);
  EXPECT_EQ(b.source.ids, (Ids{5, 6, 2, 8, 2}));
  EXPECT_EQ(b.read.ids, (Ids{1, 7, 1, 9, 10, 11}));
  EXPECT_EQ(b.target().right.ids, (Ids{7, 2, 9, 10, 11, 2}));
  EXPECT_EQ(b.source.segments.start, (Ids{0, 3, 5}));
  EXPECT_EQ(b.target().right.segments.start, (Ids{0, 2, 6}));
  EXPECT_EQ(b.source.segments.longest, 3);
  EXPECT_EQ(b.target().right.segments.longest, 4);
  EXPECT_EQ(b.examples, (Ids{0, 1}));
  EXPECT_EQ(b.next, (DataPosition{1, 0}));
  Batches bare(c, {.tokens = 100, .end_source = false, .shuffle = false});
  bare.next(b);
  EXPECT_EQ(b.source.ids, (Ids{5, 6, 8}));
}

TEST(Batches, EveryExampleOnceAnEpochWithinTheBudget) {
  for (const int64_t tokens : {21, 64, 500, 100000}) {
    const Corpus c = random_corpus(500, 20);
    Batches batches(c, {.tokens = tokens, .seed = 3});
    Batch b;
    std::vector<Ids> orders;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      Ids order;
      while (batches.position().epoch == epoch) {
        EXPECT_EQ(batches.position().example, std::ssize(order));
        batches.next(b);
        ASSERT_GT(b.size(), 0);
        EXPECT_LE(std::max(b.source_tokens(), b.target_tokens()), tokens);
        for (int64_t i = 0; i < b.size(); ++i) {
          EXPECT_EQ(b.source.ids[static_cast<size_t>(b.source.segments.begin(i))],
                    10 + 2 * b.examples[static_cast<size_t>(i)]);
          EXPECT_EQ(b.target().right.segments.length(i), c.target.length(b.examples[static_cast<size_t>(i)]) + 1);
        }
        order.insert(order.end(), b.examples.begin(), b.examples.end());
      }
      Ids sorted = order, all(500);
      std::sort(sorted.begin(), sorted.end());
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(sorted, all);
      orders.push_back(order);
    }
    EXPECT_NE(orders[0], orders[1]);
    EXPECT_NE(orders[1], orders[2]);
  }
}

TEST(Batches, ShufflesAreFair) {
  // Where example 0 comes: over many epochs every place about equally often.
  const Corpus c = random_corpus(10, 1);
  Batches batches(c, {.tokens = 2, .seed = 9});
  std::vector<int> places(10);
  Batch b;
  while (batches.position().epoch < 2000) {
    batches.next(b);
    if (b.examples[0] == 0) ++places[static_cast<size_t>(b.at.example)];
  }
  for (int n : places) EXPECT_NEAR(n, 200, 60);
}

TEST(Batches, SeekAtEveryBorderGoesOnAsIfUninterrupted) {
  const Corpus c = random_corpus(300, 30);
  const BatchOptions options{.tokens = 200, .seed = 5};
  Batches whole(c, options);
  const std::vector<Batch> all = take(whole, 100);  // several epochs
  ASSERT_GT(all.back().at.epoch, 1);
  for (size_t i = 0; i < all.size(); ++i) {
    Batches resumed(c, options);
    resumed.seek(i == 0 ? DataPosition{} : all[i - 1].next);
    Batch b;
    for (size_t j = i; j < std::min(i + 5, all.size()); ++j) {
      resumed.next(b);
      expect_equal(b, all[j]);
    }
  }
  Batches back(c, options);
  take(back, 60);
  back.seek(all[10].next);  // backwards, with an order of another epoch at hand
  expect_equal(take(back, 1)[0], all[11]);
}

TEST(Batches, AWarmBatchIsFilledInPlace) {
  const Corpus c = random_corpus(300, 30);
  Batches batches(c, {.tokens = 200});
  Batch b;
  while (batches.position().epoch < 3) batches.next(b);
  const auto* ids = b.source.ids.data();
  const size_t room = b.source.ids.own().capacity();
  while (batches.position().epoch < 6) batches.next(b);
  EXPECT_TRUE(b.source.ids.own().capacity() > room || b.source.ids.data() == ids);
}

TEST(Batches, Messages) {
  const Corpus c = random_corpus(50, 20);
  EXPECT_EQ(error_with_kind([&] { Batches(c, {.tokens = 20}); }),
            "recipe: train.batch_tokens = 20 is less than the longest sentence needs: 21 tokens with its end mark\n"
            "  fix: raise train.batch_tokens, or lower data.max_length");
  EXPECT_EQ(error_with_kind([&] { Batches(Corpus{}, {}); }), "usage: [batches] the corpus is empty");
  EXPECT_EQ(error_with_kind([&] {
              Batches(c, {}).seek({0, 50});
            }),
            "usage: [batches] position (epoch 0, example 50) is not in a corpus of 50 examples");
}

}  // namespace
}  // namespace attune::test
