// One pass through a model: the context its operations run in, its weights, and where their gradients go.
#pragma once
#include <string>
#include <vector>

#include "autograd/parameters.h"

namespace attune {

/// A request to see what one attention layer attended to, while a pass over a single sentence goes by it.
struct AttentionTap {
  std::string place;  // "decoder.3.cross", "encoder.0.self"
  int64_t heads = 0, queries = 0, keys = 0;
  std::vector<float> weights = {};  // [heads, queries, keys], filled by the pass
};

struct Pass {
  Ctx& ctx;
  const Parameters& parameters;
  Gradients* gradients = nullptr;  // none: nothing is learned
  AttentionTap* tap = nullptr;

  Var operator[](int i) const { return parameters.var(ctx, i, gradients); }
};

/// Tokens of a packed batch or of a shard of it. What it points to outlives the pass and its backward.
struct Tokens {
  Tensor ids = {};  // [n], i32
  const Segments* segments = nullptr;
  int64_t first_row = 0;  // the place of its first row in the whole batch
};

}  // namespace attune
