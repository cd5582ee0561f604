// What decoding remembers between two steps of a Transformer.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "model/attention/mechanism.h"

namespace attune {

/// One AttentionState per layer, and the sources' keys and values.
class DecoderState {
 public:
  /// Row i goes on from what row parents[i] was; there may be fewer rows than before, or more.
  void reorder(std::span<const int32_t> parents);
  int64_t rows() const { return static_cast<int64_t>(source_of_.size()); }
  /// Positions said so far.
  int64_t position() const { return position_; }
  /// All that is held: what the layers remember, and the sources' keys and values.
  int64_t bytes() const;

 private:
  friend class Transformer;
  const Segments* sources_ = nullptr;
  std::vector<Var> memory_;  // per layer: keys and values of the encoder's rows
  std::vector<std::unique_ptr<AttentionState>> states_;
  std::vector<int32_t> source_of_;  // per row
  int64_t position_ = 0;
};

}  // namespace attune
