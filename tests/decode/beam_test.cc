// Which hypotheses of a beam live, end and win, over tables of log-probabilities instead of a model.
#include "decode/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/random.h"

namespace attune {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kEnd = 2;

/// log p of each token after what was said; a token that is not listed is never said.
using Table = std::function<std::vector<std::pair<int32_t, double>>(const Ids& said)>;

SearchOptions options(int64_t beam, double penalty, int64_t n_best = 1) {
  SearchOptions o;
  o.beam = beam;
  o.length_penalty = penalty;
  o.n_best = n_best;
  return o;
}

/// Lets a beam go on until it is done; returns how many steps that took.
int64_t run(Beam& beam, const Table& table) {
  int64_t steps = 0;
  std::vector<Continuation> ways;
  for (Ids said; !beam.done(); ++steps) {
    ways.clear();
    for (int64_t i = 0; i < beam.living(); ++i) {
      beam.said(i, said);
      for (const auto& [token, log_prob] : table(said))
        ways.push_back({beam.log_prob(i) + log_prob, static_cast<int32_t>(i), token});
    }
    beam.advance(ways);
  }
  return steps;
}

/// At once with p = 0.6; or, less probable at first, eleven words that follow surely.
std::vector<std::pair<int32_t, double>> short_or_long(const Ids& said) {
  if (said.empty()) return {{kEnd, std::log(0.6)}, {5, std::log(0.4)}};
  if (said.size() < 11) return {{5, 0.0}};
  return {{kEnd, 0.0}};
}

/// log 0.6 = -0.511 as it is; log 0.4 = -0.916 over (17 / 6)^a: -0.323 with a = 1, -0.114 with 2, -0.490 with 0.6.
TEST(Beam, AHypothesisIsNotGivenUpWhileAnyOfItsLengthsCouldWin) {
  for (const double penalty : {0.6, 1.0, 2.0}) {
    for (const int64_t width : {2, 3}) {
      const SearchOptions o = options(width, penalty);
      Beam beam(o, 16, {});
      EXPECT_EQ(run(beam, short_or_long), 12) << penalty;
      const auto best = beam.result();
      ASSERT_EQ(best.size(), 1u);
      EXPECT_EQ(best[0].ids, Ids(11, 5)) << penalty;
      EXPECT_TRUE(best[0].finished);
      EXPECT_NEAR(best[0].log_prob, std::log(0.4), 1e-12);
      EXPECT_NEAR(best[0].score, std::log(0.4) / std::pow(17.0 / 6, penalty), 1e-12);
    }
  }
}

/// Without a penalty nothing that is behind can come back: the search ends with the first end mark.
TEST(Beam, AHypothesisIsGivenUpWhenNothingItCanBecomeWins) {
  const SearchOptions none = options(3, 0), weak = options(3, 0.4);
  Beam at_once(none, 16, {});
  EXPECT_EQ(run(at_once, short_or_long), 1);
  EXPECT_TRUE(at_once.result()[0].ids.empty());
  EXPECT_NEAR(at_once.result()[0].score, std::log(0.6), 1e-12);
  // -0.916 over (21 / 6)^0.4 is -0.555 at the longest; and over (10 / 6)^1, where 5 tokens are the longest, -0.550.
  Beam never(weak, 16, {});
  EXPECT_EQ(run(never, short_or_long), 1);
  const SearchOptions one = options(3, 1);
  Beam cut(one, 5, {});
  EXPECT_EQ(run(cut, short_or_long), 1);
  // One more is wanted than has ended: it goes on.
  const SearchOptions two = options(3, 0, 2);
  Beam more(two, 16, {});
  EXPECT_EQ(run(more, short_or_long), 12);
  ASSERT_EQ(more.result().size(), 2u);
  EXPECT_EQ(more.result()[1].ids, Ids(11, 5));
}

/// One step: the beam's best continuations live, ends among the first `beam` are collected, of equals the earlier
/// parent's and then the lower token come first.
TEST(Beam, AStepKeepsTheBestContinuations) {
  const SearchOptions o = options(2, 0, 2);
  Beam beam(o, 10, {});
  EXPECT_EQ(beam.wanted(), 3);
  std::vector<Continuation> ways{{-1.0, 0, 9}, {-1.0, 0, 7}, {-3.0, 0, kEnd}, {-2.0, 0, 8}};
  beam.advance(ways);
  ASSERT_EQ(beam.living(), 2);
  EXPECT_EQ(beam.last(0), 7);
  EXPECT_EQ(beam.last(1), 9);
  EXPECT_EQ(beam.length(), 1);
  EXPECT_FALSE(beam.done());
  ways = {{-1.75, 1, 4}, {-1.75, 0, 6}, {-1.5, 1, kEnd}, {-1.75, 0, 5}, {-4.0, 1, 8}};
  beam.advance(ways);  // the end is first, so it is collected; of the three equal ones the parent 0 has two
  ASSERT_EQ(beam.living(), 2);
  EXPECT_EQ(beam.last(0), 5);
  EXPECT_EQ(beam.last(1), 6);
  EXPECT_EQ(beam.parent(0), 0);
  EXPECT_EQ(beam.parent(1), 0);
  ways = {{-2.0, 0, 4}, {-2.0, 1, 4}, {-2.25, 0, kEnd}};
  beam.advance(ways);  // an end that is third of all is not
  const auto result = beam.result();
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0].ids, (Ids{9}));
  EXPECT_EQ(result[0].log_prob, -1.5);
  EXPECT_EQ(result[0].token_log_probs, (std::vector<double>{-1.0, -0.5}));
  EXPECT_FALSE(result[1].finished) << "the best of the living, where too few have ended";
  EXPECT_EQ(result[1].ids, (Ids{7, 5, 4}));
  EXPECT_EQ(result[1].token_log_probs, (std::vector<double>{-1.0, -0.75, -0.25}));
}

