#include "train/gradient_tree.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "kernels/rows/elementwise.h"

namespace attune {

void GradientTree::start(int64_t leaves) {
  check(leaves > 0, "gradients", "a sum of nothing");
  unused_.clear();
  for (const auto& g : all_) unused_.push_back(g.get());
  size_t levels = 0;
  for (int64_t n = leaves;; n = (n + 1) / 2) {
    if (waiting_.size() <= levels) waiting_.emplace_back();
    waiting_[levels++].assign(static_cast<size_t>(n), nullptr);
    if (n == 1) break;
  }
  waiting_.resize(levels);
  root_[0] = root_[1] = nullptr;
}

Gradients* GradientTree::take() {
  Gradients* g = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (unused_.empty()) {
      all_.push_back(std::make_unique<Gradients>(parameters_));
      g = all_.back().get();
    } else {
      g = unused_.back();
      unused_.pop_back();
    }
  }
  g->start();
  return g;
}

void GradientTree::give(int64_t leaf, Gradients* gradients) {
  gradients->finish();
  size_t level = 0, index = static_cast<size_t>(leaf);
  for (; waiting_[level].size() > 2; ++level, index /= 2) {
    const size_t sibling = index ^ 1;
    if (sibling >= waiting_[level].size()) continue;  // none: it goes up as it is
    Gradients* other = nullptr;
    {
      const std::lock_guard lock(mutex_);
      other = waiting_[level][sibling];
      if (!other) {
        waiting_[level][index] = gradients;
        return;
      }
    }
    Gradients *left = index < sibling ? gradients : other, *right = index < sibling ? other : gradients;
    add(left, right, nullptr);
    const std::lock_guard lock(mutex_);
    unused_.push_back(right);
    gradients = left;
  }
  const std::lock_guard lock(mutex_);
  root_[index] = gradients;
}

Gradients& GradientTree::sum(ThreadPool* pool) {
  check(root_[0], "gradients", "not every shard is done");
  if (waiting_.back().size() == 1 && waiting_.size() > 1) {
    check(root_[1], "gradients", "not every shard is done");
    add(root_[0], root_[1], pool);
  }
  return *root_[0];
}

void GradientTree::add(Gradients* to, Gradients* from, ThreadPool* pool) {
  const Tensor sum(to->data(), Shape{parameters_.size()}), other(from->data(), Shape{parameters_.size()});
  kernels::pairwise(kernels::Pairwise::add, kernels::Spread::none, sum, other, sum, pool);
}

int64_t GradientTree::most(int64_t threads, int64_t leaves) {
  // Leaves begin in order, so what waits are the siblings along the paths from the leaves at work up to where two paths
  // meet. A single slow thread is enough to keep all of its path waiting.
  threads = std::max<int64_t>(std::min(threads, leaves), 1);
  const auto levels = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(leaves, 1) - 1)));
  const auto shared = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(threads))) - 1;
  return std::min(leaves, threads + threads * (levels - shared));
}

}  // namespace attune
