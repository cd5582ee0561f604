// Searches that remember keys, rings and sums against ones that compute everything anew at every step: for every
// attention mechanism beside every position scheme it takes. Runs over the registries, as the contract of the
// mechanisms does: a new one gets it unasked.
#include <gtest/gtest.h>

#include "decode/naive_search.h"
#include "model/contract.h"

namespace attune {
namespace {

/// The most probable token, until that is the end.
Naive naive_greedy(const Model& model, const Ids& source, int64_t longest) {
  Naive h;
  while (std::ssize(h.ids) < longest) {
    const auto p = next_log_probs(model, source, h.ids);
    int32_t best = 2;
    for (int32_t id = 4; id < std::ssize(p); ++id)
      if (p[static_cast<size_t>(id)] > p[static_cast<size_t>(best)]) best = id;
    h.log_prob += p[static_cast<size_t>(best)];
    if (best == 2) break;
    h.ids.push_back(best);
  }
  return h;
}

struct CachedDecoding : Contract {};

TEST_P(CachedDecoding, SaysWhatIsSaidWhenAllIsComputedAnew) {
  const auto m = model(options(), 1.2f);
  IdLists sources = random_sentences(3, 24, 20, 31);  // of mixed lengths: some are done before others
  sources.push_back({5, 2});
  constexpr int64_t kLongest = 9;
  Arena arena;
  const TinyBatch batch = TinyBatch::of(sources);
  const auto greedy = search(*m, {batch.tokens()}, {.beam = 1, .longest = kLongest}, nullptr, arena);
  const SearchOptions five{.beam = 5, .n_best = 3, .longest = kLongest};
  const auto beam = search(*m, {batch.tokens()}, five, nullptr, arena);
  EXPECT_EQ(arena.in_use(), 0);
  for (size_t s = 0; s < sources.size(); ++s) {
    const Naive want = naive_greedy(*m, sources[s], kLongest);
    EXPECT_EQ(greedy[s][0].ids, want.ids) << s;
    EXPECT_NEAR(greedy[s][0].log_prob, want.log_prob, 1e-4 * (1 + std::abs(want.log_prob))) << s;
    const auto best = naive_beam(*m, sources[s], five);
    ASSERT_EQ(beam[s].size(), best.size()) << s;
    for (size_t n = 0; n < best.size(); ++n) {
      EXPECT_EQ(beam[s][n].ids, best[n].ids) << s << ", " << n;
      EXPECT_NEAR(beam[s][n].score, best[n].score, 1e-4 * (1 + std::abs(best[n].score))) << s << ", " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CachedDecoding, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace attune
