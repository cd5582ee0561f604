// A small attention network trained from nothing in seconds: the engine, shown at work.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attune {

struct DemoOptions {
  int threads = 1;
  int steps = 400;
  uint64_t seed = 1;
};

struct DemoProgress {
  int step = 0, steps = 0;
  double loss = 0;          // nats per symbol
  double tokens_per_s = 0;  // since the start
};

/// One row the network never saw, and what it made of it.
struct DemoExample {
  std::string input, expected, answer;
};

struct DemoResult {
  int64_t parameters = 0;
  double memory_mb = 0;  // of activations and their gradients, planned before the first step
  double first_loss = 0, last_loss = 0;
  double accuracy = 0;  // rows reversed without a fault, of 500 unseen ones
  double seconds = 0;
  std::vector<DemoExample> examples;
  int64_t layer = 0, head = 0;   // the head that looks most at the mirrored position ...
  std::vector<float> attention;  // ... and its weights on the first example, [length, length], a query a row
};

/// Trains on reversing rows of letters and reports after every few steps. The result does not depend on the threads.
DemoResult run_demo(const DemoOptions& options, const std::function<void(const DemoProgress&)>& on_progress = {});

}  // namespace attune
