// The sum of the shards' gradients, in a fixed binary tree over the shard index: the same bits whichever thread
// finished first, and however many there are. Pairs are added as soon as both are there, so that only a few gradients
// exist at a time: one per thread, and about one per level of the tree; more where a thread falls behind.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "autograd/parameters.h"

namespace attune {

class GradientTree {
 public:
  explicit GradientTree(const Parameters& parameters) : parameters_(parameters) {}

  /// Begins a sum of so many gradients.
  void start(int64_t leaves);
  /// An empty gradient to write to; from any thread.
  Gradients* take();
  /// Takes back the gradient of one leaf and adds what can be added; from any thread.
  void give(int64_t leaf, Gradients* gradients);
  /// The whole sum once every leaf was given, valid until the next start(). The last addition runs on the pool.
  Gradients& sum(ThreadPool* pool);

  /// The most gradients there can be with so many threads and leaves, for estimates.
  static int64_t most(int64_t threads, int64_t leaves);

 private:
  void add(Gradients* to, Gradients* from, ThreadPool* pool);

  const Parameters& parameters_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Gradients>> all_;
  std::vector<Gradients*> unused_;
  /// Finished, while its sibling is not. As leaves come in order, there are never more of a level than threads.
  struct Waiting {
    int64_t index;
    Gradients* gradients;
  };
  std::vector<int64_t> sizes_;                 // of the levels, the leaves first
  std::vector<std::vector<Waiting>> waiting_;  // by level
  Gradients* root_[2] = {};
};

}  // namespace attune
