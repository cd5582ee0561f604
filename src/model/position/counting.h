// Positions as plain numbers, the way nobody does it: 0, 1, 2 and so on, or from 0 to 1. Baselines, which show what
// waves and tables are for.
#pragma once
#include "autograd/operations/matmul.h"
#include "model/position/scheme.h"

namespace attune {

class CountingPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "counting",
      .sentence = "the position itself, as a number along one learned direction: a baseline",
      .formula = "x_pos + pos u; normalised: x_pos + pos / (longest - 1) u",
      .cite = "Vaswani et al. 2017, Attention Is All You Need, section 3.5 (what waves are better than)",
      .details =
          "u, [d], is learned and begins normal with deviation 1 / sqrt(d). Numbers grow with the text, so that words "
          "drown in them. normalised = true divides by the longest that a text may be (data.max_length and the "
          "marks), not by the length of the one at hand, which a decoder does not know: neighbours are then hardly "
          "apart.",
  };
  struct Options {
    bool normalised = false;
    template <class V>
    void fields(V& v) {
      v("normalised", normalised, "from 0 to 1 instead of 0, 1, 2, ...");
    }
  };
  CountingPosition(const Options& o, const PositionSetup& setup, const Blueprint& b)
      : step_(o.normalised ? 1.0 / static_cast<double>(std::max<int64_t>(1, setup.longest - 1)) : 1.0),
        direction_(b.table("position.direction", 1, setup.d_model,
                           Init::normal(1 / std::sqrt(static_cast<double>(setup.d_model))))) {}
  Var table(const Pass& pass, int64_t positions) const override {
    Ctx& ctx = pass.ctx;
    const Var numbers = ctx.make(Shape{positions, 1}, pass.dtype(), {});
    ctx.run([&] {
      by_type(numbers.dtype(), [&](auto t) {
        using T = decltype(t);
        for (int64_t i = 0; i < positions; ++i)
          numbers.value().template as<T>()[i] = static_cast<T>(static_cast<double>(i) * step_);
      });
    });
    return matmul(ctx, numbers, pass[direction_]);
  }

 private:
  double step_;
  int direction_;
};

}  // namespace attune
