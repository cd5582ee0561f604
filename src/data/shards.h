// A batch cut into shards: each is trained on by one thread, and since the cut depends on the batch alone, so do the
// bits of the result (see docs/design.md, "The same bits").
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/batches.h"

namespace attune {

/// A run of whole sentences of a batch, which must outlive it.
struct Shard {
  std::span<const int32_t> source, target_in, target_out;
  Segments source_segments, target_segments;           // counted from the shard's own first rows
  int64_t source_first_row = 0, target_first_row = 0;  // their places in the batch, for dropout
  int64_t first_sentence = 0;
  std::span<const int32_t> streams = {};                 // of texts: the batch's, of these segments
  bool first = true;                                     // the streams begin with this batch
  std::span<const int32_t> link_start = {}, links = {};  // the batch's, link_start of these rows
  std::span<const float> weights = {};                   // of the target rows; none: 1 each
};

/// The least tokens, both sides together, that are worth a shard of their own.
constexpr int64_t kLeastShardTokens = 256;

/// How many shards a batch gets: `shards` (a power of two), halved while one would fall under kLeastShardTokens on
/// average or have no sentence.
int64_t shard_count(const Batch& batch, int64_t shards);

/// Cuts into shard_count(batch, shards) runs of nearly equal tokens. The memory of `out` is used again.
void cut(const Batch& batch, int64_t shards, std::vector<Shard>& out);

}  // namespace attune
