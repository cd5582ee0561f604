#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "attune/error.h"
#include "base/random.h"

namespace attune {
namespace {

/// A step as the arena sees it: requests in order, each with its size, and releases in between.
struct Trace {
  struct Event {
    int request;
    bool take;
  };
  std::vector<Event> events;
  std::vector<int64_t> bytes;
};

/// Like training: a forward pass that keeps some blocks, then a backward pass that frees them, gradients in between.
Trace random_trace(uint64_t seed, int requests, uint64_t largest = 1 << 20) {
  Random random(seed);
  Trace trace;
  std::vector<int> live;
  const auto free_one = [&] {
    const size_t i = random.below(3) == 0 ? random.below(live.size()) : live.size() - 1;
    trace.events.push_back({live[i], false});
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (int r = 0; r < requests; ++r) {
    const bool backward = r > requests / 2;
    while (!live.empty() && random.uniform() < (backward ? 0.6 : 0.3)) free_one();
    const int64_t size =
        random.below(4) ? static_cast<int64_t>(random.below(largest)) : static_cast<int64_t>(random.below(300));
    trace.events.push_back({r, true});
    trace.bytes.push_back(size);
    live.push_back(r);
  }
  while (!live.empty()) free_one();
  return trace;
}

constexpr uint64_t kSmall = 1 << 15;  // where every byte is looked at

/// Plays a trace; `write` fills each block and checks at its end that nobody else wrote there.
void play(Arena& arena, const Trace& trace, bool write) {
  std::vector<Arena::Block> block(trace.bytes.size(), Arena::kNone);
  arena.begin_step();
  for (const auto& e : trace.events) {
    const auto i = static_cast<size_t>(e.request);
    const auto bytes = static_cast<size_t>(trace.bytes[i]);
    const int mark = e.request % 251;
    if (e.take) {
      block[i] = arena.allocate(trace.bytes[i]);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.block_data(block[i])) % Arena::kAlign, 0u);
      if (write) std::memset(arena.block_data(block[i]), mark, bytes);
    } else {
      const char* data = static_cast<const char*>(arena.block_data(block[i]));
      if (write && !std::all_of(data, data + bytes, [&](char c) { return c == static_cast<char>(mark); }))
        ADD_FAILURE() << "two blocks overlap";
      arena.release(block[i]);
    }
  }
}

Plan rehearse(Arena& arena, const Trace& trace) {
  arena.start_rehearsal();
  play(arena, trace, false);
  return arena.finish_rehearsal();
}

struct Lifetimes {
  std::vector<int64_t> from, to, size;
  int64_t peak = 0;  // the most that is alive at one time
};
Lifetimes lifetimes_of(const Trace& trace) {
  Lifetimes l;
  l.size.resize(trace.bytes.size());
  l.from.resize(trace.bytes.size());
  l.to.resize(trace.bytes.size());
  int64_t in_use = 0, clock = 0;
  for (const auto& e : trace.events) {
    const auto i = static_cast<size_t>(e.request);
    l.size[i] = std::max<int64_t>(64, (trace.bytes[i] + 63) / 64 * 64);
    (e.take ? l.from : l.to)[i] = clock++;
    in_use += e.take ? l.size[i] : -l.size[i];
    l.peak = std::max(l.peak, in_use);
  }
  return l;
}

TEST(Arena, BlocksDoNotOverlap) {
  Arena arena;
  play(arena, random_trace(1, 300, kSmall), true);
  EXPECT_EQ(arena.in_use(), 0);
}

TEST(Arena, PeakIsWhatWasInUse) {
  Arena arena;
  const Trace trace = random_trace(2, 200);
  play(arena, trace, false);
  EXPECT_EQ(arena.peak(), lifetimes_of(trace).peak);
  EXPECT_GE(arena.reserved(), arena.peak());
}

TEST(Arena, TheSecondStepMapsNothing) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Arena arena;
    const Trace trace = random_trace(seed, 250, 6 << 20);  // around the size of a chunk, where it is hardest
    play(arena, trace, false);
    const int64_t after_first = arena.reserved();
    for (int step = 0; step < 3; ++step) play(arena, trace, false);
    EXPECT_EQ(arena.reserved(), after_first) << "seed " << seed;
  }
}

TEST(Arena, PlansNeverOverlapTwoLifetimes) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Arena arena;
    const Trace trace = random_trace(seed, 150);
    const Plan plan = rehearse(arena, trace);
    const Lifetimes l = lifetimes_of(trace);
    ASSERT_EQ(plan.size, l.size);
    for (size_t i = 0; i < l.size.size(); ++i) {
      EXPECT_EQ(plan.offset[i] % Arena::kAlign, 0);
      EXPECT_LE(plan.offset[i] + plan.size[i], plan.peak);
      for (size_t j = 0; j < i; ++j) {
        const bool same_time = l.from[i] < l.to[j] && l.from[j] < l.to[i];
        const bool same_place =
            plan.offset[i] < plan.offset[j] + plan.size[j] && plan.offset[j] < plan.offset[i] + plan.size[i];
        ASSERT_FALSE(same_time && same_place) << "seed " << seed << ": " << i << " and " << j;
      }
    }
    EXPECT_GE(plan.peak, l.peak);
    EXPECT_LE(static_cast<double>(plan.peak), 1.15 * static_cast<double>(l.peak)) << "seed " << seed;
  }
}

