// What translating takes at least: operations and bytes of weights, and how fast this machine reads bytes. `bench
// decode` divides by it.
#pragma once
#include <string>
#include <vector>

#include "inference/model_files.h"

namespace attune {

/// Tokens of a line with its end mark, and of its translation without.
struct DecodedLine {
  int32_t source = 0, target = 0;
};

class DecodeWork {
 public:
  /// Reads the model. Later calls need no more than numbers.
  explicit DecodeWork(const std::string& model);

  /// "f32", "f16" or "int8": how the file stores most of its weights.
  const std::string& type() const { return type_; }
  /// From now on logits are of as many words as the model's shortlist, if it has one, has for these lines in the mean.
  void use_shortlist(const std::vector<std::string>& lines);
  int32_t source_tokens(const std::string& line) const;
  /// Of encoder and decoder. The first step has one row, the others a row for each hypothesis.
  struct Flops {
    double encoder = 0, decoder = 0;
  };
  Flops flops(const std::vector<DecodedLine>& lines, int beam) const;
  /// Of the weights that the encoder, and each step of the decoder, reads.
  double encoder_bytes() const { return source_weights_ * weight_bytes_; }
  double step_bytes() const { return target_weights_ * weight_bytes_; }
  /// What a decoder remembers of a line when it has said its translation, with so many hypotheses.
  int64_t cache_bytes(const DecodedLine& line, int beam) const;

 private:
  OpenedModel opened_;
  std::string type_;
  double weight_bytes_ = 4, source_weights_ = 0, target_weights_ = 0;
};

/// GB/s at which so many threads read so many bytes again and again: those of a cache if they fit one. Takes about
/// 50 ms.
double read_bandwidth(double bytes, int threads);

}  // namespace attune