/// Greedy says the most probable token until that is the end mark, and never collects another end.
TEST(Beam, OfOneIsGreedy) {
  const SearchOptions o = options(1, 1);
  Beam beam(o, 10, {});
  std::vector<Continuation> ways{{-1.0, 0, 5}, {-1.1, 0, kEnd}};
  beam.advance(ways);
  EXPECT_EQ(beam.living(), 1);
  ways = {{-1.2, 0, 6}, {-1.1, 0, kEnd}};
  beam.advance(ways);
  EXPECT_TRUE(beam.done());
  ASSERT_EQ(beam.result().size(), 1u);
  EXPECT_EQ(beam.result()[0].ids, (Ids{5}));
  EXPECT_NEAR(beam.result()[0].score, -1.1 / (7.0 / 6), 1e-12);
}

/// A prompt counts neither in lengths nor in scores.
TEST(Beam, PromptsAreSaidAndNotCounted) {
  SearchOptions o = options(2, 1);
  o.prompts = true;
  const Ids prompt{8, 9};
  Beam beam(o, 5, prompt);
  EXPECT_EQ(beam.forced(), 8);
  std::vector<Continuation> ways{{0.0, 0, 8}};
  beam.advance(ways);
  EXPECT_EQ(beam.forced(), 9);
  ways = {{0.0, 0, 9}};
  beam.advance(ways);
  EXPECT_EQ(beam.forced(), -1);
  EXPECT_EQ(beam.length(), 0);
  ways = {{-0.5, 0, 5}};
  beam.advance(ways);
  ways = {{-0.75, 0, kEnd}};
  beam.advance(ways);
  ASSERT_EQ(beam.result().size(), 1u);
  EXPECT_EQ(beam.result()[0].ids, (Ids{8, 9, 5}));
  EXPECT_NEAR(beam.result()[0].score, -0.75 / (7.0 / 6), 1e-12);
}

struct Found {
  Ids ids;
  double score;
};

/// The textbook's beam: nothing is given up before the longest.
std::vector<Found> to_the_longest(const SearchOptions& o, int64_t longest, const Table& table) {
  struct Said {
    Ids ids;
    double log_prob;
  };
  std::vector<Said> living{{{}, 0}};
  std::vector<Found> ended;
  for (int64_t length = 1; length <= longest && !living.empty(); ++length) {
    std::vector<Said> all;
    for (const Said& s : living)
      for (const auto& [token, log_prob] : table(s.ids)) {
        all.push_back({s.ids, s.log_prob + log_prob});
        all.back().ids.push_back(token);
      }
    std::stable_sort(all.begin(), all.end(), [](const Said& a, const Said& b) { return a.log_prob > b.log_prob; });
    living.clear();
    for (size_t rank = 0; rank < all.size() && std::ssize(living) < o.beam; ++rank) {
      if (all[rank].ids.back() != kEnd) {
        living.push_back(all[rank]);
      } else if (std::cmp_less(rank, o.beam)) {
        all[rank].ids.pop_back();
        ended.push_back({all[rank].ids, all[rank].log_prob / length_penalty(length, o.length_penalty)});
      }
    }
  }
  std::stable_sort(ended.begin(), ended.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  if (std::cmp_greater(ended.size(), o.n_best)) ended.resize(static_cast<size_t>(o.n_best));
  return ended;
}

TEST(Beam, GivingUpEarlyChangesNothing) {
  int64_t late = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Table table = [&](const Ids& said) {
      uint64_t state = seed;
      for (const int32_t id : said) state = mix(state, static_cast<uint64_t>(id));
      Random random(state);
      std::vector<double> weights;  // some tokens are nearly sure, so that long ones can win
      double sum = 0;
      for (int i = 0; i < 5; ++i) sum += weights.emplace_back(std::exp(random.uniform(0, 6)));
      std::vector<std::pair<int32_t, double>> out;
      for (int32_t i = 0; i < 5; ++i) out.emplace_back(kEnd + i, std::log(weights[static_cast<size_t>(i)] / sum));
      return out;
    };
    for (const double penalty : {0.0, 0.6, 1.0, 2.0})
      for (const int64_t n_best : {1, 3}) {
        const SearchOptions o = options(3, penalty, n_best);
        Beam beam(o, 16, {});
        run(beam, table);
        const auto got = beam.result();
        const auto want = to_the_longest(o, 16, table);
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_LT(i, got.size());
          ASSERT_EQ(got[i].ids, want[i].ids) << "seed " << seed << ", penalty " << penalty;
          ASSERT_NEAR(got[i].score, want[i].score, 1e-12);
        }
        late += !want.empty() && want[0].ids.size() > 4;
      }
  }
  EXPECT_GT(late, 50) << "long ones win often enough to matter";
}

}  // namespace
}  // namespace attune