TEST(Arena, ARehearsalTakesNoMemory) {
  Arena arena;
  Trace huge;
  huge.bytes = {int64_t{1} << 40};
  huge.events = {{0, true}, {0, false}};
  EXPECT_EQ(rehearse(arena, huge).peak, int64_t{1} << 40);
  EXPECT_EQ(arena.reserved(), 0);
  EXPECT_FALSE(arena.rehearsing());
}

TEST(Arena, AdoptServesByThePlan) {
  Arena arena;
  const Trace trace = random_trace(9, 200, kSmall);
  const Plan plan = rehearse(arena, trace);
  arena.adopt(plan);
  const int64_t reserved = arena.reserved();
  EXPECT_GE(reserved, plan.peak);
  EXPECT_LT(reserved, plan.peak + (1 << 22));
  for (int step = 0; step < 3; ++step) play(arena, trace, true);
  EXPECT_EQ(arena.overflows(), 0);
  EXPECT_EQ(arena.reserved(), reserved);
  EXPECT_LE(arena.peak(), plan.peak);

  arena.begin_step();  // the i-th request lies where the plan says
  const auto first = arena.allocate(plan.size[0]), second = arena.allocate(plan.size[1]);
  EXPECT_EQ(static_cast<char*>(arena.block_data(second)) - static_cast<char*>(arena.block_data(first)),
            plan.offset[1] - plan.offset[0]);
  arena.release(second);
  arena.release(first);
}

TEST(Arena, SmallerBatchesFitTheSamePlan) {
  Arena arena;
  Trace trace = random_trace(10, 100, kSmall);
  arena.adopt(rehearse(arena, trace));
  for (int64_t& b : trace.bytes) b = b * 2 / 3;
  play(arena, trace, true);
  EXPECT_EQ(arena.overflows(), 0);
}

TEST(Arena, WhatThePlanDidNotForeseeIsServedAndCounted) {
  Arena arena;
  Trace trace = random_trace(11, 100, kSmall);
  arena.adopt(rehearse(arena, trace));
  trace.bytes[5] = 3 << 16;
  trace.bytes[50] = 2 << 16;
  play(arena, trace, true);
  EXPECT_EQ(arena.overflows(), 2);
  const int64_t reserved = arena.reserved();
  play(arena, trace, true);
  EXPECT_EQ(arena.overflows(), 4);
  EXPECT_EQ(arena.reserved(), reserved);  // what was added is kept

  arena.begin_step();
  for (size_t i = 0; i < trace.bytes.size() + 2; ++i) arena.release(arena.allocate(1));
  EXPECT_EQ(arena.overflows(), 6);  // more requests than were rehearsed
}

TEST(Arena, WhatLivesLongerThanRehearsedIsNotWrittenOver) {
  Arena arena;
  Trace rehearsed, longer;
  rehearsed.bytes = longer.bytes = {1000, 1000};
  rehearsed.events = {{0, true}, {0, false}, {1, true}, {1, false}};  // one after the other: they share a place
  longer.events = {{0, true}, {1, true}, {0, false}, {1, false}};
  arena.adopt(rehearse(arena, rehearsed));
  play(arena, longer, true);
  EXPECT_EQ(arena.overflows(), 1);
  play(arena, rehearsed, true);
  EXPECT_EQ(arena.overflows(), 1);
}

TEST(Arena, AForgottenBlockIsReported) {
  Arena arena;
  const auto block = arena.allocate(10);
  try {
    arena.begin_step();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::internal);
    EXPECT_STREQ(e.what(), "[arena] 1 blocks still in use at the start of a step");
  }
  arena.release(block);
  EXPECT_NO_THROW(arena.begin_step());
  EXPECT_THROW(arena.allocate(-1), Error);
}

TEST(Arena, MemoryThatCannotBeHadIsAMemoryError) {
  Arena arena;
  try {
    arena.allocate(int64_t{1} << 60);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(e.what()).find("\n  fix: "), std::string::npos);
  }
  const auto block = arena.allocate(100);  // still usable
  std::memset(arena.block_data(block), 1, 100);
  arena.release(block);
  arena.begin_step();
  const Plan possible{{0}, {64}, 64}, impossible{{0}, {int64_t{1} << 60}, int64_t{1} << 60};
  arena.adopt(possible);
  EXPECT_THROW(arena.adopt(impossible), Error);  // after which the memory of the first plan is gone
  const auto again = arena.allocate(64);         // but the arena grows again
  std::memset(arena.block_data(again), 1, 64);
  arena.release(again);
}

}  // namespace
}  // namespace attune
