#include "decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "checks.h"
#include "decode/naive_search.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

TEST(Search, GreedySaysTheMostProbableTokenUntilTheEnd) {
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
    const auto model = tiny_model({.norm = norm, .heads_kv = 2});
    const IdLists sources = random_sentences(6, 12, 20, 1);
    const auto all = found(*model, sources, {.beam = 1});
    for (size_t s = 0; s < sources.size(); ++s) {
      Ids said;
      double log_prob = 0;
      bool finished = false;
      const int64_t longest = 2 * std::ssize(sources[s]) + 10;
      for (int64_t t = 0; t < longest && !finished; ++t) {
        const auto p = next_log_probs(*model, sources[s], said);
        int32_t best = 2;
        for (int32_t id = 4; id < std::ssize(p); ++id)
          if (p[static_cast<size_t>(id)] > p[static_cast<size_t>(best)]) best = id;
        log_prob += p[static_cast<size_t>(best)];
        finished = best == 2;
        if (!finished) said.push_back(best);
      }
      ASSERT_EQ(all[s].size(), 1u);
      EXPECT_EQ(all[s][0].ids, said);
      EXPECT_EQ(all[s][0].finished, finished);
      EXPECT_NEAR(all[s][0].log_prob, log_prob, 1e-4 * (1 + std::abs(log_prob)));
    }
  }
}

TEST(Search, BeamFindsWhatTheTextbookFinds) {
  int cut_off = 0, ended = 0;
  for (const uint64_t seed : {1, 2, 3})
    for (const double penalty : {0.0, 0.6, 1.0, -0.5})
      for (const int64_t n_best : {1, 3}) {
        // flat enough that hypotheses of all lengths end, sharp enough that no two are equal
        const auto model = tiny_model({.d_model = 16, .vocabulary = 9}, seed, 1.2f);
        const IdLists sources = random_sentences(3, 6, 9, static_cast<int>(seed) + 10);
        const SearchOptions o{.beam = 5, .length_penalty = penalty, .n_best = n_best, .longest = 9};
        const auto all = found(*model, sources, o);
        for (size_t s = 0; s < sources.size(); ++s) {
          const auto want = naive_beam(*model, sources[s], o);
          ASSERT_EQ(all[s].size(), want.size());
          for (size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(all[s][i].ids, want[i].ids) << "seed " << seed << " sentence " << s << " penalty " << penalty;
            EXPECT_NEAR(all[s][i].score, want[i].score, 1e-4 * (1 + std::abs(want[i].score)));
            EXPECT_NEAR(all[s][i].log_prob, want[i].log_prob, 1e-4 * (1 + std::abs(want[i].log_prob)));
            ++(all[s][i].finished ? ended : cut_off);
          }
        }
      }
  EXPECT_GT(ended, 50);
  EXPECT_GT(cut_off, 0);
}

/// A beam that holds everything finds the best of all there is.
TEST(Search, AWideBeamIsExhaustive) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 7}, 4, 1.2f);
  const Ids source{4, 6, 5, 2};
  Naive best{{}, 0, -1e9};
  IdLists open{{}};
  std::vector<double> log_prob{0};
  for (size_t i = 0; i < open.size(); ++i) {
    const auto p = next_log_probs(*model, source, open[i]);
    const auto length = static_cast<double>(open[i].size()) + 1;
    const double total = log_prob[i] + p[2], score = total / std::pow((5 + length) / 6, 0.6);
    if (score > best.score) best = {open[i], total, score};
    if (open[i].size() == 3) continue;
    for (const int32_t id : {4, 5, 6}) {
      Ids longer = open[i];
      longer.push_back(id);
      open.push_back(longer);
      log_prob.push_back(log_prob[i] + p[static_cast<size_t>(id)]);
    }
  }
  ASSERT_EQ(open.size(), 1u + 3 + 9 + 27);
  const auto all = found(*model, {source}, {.beam = 50, .longest = 4});
  EXPECT_EQ(all[0][0].ids, best.ids);
  EXPECT_NEAR(all[0][0].score, best.score, 1e-4 * std::abs(best.score));
}

bool same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Hypothesis& x, const Hypothesis& y) {
    return x.ids == y.ids && x.score == y.score && x.log_prob == y.log_prob && x.finished == y.finished;
  });
}

