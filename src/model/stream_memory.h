// What layers remember of texts that are read in windows: the last rows of each stream, from one batch to the next (Dai
// et al. 2019, "Transformer-XL", section 3.2). Nothing flows back into them. A run owns one memory, validation another.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace attune {

/// What one layer keeps of every stream.
struct MemorySlot {
  std::string name;
  int64_t rows = 0, width = 0;
};

class StreamMemory {
 public:
  explicit StreamMemory(std::vector<MemorySlot> slots) : slots_(std::move(slots)), kept_(slots_.size()) {}

  bool in_use() const { return !slots_.empty(); }
  int64_t streams() const { return streams_; }
  /// Before a batch of streams 0 to `streams` - 1. `first`: they begin with it, and what was before them is forgotten.
  void begin(int64_t streams, bool first);
  /// As if so many streams had been read for long, of which no row is there to be recalled: for rehearsals.
  void pretend_full(int64_t streams);

  /// How many rows there are of a stream; recall() writes them, oldest first, to `to`.
  int64_t count(int slot, int32_t stream) const { return kept(slot).counts[static_cast<size_t>(stream)]; }
  void recall(int slot, int32_t stream, const Tensor& to) const;
  /// Takes up rows that follow; the oldest fall out. Different streams may be written by different threads at once.
  void remember(int slot, int32_t stream, const Tensor& rows);

  // Everything, for checkpoints: of each slot the rows of all streams and their counts.
  const std::vector<MemorySlot>& slots() const { return slots_; }
  float* rows(int slot) { return kept_[static_cast<size_t>(slot)].rows.data(); }        // [streams, rows, width]
  int32_t* counts(int slot) { return kept_[static_cast<size_t>(slot)].counts.data(); }  // [streams]
  /// What so many streams take.
  int64_t bytes(int64_t streams) const;

 private:
  struct Kept {
    std::vector<float> rows;
    std::vector<int32_t> counts;
  };
  const Kept& kept(int slot) const { return kept_[static_cast<size_t>(slot)]; }

  std::vector<MemorySlot> slots_;
  std::vector<Kept> kept_;  // of each slot
  int64_t streams_ = 0;
};

}  // namespace attune
