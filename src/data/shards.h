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

/// Cuts into shard_count(batch, shards) runs of whole sentences with nearly equal tokens: views of the batch, which
/// outlives them. The memory of `out` is used again.
void cut(const Batch& batch, int64_t shards, std::vector<Batch>& out);

}  // namespace attune