TEST(Search, ASentenceDoesNotSeeItsBatchMates) {
  const auto model = tiny_model({.heads_kv = 2, .vocabulary = 333}, 1, 1.3f);
  const IdLists sources = random_sentences(70, 25, 333, 5);
  for (const int64_t beam : {1, 4}) {
    const SearchOptions o{.beam = beam, .n_best = std::min<int64_t>(beam, 2)};
    const auto together = found(*model, sources, o);
    ThreadPool pool(3);
    const auto threaded = found(*model, sources, o, &pool);
    for (size_t s = 0; s < sources.size(); ++s) {
      EXPECT_TRUE(same(found(*model, {sources[s]}, o)[0], together[s])) << s;
      EXPECT_TRUE(same(threaded[s], together[s])) << s;
    }
  }
}

TEST(Search, MarksAreNeverSaid) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 9}, 7, 1.0f);
  for (const auto& sentence : found(*model, random_sentences(10, 9, 9, 8), {.beam = 4, .n_best = 4}))
    for (const Hypothesis& h : sentence)
      for (const int32_t id : h.ids) EXPECT_GT(id, 3);
}

TEST(Search, EndsAtTheLongest) {
  const auto model = tiny_model({.vocabulary = 40});
  for (const int64_t longest : {1, 2, 5})
    for (const auto& sentence : found(*model, random_sentences(10, 9, 40, 8), {.beam = 3, .longest = longest})) {
      ASSERT_EQ(sentence.size(), 1u);
      EXPECT_LE(std::ssize(sentence[0].ids) + sentence[0].finished, longest);
    }
}

TEST(Search, TheLongestGrowsWithTheSource) {
  const auto model = tiny_model({.vocabulary = 40});
  const IdLists sources{{5, 6, 7, 2}, {9, 2}};
  for (const double by : {0.0, 0.5, 2.0, 3.0}) {
    const auto all = found(*model, sources, {.beam = 2, .expansion = by, .end = -1});
    EXPECT_EQ(std::ssize(all[0][0].ids), static_cast<int64_t>(4 * by) + 10);
    EXPECT_EQ(std::ssize(all[1][0].ids), static_cast<int64_t>(2 * by) + 10);
  }
}

TEST(Search, AModelOfNoNumbersStillEnds) {
  const auto model = tiny_model();
  for (int64_t i = 0; i < model->parameters().size(); ++i) model->parameters().data()[i] = NAN;
  model->parameters().repack();
  const auto all = found(*model, {{5, 6, 2}, {2}}, {.beam = 3});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].size(), 1u);
  EXPECT_FALSE(all[0][0].finished);
}

TEST(Search, RefusesWhatCannotBe) {
  const auto model = tiny_model();
  EXPECT_NE(error_of([&] { found(*model, {{5, 2}}, {.beam = 0}); }).find("a beam of 0"), std::string::npos);
  EXPECT_NE(error_of([&] {
              found(*model, {{5, 2}}, {.beam = 2, .n_best = 3});
            }).find("the 3 best of a beam of 2"),
            std::string::npos);
}

/// What each token added, by the whole decoder.
TEST(Search, TokensTellTheirLogProbabilities) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 9}, 2, 1.2f);
  const IdLists sources = random_sentences(4, 6, 9, 3);
  const auto all = found(*model, sources, {.beam = 3, .n_best = 3, .longest = 7});
  for (size_t s = 0; s < sources.size(); ++s)
    for (const Hypothesis& h : all[s]) {
      ASSERT_EQ(h.token_log_probs.size(), h.ids.size() + h.finished);
      double total = 0;
      for (size_t i = 0; i < h.token_log_probs.size(); ++i) {
        const auto p =
            next_log_probs(*model, sources[s], Ids(h.ids.begin(), h.ids.begin() + static_cast<ptrdiff_t>(i)));
        const int32_t id = i < h.ids.size() ? h.ids[i] : 2;
        EXPECT_NEAR(h.token_log_probs[i], p[static_cast<size_t>(id)], 1e-4);
        total += h.token_log_probs[i];
      }
      EXPECT_NEAR(total, h.log_prob, 1e-9);
    }
}

