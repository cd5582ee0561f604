// The output weights of a few words, for logits of these alone: where a search may say no others. Takes the memory of
// their weights, and a product takes the time of so many columns.
#pragma once
#include <span>

#include "model/model.h"

namespace attune {

class OutputColumns {
 public:
  /// Room for so many words, in the arena of `ctx`.
  OutputColumns(Ctx& ctx, const Model& model, int64_t words);
  /// Copies their weights. Several may do so at the same time, on several threads.
  void gather(std::span<const int32_t> words);
  /// hidden [rows, d_model] to logits [rows, words]: the same bits that Model::logits has for these words.
  void logits(const Tensor& hidden, const Tensor& to) const;

 private:
  Tensor weight_;           // [V, d_model]
  const Int8Weight* int8_;  // or this
  Var memory_;
  PackedMatrix columns_;
  PackedInt8 columns_int8_;
};

}  // namespace attune
