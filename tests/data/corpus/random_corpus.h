// A corpus whose ids tell where they come from, for the tests of batches and what uses them.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "data/batches.h"

namespace attune::test {

using Ids = std::vector<int32_t>;

/// Example i has ids that tell i and the side; lengths are random.
inline Corpus random_corpus(int64_t size, int32_t longest, uint64_t seed = 1) {
  Corpus c;
  Random random(seed);
  for (int64_t i = 0; i < size; ++i) {
    const auto id = static_cast<int32_t>(10 + 2 * i);
    c.source.add(Ids(1 + random.below(static_cast<uint64_t>(longest)), id));
    c.target.add(Ids(1 + random.below(static_cast<uint64_t>(longest)), id + 1));
  }
  return c;
}

inline void expect_equal(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.source.ids, b.source.ids);
  EXPECT_EQ(a.read.ids, b.read.ids);
  EXPECT_EQ(a.target().right.ids, b.target().right.ids);
  EXPECT_EQ(a.source.segments.start, b.source.segments.start);
  EXPECT_EQ(a.target().right.segments.start, b.target().right.segments.start);
  EXPECT_EQ(a.source.segments.longest, b.source.segments.longest);
  EXPECT_EQ(a.target().right.segments.longest, b.target().right.segments.longest);
  EXPECT_EQ(a.examples, b.examples);
  EXPECT_EQ(a.read.streams, b.read.streams);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.at, b.at);
  EXPECT_EQ(a.next, b.next);
}

inline std::vector<Batch> take(Batches& batches, size_t count) {
  std::vector<Batch> out(count);
  for (Batch& b : out) batches.next(b);
  return out;
}

}  // namespace attune::test
