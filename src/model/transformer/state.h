// What decoding remembers between two steps of a Transformer: what each layer has said, and the sources' keys and
// values.
#pragma once
#include <memory>
#include <vector>

#include "model/decoder.h"
#include "model/mixer.h"

namespace attune {

struct TransformerState : DecoderState {
  void reorder(std::span<const int32_t> parents) override;
  int64_t rows() const override { return static_cast<int64_t>(source_of.size()); }
  int64_t bytes() const override;

  Encoded sources;                                        // which rows there were; not what became of them
  std::vector<Var> memory;                                // per layer: keys and values of the encoder's rows
  std::vector<std::unique_ptr<AttentionState>> said;      // per layer: of what was said
  std::vector<std::unique_ptr<AttentionState>> attended;  // per layer: of what cross-attention read last, or none
  std::vector<int32_t> source_of;                         // per row
  int64_t position = 0;                                   // of the next step
};

}  // namespace attune
