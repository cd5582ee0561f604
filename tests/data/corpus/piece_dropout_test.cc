#include "data/corpus/piece_dropout.h"

#include "data/corpus/random_corpus.h"

namespace attune::test {
namespace {

/// Piece n is made of 2 n and 2 n + 1.
std::shared_ptr<std::vector<text::Halves>> doubling_halves(int32_t size) {
  auto all = std::make_shared<std::vector<text::Halves>>(static_cast<size_t>(size));
  for (int32_t id = 1; 2 * id + 1 < size; ++id) (*all)[static_cast<size_t>(id)] = {2 * id, 2 * id + 1};
  return all;
}

TEST(PieceDropout, UndoesMergesAtTheRate) {
  const auto halves = doubling_halves(8);  // 1 = 2 3 = 4 5 6 7
  Random random(1);
  FallenApart parts;
  int64_t whole = 0, halved = 0, quarters = 0;
  const int64_t all = 20000;
  for (int64_t i = 0; i < all; ++i) {
    drop_pieces(Ids{1}, *halves, 0.25, 100, random, parts);
    whole += parts.ids == Ids{1};
    halved += parts.ids == Ids{2, 3};
    quarters += parts.ids == Ids{4, 5, 6, 7};
  }
  EXPECT_NEAR(static_cast<double>(whole) / all, 0.75, 0.01);
  EXPECT_NEAR(static_cast<double>(halved) / all, 0.25 * 0.75 * 0.75, 0.01);
  EXPECT_NEAR(static_cast<double>(quarters) / all, 0.25 * 0.25 * 0.25, 0.005);
}

TEST(PieceDropout, KnowsWhosePartsTheyAre) {
  const auto halves = doubling_halves(8);
  Random random(1);
  FallenApart parts;
  drop_pieces(Ids{4, 2, 1}, *halves, 0.999, 100, random, parts);
  EXPECT_EQ(parts.ids, (Ids{4, 4, 5, 4, 5, 6, 7}));
  EXPECT_EQ(parts.start, (Ids{0, 1, 3, 7}));
}

TEST(PieceDropout, NeverMakesTheLongestLonger) {
  const auto halves = doubling_halves(8);
  Random random(1);
  FallenApart parts;
  drop_pieces(Ids{4, 2, 1}, *halves, 0.999, 6, random, parts);
  EXPECT_EQ(parts.ids, (Ids{4, 2, 1}));
  EXPECT_EQ(parts.start, (Ids{0, 1, 2, 3}));
}

Corpus falling_corpus() {
  Corpus c = random_corpus(200, 20);
  c.source_halves = c.target_halves = doubling_halves(2000);
  return c;
}

TEST(PieceDropout, BatchesFallApartAnewInEachEpochAndResumeAnywhere) {
  const Corpus c = falling_corpus();
  const BatchOptions options{.tokens = 64, .seed = 3, .piece_dropout = 0.3};
  Batches whole(c, options);
  const std::vector<Batch> all = take(whole, 150);
  ASSERT_GT(all.back().at.epoch, 1);
  std::vector<Ids> first(200), second(200);
  for (const Batch& b : all) {
    EXPECT_LE(std::max(b.source_tokens(), b.target_tokens()), options.tokens);
    if (b.at.epoch > 1) continue;
    for (int64_t i = 0; i < b.size(); ++i) {
      const auto from = b.source.ids.begin() + b.source.segments.begin(i);
      (b.at.epoch ? second : first)[static_cast<size_t>(b.examples[static_cast<size_t>(i)])] =
          Ids(from, from + b.source.segments.length(i));
    }
  }
  int64_t differ = 0;
  for (size_t i = 0; i < first.size(); ++i) differ += first[i] != second[i];
  EXPECT_GT(differ, 100);
  for (const size_t at : {1, 7, 60, 149}) {
    Batches resumed(c, options);
    resumed.seek(all[at].at);
    Batch b;
    resumed.next(b);
    expect_equal(b, all[at]);
  }
}

TEST(PieceDropout, LinksGoWithTheParts) {
  Corpus c;
  c.source.add(Ids{4, 1});
  c.target.add(Ids{2, 5});
  c.source.add(Ids(10, 7));  // long ones, so that the first may fall apart
  c.target.add(Ids(10, 7));
  c.alignment.add(Ids{1});
  c.alignment.add(Ids{0, 1});
  for (int i = 0; i < 10; ++i) c.alignment.add({});
  c.source_halves = c.target_halves = doubling_halves(8);
  Batches batches(c, {.tokens = 100, .shuffle = false, .piece_dropout = 0.999});
  Batch b;
  batches.next(b);
  EXPECT_EQ(Ids(b.source.ids.begin(), b.source.ids.begin() + 6), (Ids{4, 4, 5, 6, 7, 2}));
  EXPECT_EQ(Ids(b.target().right.ids.begin(), b.target().right.ids.begin() + 4), (Ids{4, 5, 5, 2}));
  EXPECT_EQ(Ids(b.target().right.edges.start.begin(), b.target().right.edges.start.begin() + 5),
            (Ids{0, 4, 8, 13, 13}));
  EXPECT_EQ(Ids(b.target().right.edges.to.begin(), b.target().right.edges.to.begin() + 13),
            (Ids{1, 2, 3, 4, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace attune::test
