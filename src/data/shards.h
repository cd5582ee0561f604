// A batch cut into shards: each is trained on by one thread, and since the cut depends on the batch alone, so do the
// bits of the result (see docs/design.md, "The same bits").
#pragma once
#include <cstdint>
#include <vector>

#include "data/batches.h"

namespace attune {

/// The least tokens, both sides together, that are worth a shard of their own.
constexpr int64_t kLeastShardTokens = 256;

/// How many shards a batch gets: `shards` (a power of two), halved while one would fall under kLeastShardTokens on
/// average or have no sentence.
int64_t shard_count(const Batch& batch, int64_t shards);

/// Batches that a batch was cut into. What the last cut took stays for the next.
class Shards {
 public:
  size_t size() const { return count_; }
  Batch& operator[](size_t i) { return all_[i]; }
  const Batch& operator[](size_t i) const { return all_[i]; }
  std::vector<Batch>::iterator begin() { return all_.begin(); }
  std::vector<Batch>::iterator end() { return all_.begin() + std::ssize(*this); }
  void resize(size_t count) {
    if (all_.size() < count) all_.resize(count);
    count_ = count;
  }

 private:
  std::vector<Batch> all_;
  size_t count_ = 0;
};

/// Cuts into shard_count(batch, shards) runs of whole sentences with nearly equal tokens: views of the batch, which
/// outlives them.
void cut(const Batch& batch, int64_t shards, Shards& out);

}  // namespace attune
