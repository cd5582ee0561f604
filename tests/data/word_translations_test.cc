#include "data/word_translations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace attune {
namespace {

struct Pairs {
  Sentences source, target;
};

/// Sentences of words 4 to 23, word e becoming 50 - e in another order, with 30 strewn in that comes from nowhere. 23
/// is rare.
Pairs toy_corpus(int sentences) {
  std::mt19937 random(1);
  Pairs p;
  for (int i = 0; i < sentences; ++i) {
    std::vector<int32_t> source, target;
    for (unsigned n = 1 + random() % 7; n > 0; --n) source.push_back(4 + static_cast<int32_t>(random() % 19));
    if (i == 5 || i == 17) source.push_back(23);
    for (const int32_t e : source) target.push_back(50 - e);
    if (random() % 2) target.push_back(30);
    std::shuffle(target.begin(), target.end(), random);
    p.source.add(source);
    p.target.add(target);
  }
  return p;
}

TEST(WordTranslations, RecoversTheDictionary) {
  const Pairs p = toy_corpus(400);
  const WordTranslations t = learn_translations(p.source, p.target, {.source_words = 30, .target_words = 60}, nullptr);
  ASSERT_EQ(t.of.size(), 30u);
  for (int32_t e = 4; e < 24; ++e) {
    const auto& own = t.of[static_cast<size_t>(e)];
    ASSERT_FALSE(own.empty()) << e;
    EXPECT_EQ(own[0].word, 50 - e);
    EXPECT_GT(own[0].probability, e == 23 ? 0.3f : 0.7f) << e;
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end(), [](const auto& a, const auto& b) {
      return a.probability > b.probability || (a.probability == b.probability && a.word < b.word);
    }));
    float sum = 0;
    for (const WordTranslation& w : own) sum += w.probability;
    EXPECT_NEAR(sum, 1, 0.01);
  }
  for (const size_t unseen : {0, 3, 24, 29}) EXPECT_TRUE(t.of[unseen].empty());
  EXPECT_EQ(t.counts[27], 2);
  EXPECT_EQ(t.counts[26], 0);
}

TEST(WordTranslations, TheSameBitsForAnyThreads) {
  const Pairs p = toy_corpus(150);
  const WordTranslationOptions o{.source_words = 24, .target_words = 47, .rounds = 3, .candidates = 6};
  const WordTranslations one = learn_translations(p.source, p.target, o, nullptr);
  ThreadPool pool(3);
  const WordTranslations three = learn_translations(p.source, p.target, o, &pool);
  for (size_t e = 0; e < one.of.size(); ++e) {
    EXPECT_LE(one.of[e].size(), 6u);
    ASSERT_EQ(one.of[e].size(), three.of[e].size());
    for (size_t i = 0; i < one.of[e].size(); ++i) {
      EXPECT_EQ(one.of[e][i].word, three.of[e][i].word);
      EXPECT_EQ(one.of[e][i].probability, three.of[e][i].probability);
    }
  }
  // Few candidates are the right ones.
  for (int32_t e = 4; e < 23; ++e) EXPECT_EQ(one.of[static_cast<size_t>(e)][0].word, 50 - e);
}

TEST(WordTranslations, OfNothingNothing) {
  const WordTranslations t = learn_translations({}, {}, {.source_words = 3, .target_words = 2}, nullptr);
  EXPECT_EQ(t.of.size(), 3u);
  EXPECT_TRUE(t.of[1].empty());
}

TEST(PairSample, KeepsPairsFromBeginToEnd) {
  PairSample all(1000), some(100);
  for (int32_t i = 0; i < 80; ++i) {
    const std::vector<int32_t> source{i, i}, target{i};
    all.add({source, target, 1});
    some.add({source, target, 1});
  }
  EXPECT_EQ(all.source.count(), 80);
  EXPECT_EQ(all.stride(), 1);
  EXPECT_EQ(some.stride(), 4);
  EXPECT_LE(some.source.tokens() + some.target.tokens(), 100);
  ASSERT_EQ(some.source.count(), 20);
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(some.source[i][0], 4 * i);
    EXPECT_EQ(some.target[i][0], 4 * i);
  }
}

}  // namespace
}  // namespace attune