TEST(Search, BeginsWithThePrefix) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 9}, 2, 1.2f);
  const IdLists sources = random_sentences(3, 6, 9, 3), prefixes{{7, 5, 5}, {}, {8}};
  Arena arena;
  const TinyBatch batch = TinyBatch::of(sources);
  for (const bool sample : {false, true}) {
    const SearchOptions o{.beam = 4, .n_best = 2, .longest = 6, .sample = sample};
    const auto all = search(*model, {batch.tokens(), prefixes}, o, nullptr, arena);
    for (size_t s = 0; s < sources.size(); ++s)
      for (const Hypothesis& h : all[s]) {
        ASSERT_GE(h.ids.size(), prefixes[s].size());
        EXPECT_TRUE(std::equal(prefixes[s].begin(), prefixes[s].end(), h.ids.begin()));
        double total = 0;
        for (const double p : h.token_log_probs) total += p;
        EXPECT_NEAR(total, h.log_prob, 1e-9);
      }
    if (!sample) { EXPECT_TRUE(same(all[1], found(*model, {sources[1]}, o)[0])) << "others' prefixes are not its own"; }
  }
}

TEST(Search, RulesHold) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 9}, 5, 1.1f);
  const IdLists sources = random_sentences(8, 6, 9, 3);
  for (const auto& s :
       found(*model, sources, {.beam = 4, .n_best = 4, .longest = 12, .processors = make_processors({.shortest = 5})}))
    for (const Hypothesis& h : s) EXPECT_GE(h.ids.size(), 5u);
  for (const int64_t n : {1, 2, 3})
    for (const auto& s : found(
             *model, sources, {.beam = 3, .n_best = 3, .longest = 30, .processors = make_processors({.no_repeat = n})}))
      for (const Hypothesis& h : s) {
        std::vector<Ids> seen;
        for (size_t i = 0; i + static_cast<size_t>(n) <= h.ids.size(); ++i)
          seen.emplace_back(h.ids.begin() + static_cast<ptrdiff_t>(i), h.ids.begin() + static_cast<ptrdiff_t>(i) + n);
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
      }
  const auto repeats = [&](double penalty) {
    int64_t count = 0;
    for (const auto& s :
         found(*model, sources,
               {.beam = 1, .longest = 30, .processors = make_processors({.repetition_penalty = penalty})})) {
      Ids ids = s[0].ids;
      std::sort(ids.begin(), ids.end());
      count += std::ssize(ids) - std::distance(ids.begin(), std::unique(ids.begin(), ids.end()));
    }
    return count;
  };
  EXPECT_LT(repeats(3), repeats(1));
}

TEST(Search, SamplesAreTheModelsProbabilities) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 7}, 4, 1.0f);
  const Ids source{4, 6, 5, 2};
  const int64_t count = 4000;
  const auto all = found(*model, {source}, {.n_best = count, .longest = 2, .sample = true})[0];
  ASSERT_EQ(std::ssize(all), count);
  const auto p = next_log_probs(*model, source, {});
  double sayable = 0;
  std::vector<double> share(7);
  for (int32_t id = 0; id < 7; ++id) sayable += may_be_said(id) ? std::exp(p[static_cast<size_t>(id)]) : 0;
  for (const Hypothesis& h : all) share[h.ids.empty() ? 2 : static_cast<size_t>(h.ids[0])] += 1.0 / count;
  for (int32_t id = 0; id < 7; ++id)
    EXPECT_NEAR(share[static_cast<size_t>(id)], may_be_said(id) ? std::exp(p[static_cast<size_t>(id)]) / sayable : 0,
                0.03);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.finished == b.finished && a.score > b.score;
  }));
}

TEST(Search, SamplesAreTheSameAloneOrTogether) {
  const auto model = tiny_model({.heads_kv = 2, .vocabulary = 333}, 1, 1.3f);
  const IdLists sources = random_sentences(20, 15, 333, 5);
  const SearchOptions o{
      .n_best = 3, .sample = true, .sampling = {.temperature = 1.5, .top_k = 50, .top_p = 0.95, .seed = 9}};
  const auto together = found(*model, sources, o);
  int64_t differ = 0;
  for (size_t s = 0; s < sources.size(); ++s) {
    Arena arena;
    const TinyBatch one = TinyBatch::of({sources[s]});
    const uint64_t key = s;
    EXPECT_TRUE(same(search(*model, {one.tokens(), {}, {&key, 1}}, o, nullptr, arena)[0], together[s])) << s;
    differ += together[s][0].ids != together[s][1].ids;
  }
  EXPECT_GT(differ, 15);
}

