// The residual connection around every sublayer, followed by layer normalisation as published (Vaswani et al. 2017,
// section 3.1: LayerNorm(x + Sublayer(x))), or with the norm before the sublayer (Xiong et al. 2020: x +
// Sublayer(LayerNorm(x))), which trains deep models without warm-up.
#pragma once
#include <array>

#include "autograd/operations/residual_norm.h"
#include "model/blueprint.h"
#include "model/pass.h"
#include "recipe/settings.h"

namespace attune {

struct LayerNorm {
  LayerNorm(const Blueprint& b, int64_t d)
      : weight(b.vector("weight", d, Init::ones())), bias(b.vector("bias", d, Init::zeros())) {}
  NormWeights operator()(const Pass& pass) const { return {pass[weight], pass[bias]}; }

  int weight, bias;
};

/// What belongs to the residual connection of one sublayer.
struct Residual {
  Residual(const Blueprint& b, const ModelOptions& o)
      : norm(b.at("norm"), o.d_model),
        place(o.norm),
        adds(o.residual),
        rate(static_cast<float>(o.dropout)),
        skip(o.layer_dropout),
        site(b.site()) {}
  /// LayerDrop (Fan et al. 2020, "Reducing Transformer depth on demand with structured dropout"): whether the batch at
  /// hand goes around the sublayer, and its norm. All shards of a batch decide alike.
  bool skipped(const Ctx& ctx) const {
    if (!ctx.training || skip <= 0 || ctx.arena.rehearsing()) return false;
    return Random(mix(mix(mix(ctx.seed), ctx.step), site ^ kSkips)).uniform() < skip;
  }

  static constexpr uint64_t kSkips = uint64_t{1} << 63;  // beside the sites of dropout
  LayerNorm norm;
  NormPlace place;
  bool adds;  // false: what a sublayer makes takes the place of what it read
  float rate;
  double skip;
  uint64_t site;
};

/// The stream of rows that runs through all sublayers. Sum, dropout and norm are one operation either way: a pre-norm
/// stream leaves the sum to the norm of the next sublayer.
class Stream {
 public:
  explicit Stream(Var x) : x_(std::move(x)) {}

  /// What the sublayer reads.
  Var enter(const Pass& pass, const Residual& r) {
    if (r.place == NormPlace::post) return x_;
    return settle(pass, r.norm);
  }
  /// Adds what the sublayer made of it.
  void leave(const Pass& pass, const Residual& r, Var sublayer) {
    if (!r.adds) {
      x_ = dropped(pass, sublayer, r.rate, r.site);
      if (r.place == NormPlace::post) x_ = residual_norm(pass.ctx, x_, {}, r.norm(pass), {}).y;
      return;
    }
    const Dropout dropout = pass.ctx.dropout(r.rate, r.site);
    if (r.place == NormPlace::post) {
      x_ = residual_norm(pass.ctx, x_, sublayer, r.norm(pass), dropout).y;
    } else {
      pending_ = std::move(sublayer);
      dropout_ = dropout;
    }
  }
  /// What it consists of.
  std::array<Var*, 2> vars() { return {&x_, &pending_}; }
  /// The stream's end; a pre-norm one has a norm there.
  Var finish(const Pass& pass, const LayerNorm* norm) { return norm ? settle(pass, *norm) : x_; }

 private:
  Var settle(const Pass& pass, const LayerNorm& norm) {
    ResidualNorm both = residual_norm(pass.ctx, x_, pending_, norm(pass), dropout_);
    x_ = std::move(both.sum);
    pending_ = {};
    dropout_ = {};
    return std::move(both.y);
  }

  Var x_, pending_;
  Dropout dropout_;
};

}  // namespace attune
