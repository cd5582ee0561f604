#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "base/limits.h"

namespace attune {
namespace {

TEST(ThreadPool, RunsEveryBlockOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t blocks : {0, 1, 2, 7, 1000}) {
      std::vector<int> seen(static_cast<size_t>(blocks));  // not atomic: each block is one thread's
      pool.run(blocks, [&](int64_t b, int worker) {
        ++seen[static_cast<size_t>(b)];
        EXPECT_GE(worker, 0);
        EXPECT_LT(worker, threads);
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(blocks), 1));
    }
  }
}

TEST(ThreadPool, ManySmallRunsSeeEachOthersResults) {
  ThreadPool pool(4);
  std::vector<int64_t> cells(5);
  const int runs = 20000;
  for (int r = 0; r < runs; ++r)
    pool.run(5, [&](int64_t b, int) { cells[static_cast<size_t>(b)] += 1; });  // plain memory, handed from run to run
  EXPECT_EQ(cells, std::vector<int64_t>(5, runs));
}

TEST(ThreadPool, PerWorkerScratchIsNotShared) {
  ThreadPool pool(3);
  std::vector<int64_t> scratch(3);
  for (int r = 0; r < 500; ++r) pool.run(50, [&](int64_t, int worker) { ++scratch[static_cast<size_t>(worker)]; });
  EXPECT_EQ(std::accumulate(scratch.begin(), scratch.end(), int64_t{0}), 500 * 50);
}

TEST(ThreadPool, TheFirstExceptionComesOut) {
  ThreadPool pool(4);
  for (int r = 0; r < 300; ++r) {
    std::atomic<int> ran = 0;
    try {
      pool.run(100, [&](int64_t b, int) {
        ++ran;
        if (b % 10 == 3) throw std::runtime_error("block");
      });
      FAIL();
    } catch (const std::runtime_error& e) { EXPECT_STREQ(e.what(), "block"); }
    EXPECT_GE(ran, 4) << "block 3 was one of them";
    std::atomic<int> after = 0;  // the pool still works
    pool.run(10, [&](int64_t, int) { ++after; });
    EXPECT_EQ(after, 10);
  }
}

/// Whoever has thrown takes no more: where every block does, each thread has one at most.
TEST(ThreadPool, NothingGoesOnAfterAnException) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int r = 0; r < 100; ++r) {
      std::atomic<int> ran = 0;
      EXPECT_THROW(pool.run(100,
                            [&](int64_t, int) {
                              ++ran;
                              throw std::runtime_error("block");
                            }),
                   std::runtime_error);
      ASSERT_GE(ran, 1);
      ASSERT_LE(ran, threads);
    }
  }
}

TEST(ThreadPool, NestedRunsHappenInPlace) {
  ThreadPool pool(4), other(2);
  std::atomic<int64_t> sum = 0;
  for (int r = 0; r < 200; ++r)
    pool.run(8, [&](int64_t outer, int) {
      int order = 0;
      pool.run(5, [&](int64_t inner, int worker) {
        EXPECT_EQ(inner, order++);  // in order, on this thread
        EXPECT_EQ(worker, 0);
        sum += outer * inner;
      });
      other.run(2, [&](int64_t, int) { sum += 1; });
    });
  EXPECT_EQ(sum, 200 * (28 * 10 + 16));
}

TEST(ThreadPool, AnExceptionInANestedRunComesOut) {
  ThreadPool pool(3);
  for (int r = 0; r < 100; ++r)
    EXPECT_THROW(pool.run(6,
                          [&](int64_t, int) {
                            pool.run(3, [&](int64_t b, int) {
                              if (b == 1) throw std::logic_error("inner");
                            });
                          }),
                 std::logic_error);
  int count = 0;
  pool.run(1, [&](int64_t, int) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST(ThreadPool, SeveralThreadsMayCallIt) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(4);
  for (size_t c = 0; c < sums.size(); ++c)
    callers.emplace_back([&, c] {
      for (int r = 0; r < 300; ++r) {
        std::atomic<int64_t> sum = 0;
        pool.run(6, [&](int64_t b, int) { sum += b; });
        sums[c] += sum;
      }
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(sums, std::vector<int64_t>(4, 300 * 15));
}

TEST(ThreadPool, ComesAndGoes) {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool(3);
    if (i % 2) pool.run(3, [](int64_t, int) {});
  }
}

TEST(ThreadPool, AbsentMeansInOrder) {
  std::vector<int64_t> order;
  parallel_for(nullptr, 4, [&](int64_t b, int worker) {
    EXPECT_EQ(worker, 0);
    order.push_back(b);
  });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(workers_of(nullptr), 1);
  EXPECT_GE(available_cores(), 1);
}

}  // namespace
}  // namespace attune
