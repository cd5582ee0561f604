// A Transformer without its residual connections or feed-forward networks: what is left is right, learns through both
// its forms, and has no parameter of what is not there.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/op_checks.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

ModelOptions without(bool residual, bool feed_forward, NormPlace norm) {
  ModelOptions o = tiny_options({.norm = norm, .heads = 2, .d_model = 4});
  o.encoder_layers = o.decoder_layers = 1;
  o.d_ff = 3;
  o.activation = "gelu";  // no kinks for a difference to step over
  o.residual = residual;
  o.feed_forward = feed_forward;
  return o;
}

const ModelSizes kSizes{9, 9, 30};

TEST(PartsTakenAway, GradientsStepsAndParameters) {
  const TinyBatch x = TinyBatch::of({{5, 6, 2}, {2}}), y = TinyBatch::of({{1, 4, 5}, {1, 7, 6}});
  for (const bool residual : {true, false})
    for (const bool feed_forward : {true, false})
      for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
        Model m(without(residual, feed_forward, norm), kSizes);
        m.initialize(3);
        const Parameters& p = m.parameters();
        for (const NamedParameter& n : p.named())
          EXPECT_TRUE(feed_forward || n.name.find("feed_forward") == std::string::npos) << n.name;
        std::vector<CheckInput> inputs;
        for (int i = 0; i < p.count(); ++i) inputs.push_back(random_input(p.value(i).shape, static_cast<uint64_t>(i)));
        const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& v) {
          Pass pass{ctx, p};
          pass.substitutes = v;
          return m.decode(pass, x, y);
        };
        EXPECT_LT(gradient_error(op, inputs), 1e-5) << residual << feed_forward;

        Arena arena;
        Ctx ctx(arena);
        Pass pass{ctx, p};
        const std::vector<float> whole = numbers(m.decode(pass, x, y));
        const auto state = m.start(pass, x, 10);
        for (size_t t = 0; t < 3; ++t) {
          const std::vector<float> step = numbers(m.step(pass, *state, std::vector<int32_t>{y.ids[t], y.ids[3 + t]}));
          for (size_t s = 0; s < 2; ++s)
            for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(step[s * 4 + j], whole[(s * 3 + t) * 4 + j], 1e-4);
        }
      }
}

/// A layer of attention alone is that: with values that are zero nothing is left but the bias of the last norm; with a
/// residual connection the rows themselves are.
TEST(PartsTakenAway, WithoutAResidualConnectionRowsAreForgotten) {
  for (const bool residual : {true, false}) {
    Model m(without(residual, false, NormPlace::post), kSizes);
    m.initialize(3);
    Parameters& p = m.parameters();
    for (const NamedParameter& n : p.named()) {
      const bool silent = n.name == "encoder.0.self.value.weight" || n.name == "encoder.0.self.value.bias" ||
                          n.name == "encoder.0.self.output.bias";
      for (int64_t i = 0; i < n.shape.size() && silent; ++i) p.data()[n.offset + i] = 0;
      for (int64_t i = 0; i < n.shape.size() && n.name == "encoder.0.self.norm.bias"; ++i)
        p.data()[n.offset + i] = static_cast<float>(i);
    }
    p.repack();
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, p};
    const TinyBatch x = TinyBatch::of({{5, 6, 2}});
    const std::vector<float> rows = numbers(m.encode(pass, x).x);
    double far = 0;
    for (size_t i = 0; i < rows.size(); ++i) far += std::abs(static_cast<double>(rows[i]) - static_cast<double>(i % 4));
    EXPECT_EQ(far > 1, residual);
    if (!residual) { EXPECT_NEAR(far, 0, 1e-6); }
  }
}

}  // namespace
}  // namespace attune
