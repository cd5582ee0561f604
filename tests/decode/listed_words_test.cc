// Searches that may say only what a shortlist has for each sentence.
#include "decode/listed_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "checks.h"
#include "decode/naive_search.h"
#include "model/int8_of.h"

namespace attune {
namespace {

/// Some words of each; always the end.
Shortlist some_words(int64_t vocabulary, int each, Ids always = {2}) {
  std::mt19937 random(3);
  IdLists words(static_cast<size_t>(vocabulary));
  for (auto& w : words)
    for (int i = 0; i < each; ++i)
      w.push_back(4 + static_cast<int32_t>(random() % static_cast<unsigned>(vocabulary - 4)));
  return Shortlist(vocabulary, std::move(always), words);
}

bool same_hypotheses(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Hypothesis& x, const Hypothesis& y) {
    return x.ids == y.ids && x.score == y.score && x.log_prob == y.log_prob && x.finished == y.finished;
  });
}

TEST(ListedWords, BeamFindsWhatTheTextbookFindsAmongThem) {
  int64_t elsewhere = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    const auto model = tiny_model({.d_model = 16, .vocabulary = 30}, seed, 1.2f);
    const Shortlist list = some_words(30, 2, {2, 3, 7});  // of marks: one more that is never said, but counts
    const IdLists sources = random_sentences(4, 5, 30, static_cast<int>(seed) + 10);
    SearchOptions o{.beam = 4, .n_best = 3, .longest = 7};
    const auto free = found(*model, sources, o);
    o.shortlist = &list;
    const auto all = found(*model, sources, o);
    for (size_t s = 0; s < sources.size(); ++s) {
      const auto want = naive_beam(*model, sources[s], o);
      ASSERT_EQ(all[s].size(), want.size());
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(all[s][i].ids, want[i].ids) << "seed " << seed << " sentence " << s;
        EXPECT_NEAR(all[s][i].log_prob, want[i].log_prob, 1e-4 * (1 + std::abs(want[i].log_prob)));
      }
      elsewhere += all[s][0].ids != free[s][0].ids;
    }
  }
  EXPECT_GT(elsewhere, 3) << "a list that changes nothing shows nothing";
}

/// Greedy search does not care how probabilities are shared: hiding all other words is the same.
TEST(ListedWords, GreedySaysWhatItWouldWithAllOthersHidden) {
  const auto model = tiny_model({.vocabulary = 50}, 2, 1.3f);
  const Shortlist list = some_words(50, 3);
  for (const Ids& source : random_sentences(6, 6, 50, 4)) {
    SearchOptions hidden{.beam = 1, .processors = make_processors({.repetition_penalty = 1.3, .no_repeat = 2})},
        listed = hidden;
    const Ids ids = list.ids_of(source);
    hidden.hidden.clear();
    for (int32_t id = 0; id < 50; ++id)
      if (!std::binary_search(ids.begin(), ids.end(), id)) hidden.hidden.push_back(id);
    listed.shortlist = &list;
    const Hypothesis a = found(*model, {source}, hidden)[0][0], b = found(*model, {source}, listed)[0][0];
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_EQ(a.finished, b.finished);
    EXPECT_GT(b.log_prob, a.log_prob) << "the words of the list share all of it";
  }
}

TEST(ListedWords, AListOfAllWordsChangesNothing) {
  Ids all(60);
  std::iota(all.begin(), all.end(), 0);
  const Shortlist list(60, all, {});
  const auto one = tiny_model({.vocabulary = 60}, 2, 1.3f), other = tiny_model({.vocabulary = 60}, 3, 1.3f);
  const auto int8 = int8_of(*one);
  const Model* both[] = {one.get(), other.get()};
  const Model* single[] = {one.get()};
  const Model* small[] = {int8.get()};
  const IdLists sources = random_sentences(8, 9, 60, 6);
  const TinyBatch batch = TinyBatch::of(sources);
  const std::vector<Ids> prefixes{{7, 3}, {}, {8}, {}, {}, {}, {}, {9, 9}};
  for (const bool sample : {false, true})
    for (const auto& models : {std::span<const Model* const>(single), std::span<const Model* const>(both),
                               std::span<const Model* const>(small)}) {
      Arena arena;
      SearchOptions o{.beam = 3, .n_best = 2};
      o.processors = make_processors({.shortest = 3, .repetition_penalty = 1.2, .no_repeat = 2});
      o.sample = sample;
      const auto free = search(models, {batch.tokens(), prefixes}, o, nullptr, arena);
      o.shortlist = &list;
      const auto listed = search(models, {batch.tokens(), prefixes}, o, nullptr, arena);
      for (size_t s = 0; s < sources.size(); ++s) EXPECT_TRUE(same_hypotheses(free[s], listed[s])) << s;
    }
}

TEST(ListedWords, ASentenceDoesNotSeeItsBatchMates) {
  const auto f32 = tiny_model({.heads_kv = 2, .vocabulary = 333}, 1, 1.3f);
  const auto int8 = int8_of(*f32);
  const Shortlist list = some_words(333, 6);
  const IdLists sources = random_sentences(40, 15, 333, 5);
  ThreadPool pool(3);
  for (const Model* model : {f32.get(), int8.get()})
    for (const int64_t beam : {1, 4}) {
      const SearchOptions o{.beam = beam, .n_best = std::min<int64_t>(beam, 2), .shortlist = &list};
      const auto together = found(*model, sources, o), threaded = found(*model, sources, o, &pool);
      for (size_t s = 0; s < sources.size(); ++s) {
        EXPECT_TRUE(same_hypotheses(found(*model, {sources[s]}, o)[0], together[s])) << s;
        EXPECT_TRUE(same_hypotheses(threaded[s], together[s])) << s;
        const Ids ids = list.ids_of(sources[s]);
        for (const Hypothesis& h : together[s])
          for (const int32_t id : h.ids) EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), id)) << id;
      }
    }
}

TEST(ListedWords, APrefixMayHaveOtherWords) {
  const auto model = tiny_model({.vocabulary = 40}, 2, 1.3f);
  const Shortlist list(40, {2, 4, 5, 6, 7}, {});
  const IdLists sources{{8, 9, 2}, {8, 2}}, prefixes{{30, 3, 39}, {}};
  const TinyBatch batch = TinyBatch::of(sources);
  for (const bool sample : {false, true}) {
    Arena arena;
    SearchOptions o{.beam = 3, .n_best = 3, .longest = 9, .shortlist = &list, .sample = sample};
    const auto all = search(*model, {batch.tokens(), prefixes}, o, nullptr, arena);
    for (const Hypothesis& h : all[0]) {
      ASSERT_GE(h.ids.size(), 3u);
      EXPECT_TRUE(std::equal(prefixes[0].begin(), prefixes[0].end(), h.ids.begin()));
      for (size_t i = 3; i < h.ids.size(); ++i) EXPECT_NE(h.ids[i], 3) << "hidden, though the prefix has it";
    }
    for (const Hypothesis& h : all[1])
      for (const int32_t id : h.ids) EXPECT_LE(id, 7) << "the prefix of another";
  }
}

TEST(ListedWords, RefusesListsOfOtherModels) {
  const auto model = tiny_model({.vocabulary = 40});
  const Shortlist list(41, {2}, {});
  EXPECT_NE(error_of([&] {
              found(*model, {{5, 2}}, {.shortlist = &list});
            }).find("a shortlist of 41 words"),
            std::string::npos);
}

}  // namespace
}  // namespace attune