TEST(Search, AnEnsembleIsTheMeanOfItsModels) {
  const auto one = tiny_model({.d_model = 16, .vocabulary = 9}, 1, 1.2f),
             other = tiny_model({.d_model = 16, .vocabulary = 9}, 2, 1.2f);
  const IdLists sources = random_sentences(4, 6, 9, 3);
  const TinyBatch batch = TinyBatch::of(sources);
  Arena arena;
  const SearchOptions o{.beam = 4, .n_best = 2, .longest = 7};
  const Model* twice[] = {one.get(), one.get()};
  const Model* both[] = {one.get(), other.get()};
  const auto alone = found(*one, sources, o), same_one = search(twice, {batch.tokens()}, o, nullptr, arena);
  const auto together = search(both, {batch.tokens()}, o, nullptr, arena);
  for (size_t s = 0; s < sources.size(); ++s) {
    EXPECT_EQ(same_one[s][0].ids, alone[s][0].ids);
    EXPECT_NEAR(same_one[s][0].score, alone[s][0].score, 1e-4);
    for (const Hypothesis& h : together[s])
      for (size_t i = 0; i < h.token_log_probs.size(); ++i) {
        const Ids said(h.ids.begin(), h.ids.begin() + static_cast<ptrdiff_t>(i));
        const auto id = static_cast<size_t>(i < h.ids.size() ? h.ids[i] : 2);
        const double a = next_log_probs(*one, sources[s], said)[id], b = next_log_probs(*other, sources[s], said)[id];
        EXPECT_NEAR(h.token_log_probs[i], std::log((std::exp(a) + std::exp(b)) / 2), 1e-4);
      }
  }
}

/// Scores with the penalty by the whole decoder's attention; and with it, what is left out loses.
TEST(Search, CoverageIsWuEtAls) {
  const auto model = tiny_model({.d_model = 16, .vocabulary = 9}, 3, 1.3f);
  const IdLists sources = random_sentences(4, 8, 9, 3);
  const double b = 0.4;
  const auto all = found(*model, sources, {.beam = 4, .coverage_penalty = b, .n_best = 4, .longest = 8});
  int64_t seen = 0;
  for (size_t s = 0; s < sources.size(); ++s)
    for (const Hypothesis& h : all[s]) {
      Arena arena;
      Ctx ctx(arena);
      AttentionTap tap;
      tap.place = fmt::format("decoder.{}.cross", model->decoder()->alignment_layer());
      Pass pass{ctx, model->parameters(), nullptr, &tap};
      Ids input{1};
      input.insert(input.end(), h.ids.begin(), h.ids.end() - (h.finished ? 0 : 1));
      const TinyBatch x = TinyBatch::of({sources[s]}), y = TinyBatch::of({input});
      model->decode(pass, x.tokens(), y.tokens());
      double score = h.log_prob / length_penalty(std::ssize(input), 0.6);
      for (int64_t j = 0; j < tap.keys; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < tap.heads * tap.queries; ++i)
          sum += static_cast<double>(tap.weights[static_cast<size_t>(i * tap.keys + j)]);
        score += b * std::log(std::min(sum / static_cast<double>(tap.heads), 1.0));
      }
      EXPECT_NEAR(h.score, score, 1e-3 * (1 + std::abs(score)));
      ++seen;
    }
  EXPECT_GT(seen, 10);
}

TEST(Search, NothingGivesNothing) { EXPECT_TRUE(found(*tiny_model(), {}, {}).empty()); }

TEST(Search, LengthPenaltyIsWuEtAls) {
  EXPECT_DOUBLE_EQ(length_penalty(1, 0.6), 1);
  EXPECT_DOUBLE_EQ(length_penalty(7, 1), 2);
  EXPECT_DOUBLE_EQ(length_penalty(19, 0.5), 2);
}

}  // namespace
}  // namespace attune
