// Where an attention layer stands: what mechanisms and the score functions inside them are made from.
#pragma once
#include <cstdint>
#include <numbers>
#include <string>

#include "model/blueprint.h"

namespace attune {

/// How a position scheme takes part in attention layers, and how much of it a mechanism can take.
enum class Relative : uint8_t {
  none,    // not at all: it is added to the embeddings, or there is none
  turned,  // it changes queries and keys before they meet
  scores,  // it changes scores, and maybe values
};

/// Where a mechanism stands, and with how many heads.
struct AttentionSetup {
  int64_t heads = 1, heads_kv = 1, dim = 0;  // dim: columns of a head
  bool causal = false;                       // no row sees a later one
  bool cross = false;                        // keys and values are another sequence's
  float dropout = 0;
  uint64_t site = 0;
  Relative relative = Relative::none;  // what the position scheme does in the layer ...
  std::string position = {};           // ... and its name

  int64_t width() const { return heads * dim; }        // of queries and of the result
  int64_t width_kv() const { return heads_kv * dim; }  // of keys, and of values
  /// Query, key and value matrices begin smaller than others: their outputs meet in a product.
  Init projection() const { return Init::xavier(width(), width(), 1 / std::numbers::sqrt2); }
};

}  // namespace attune
