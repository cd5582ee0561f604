// Sentences that wait, enter and leave while others are under way.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "checks.h"
#include "decode/search.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;
using Best = std::vector<std::vector<Hypothesis>>;

/// Hands out sentences in order and watches who is under way meanwhile.
class WatchedQueue : public SearchQueue {
 public:
  explicit WatchedQueue(const Sentences& sources, Sentences prefixes = {})
      : best(sources.size()), sources_(sources), prefixes_(std::move(prefixes)) {}

  std::vector<int64_t> take(int64_t together, int64_t alone) override {
    const std::lock_guard lock(mutex_);
    std::vector<int64_t> some;
    for (int64_t sum = 0; next_ < std::ssize(sources_); some.push_back(next_++)) {
      sum += tokens(next_);
      if (sum > (some.empty() ? std::max(together, alone) : together)) break;
    }
    if (!some.empty() && under_way_ > 0 && done_ > 0) ++late_entries;
    for (const int64_t id : some) under_way_ += tokens(id);
    most_under_way = std::max(most_under_way, under_way_);
    return some;
  }
  SearchSentence sentence(int64_t id) const override {
    const auto at = static_cast<size_t>(id);
    SearchSentence s{sources_[at]};
    if (!prefixes_.empty()) s.prefix = prefixes_[at];
    s.key = at;
    return s;
  }
  void found(int64_t id, std::vector<Hypothesis> hypotheses) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(best[static_cast<size_t>(id)].empty()) << id << " was found before";
    best[static_cast<size_t>(id)] = std::move(hypotheses);
    under_way_ -= tokens(id);
    ++done_;
  }

  Best best;
  int64_t late_entries = 0, most_under_way = 0;

 private:
  int64_t tokens(int64_t id) const { return std::ssize(sources_[static_cast<size_t>(id)]); }

  const Sentences& sources_;
  Sentences prefixes_;
  std::mutex mutex_;
  int64_t next_ = 0, under_way_ = 0, done_ = 0;
};

Best whole(std::span<const Model* const> models, const Sentences& sources, const SearchOptions& options,
           const Sentences& prefixes = {}) {
  Arena arena;
  const TinyBatch batch = TinyBatch::of(sources);
  return search(models, {batch.tokens(), prefixes}, options, nullptr, arena);
}

void expect_same(const Best& a, const Best& b, const std::string& when) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t s = 0; s < a.size(); ++s)
    EXPECT_TRUE(std::equal(a[s].begin(), a[s].end(), b[s].begin(), b[s].end(),
                           [](const Hypothesis& x, const Hypothesis& y) {
                             return x.ids == y.ids && x.score == y.score && x.log_prob == y.log_prob &&
                                    x.finished == y.finished && x.token_log_probs == y.token_log_probs;
                           }))
        << "sentence " << s << ", " << when;
}

TEST(SearchQueue, TheRoomThereIsChangesNoBit) {
  const auto model = tiny_model({.heads_kv = 2, .vocabulary = 333}, 1, 1.3f),
             other = tiny_model({.vocabulary = 333}, 2, 1.3f);
  const Model* models[] = {model.get(), other.get()};
  const Sentences sources = random_sentences(30, 25, 333, 5);
  Sentences prefixes(sources.size());
  for (size_t s = 0; s < prefixes.size(); s += 3) prefixes[s] = {7, 9};
  const SearchOptions ways[] = {{.beam = 1},
                                {.beam = 4, .n_best = 2},
                                {.beam = 3, .coverage_penalty = 0.3, .processors = make_processors({.no_repeat = 2})},
                                {.n_best = 2, .sample = true}};
  for (const SearchOptions& o : ways)
    for (const size_t count : {1u, 2u}) {
      const auto want = whole({models, count}, sources, o, prefixes);
      for (const int64_t tokens : {0, 1, 40, 150, 100000}) {
        Arena arena;
        WatchedQueue queue(sources, prefixes);
        search({models, count}, queue, o, tokens, nullptr, arena);
        expect_same(queue.best, want, fmt::format("{} tokens, beam {}, {} models", tokens, o.beam, count));
        EXPECT_EQ(arena.in_use(), 0);
      }
    }
}

TEST(SearchQueue, SentencesEnterWhileOthersAreUnderWay) {
  const auto model = tiny_model({.vocabulary = 333}, 1, 1.3f);
  const Model* one[] = {model.get()};
  const Sentences sources = random_sentences(150, 25, 333, 6);
  Arena arena;
  WatchedQueue queue(sources);
  search(one, queue, {.beam = 2}, 400, nullptr, arena);
  EXPECT_GT(queue.late_entries, 5);
  for (const auto& b : queue.best) EXPECT_FALSE(b.empty());
}

TEST(SearchQueue, NoMoreIsUnderWayThanThereIsRoomFor) {
  const auto model = tiny_model({.vocabulary = 50}, 1, 1.3f);
  const Model* one[] = {model.get()};
  const Sentences sources = random_sentences(80, 25, 50, 7);
  int64_t longest = 0;
  for (const auto& s : sources) longest = std::max(longest, std::ssize(s));
  for (const int64_t tokens : {0, 30, 200}) {
    Arena arena;
    WatchedQueue queue(sources);
    search(one, queue, {.beam = 2}, tokens, nullptr, arena);
    EXPECT_LE(queue.most_under_way, std::max(tokens, longest));
  }
}

/// Memory depends on the room there is, not on how many sentences pass through it; and it is used again.
TEST(SearchQueue, MemoryIsBoundedByTheRoom) {
  const auto model = tiny_model({.vocabulary = 50}, 1, 1.3f);
  const Model* one[] = {model.get()};
  const auto peak_of = [&](int count, int64_t tokens, Arena& arena) {
    const Sentences sources(static_cast<size_t>(count), {5, 6, 7, 8, 9, 10, 11, 12, 13, 2});
    WatchedQueue queue(sources);
    search(one, queue, {.beam = 4, .longest = 12, .processors = make_processors({.shortest = 11})}, tokens, nullptr,
           arena);
    return arena.peak();
  };
  Arena arena, few, many;
  const int64_t small = peak_of(100, 200, few), large = peak_of(100, 1000, many);
  EXPECT_LE(peak_of(20, 200, arena), small);
  const int64_t reserved = arena.reserved();
  EXPECT_LE(peak_of(400, 200, arena), small + small / 10);
  EXPECT_LE(arena.reserved(), reserved + (int64_t{4} << 20)) << "pages are used again";
  EXPECT_GT(large, 2 * small);
}

TEST(SearchQueue, ThreadsShareOne) {
  const auto model = tiny_model({.vocabulary = 50}, 1, 1.3f);
  const Model* one[] = {model.get()};
  const Sentences sources = random_sentences(100, 20, 50, 8);
  WatchedQueue queue(sources);
  ThreadPool pool(3);
  parallel_for(&pool, 3, [&](int64_t, int) {
    Arena arena;
    search(one, queue, {.beam = 2}, 60, nullptr, arena);
  });
  expect_same(queue.best, whole(one, sources, {.beam = 2}), "3 threads");
}

TEST(SearchQueue, AnImpossiblePrefixIsRefused) {
  const auto model = tiny_model({.vocabulary = 20});
  const Model* one[] = {model.get()};
  const Sentences sources{{5, 2}}, prefixes{{20}};
  Arena arena;
  WatchedQueue queue(sources, prefixes);
  EXPECT_NE(error_of([&] { search(one, queue, {}, 100, nullptr, arena); }).find("token 20 can't be said first"),
            std::string::npos);
}

}  // namespace
}  // namespace attune
