#include "data/prefetch.h"

#include <chrono>
#include <thread>

#include "data/corpus/random_corpus.h"
#include "data/files.h"

namespace attune::test {
namespace {

TEST(Prefetch, GivesTheSameSequence) {
  const Corpus c = random_corpus(300, 30);
  const BatchOptions options{.tokens = 150, .seed = 5};
  Batches plain(c, options);
  const std::vector<Batch> all = take(plain, 120);
  for (const int depth : {1, 2, 7}) {
    Batches batches(c, options);
    std::atomic<int> made = 0;
    Prefetch prefetch(
        [&](Batch& b) {
          batches.next(b);
          ++made;
        },
        depth);
    for (int i = 0; i < std::ssize(all); ++i) {
      const Batch& b = prefetch.next();
      while (made <= i + depth) std::this_thread::yield();  // the thread is as far ahead as it may be
      expect_equal(b, all[static_cast<size_t>(i)]);
    }
  }
}

TEST(Prefetch, ResumesWhereTheLastUsedBatchEnded) {
  const Corpus c = random_corpus(300, 30);
  const BatchOptions options{.tokens = 150, .seed = 5};
  Batches plain(c, options);
  const std::vector<Batch> all = take(plain, 40);
  for (size_t stop = 1; stop < 30; ++stop) {
    Batches batches(c, options);
    DataPosition at;
    {
      Prefetch prefetch(batches, 3);
      for (size_t i = 0; i < stop; ++i) at = prefetch.next().next;
    }
    batches.seek(at);  // the thread was ahead
    Prefetch prefetch(batches, 3);
    for (size_t i = stop; i < stop + 5; ++i) expect_equal(prefetch.next(), all[i]);
  }
}

TEST(Prefetch, CarriesExceptionsOverInTheirTurn) {
  int64_t n = 0;
  Prefetch prefetch([&](Batch& b) {
    if (n == 5) throw Error(ErrorKind::data, "no more");
    b.at.example = n++;
  });
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(prefetch.next().at.example, i);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(error_with_kind([&] { prefetch.next(); }), "data: no more");
}

TEST(Prefetch, StopsCleanlyAtAnyMoment) {
  for (int i = 0; i < 200; ++i) {
    int made = 0;
    Prefetch prefetch([&](Batch&) { ++made; }, 1 + i % 3);
    for (int j = 0; j < i % 5; ++j) prefetch.next();
  }
}

}  // namespace
}  // namespace attune::test
