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
  sizes_.clear();
  for (int64_t n = leaves; sizes_.push_back(n), n > 1;) n = (n + 1) / 2;
  waiting_.resize(std::max(waiting_.size(), sizes_.size()));
  for (auto& level : waiting_) level.clear();
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
  size_t level = 0;
  int64_t index = leaf;
  for (; sizes_[level] > 2; ++level, index /= 2) {
    const int64_t sibling = index ^ 1;
    if (sibling >= sizes_[level]) continue;  // none: it goes up as it is
    Gradients* other = nullptr;
    {
      const std::lock_guard lock(mutex_);
      std::vector<Waiting>& all = waiting_[level];
      const auto at = std::find_if(all.begin(), all.end(), [&](const Waiting& w) { return w.index == sibling; });
      if (at == all.end()) {
        all.push_back({index, gradients});
        return;
      }
      other = at->gradients;
      all.erase(at);
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
  if (sizes_.size() > 1) {
    check(root_[1], "gradients", "not every shard is done");
    add(root_[0], root_[1], pool);
  }
  return *root_[0];
}

void GradientTree::add(Gradients* to, Gradients* from, ThreadPool* pool) {
  const Tensor sum(to->data(), Shape{parameters_.changing()}), other(from->data(), Shape{parameters_.changing()});
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
