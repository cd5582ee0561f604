// y = x W^T + b as a layer of a model.
#pragma once
#include "autograd/operations/linear.h"
#include "model/blueprint.h"
#include "model/pass.h"

namespace attune {

struct Linear {
  Linear(const Blueprint& b, int64_t out, int64_t in)
      : weight(b.matrix("weight", out, in, Init::xavier(in, out))), bias(b.vector("bias", out, Init::zeros())) {}
  Var operator()(const Pass& pass, const Var& x, Activation f = Activation::none) const {
    return linear(pass.ctx, x, pass[weight], pass[bias], f);  // [n, out]
  }

  int weight, bias;
};

/// Several layers of the same input, computed in one product: their outputs stand side by side. Saved apart.
struct JoinedLinear {
  struct Part {
    std::string name;
    int64_t out = 0;
  };
  JoinedLinear(const Blueprint& b, const std::vector<Part>& parts, int64_t in, Init init)
      : weight(b.joined(names(parts, ".weight"), in, init)), bias(b.joined(names(parts, ".bias"), 0, Init::zeros())) {}
  Var operator()(const Pass& pass, const Var& x) const { return linear(pass.ctx, x, pass[weight], pass[bias]); }

  int weight, bias;

 private:
  static std::vector<ParameterPart> names(const std::vector<Part>& parts, const char* suffix) {
    std::vector<ParameterPart> all;
    for (const Part& p : parts) all.push_back({p.name + suffix, p.out});
    return all;
  }
};

}  // namespace attune
