// The gated recurrent unit (Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder"):
// autograd/gru.h has its equations.
#pragma once
#include "autograd/gru.h"
#include "autograd/steps.h"
#include "model/rnn/cell.h"

namespace attune {

class Gru : public Cell {
 public:
  static constexpr CellKind kKind{
      .name = "gru",
      .sentence = "a gate that keeps the state and one that forgets it: as good as an LSTM, with fewer numbers",
      .formula = "h' = (1 - z) tanh(W x + r (U h)) + z h, with r and z sigmoids of x and h",
      .cite = "Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder",
  };
  Gru(const CellSetup& s, const Blueprint& b)
      : in_(s.in),
        width_(s.width),
        input_weight_(b.matrix("input.weight", 3 * s.width, s.in, Init::xavier(s.in, s.width))),
        input_bias_(b.vector("input.bias", 3 * s.width, Init::zeros())),
        weight_(b.matrix("hidden.weight", 3 * s.width, s.width, Init::xavier(s.width, s.width))),
        bias_(b.vector("hidden.bias", 3 * s.width, Init::zeros())) {}

  Var gates(const Pass& pass, const Var& x) const override {
    return linear(pass.ctx, x, pass[input_weight_], pass[input_bias_]);
  }
  int64_t gate_columns() const override { return 3 * width_; }
  int64_t state_width() const override { return width_; }
  Var output(const Pass&, const Var& state) const override { return state; }
  Var run(const Pass& pass, const Var& gates, const Var& first,
          const std::shared_ptr<const StepOrder>& order) const override {
    return gru_sequence(pass.ctx, {gates, pass[weight_], pass[bias_], first, order});
  }
  std::unique_ptr<CellSteps> steps(const Pass& pass, int64_t rows) const override {
    return std::make_unique<Steps>(StepLinear(pass.ctx, pass[weight_], pass[bias_], rows));
  }
  double multiplied_weights() const override {
    return 3 * static_cast<double>(width_) * static_cast<double>(in_ + width_);
  }

 private:
  struct Steps : CellSteps {
    explicit Steps(StepLinear h) : hidden(std::move(h)) {}
    Var operator()(Ctx& ctx, const Var& gates, const Var& state, std::span<const int32_t> index) const override {
      return gru_cell(ctx, gates, hidden(ctx, state, index), state);
    }
    StepLinear hidden;
  };

  int64_t in_, width_;
  int input_weight_, input_bias_, weight_, bias_;
};

}  // namespace attune
