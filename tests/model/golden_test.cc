// The whole model against PyTorch's: the values of every row, the loss and all gradients.
#include "autograd/parameters.h"
#include "checkpoint/tensors.h"
#include "checks.h"
#include "golden/transformer.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

void expect_rows(const Tensor& got, const std::vector<float>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(wanted.size())) << what;
  const auto d = static_cast<size_t>(got.cols());
  for (int64_t i = 0; i < got.rows(); ++i) {
    const float* row = wanted.data() + static_cast<size_t>(i) * d;
    EXPECT_LE(distance(got.row<float>(i), row, d), kRowBound * norm(row, d)) << what << ", row " << i;
  }
}

class GoldenModel : public testing::TestWithParam<const char*> {
 protected:
  GoldenModel() {
    load_parameters(golden_path(GetParam(), "weights"), model_.parameters());
    ctx_.training = true;
    ctx_.tape = &tape_;
  }

  /// One forward and backward pass over the batch.
  double run(Gradients& gradients, Tensor log_probs = {}) {
    arena_.begin_step();
    gradients.start();
    Pass pass{ctx_, model_.parameters(), &gradients};
    LossOptions options;
    options.smoothing = static_cast<float>(golden_.real("label_smoothing"));
    options.scale = 1.0f / static_cast<float>(batch_.target_tokens());
    options.log_probs = log_probs;
    const Var loss = model_.loss(pass, batch_, options);
    const double value = loss.value().as<float>()[0];
    tape_.backward(ctx_, loss);
    gradients.finish();
    return value;
  }

  Rows rows(const char* ids, const char* lengths) const {
    Rows r;
    r.ids = golden_.numbers<int32_t>(ids);
    r.segments = Segments::of_lengths(golden_.numbers<int32_t>(lengths));
    return r;
  }

  Golden golden_{GetParam()};
  Model model_{golden_.options(), golden_.sizes()};
  Batch batch_ = batch_of(rows("source", "source_lengths"), rows("target_in", "target_lengths"),
                          rows("target_out", "target_lengths"));
  Arena arena_;
  Tape tape_;
  Ctx ctx_{arena_};
};

TEST_P(GoldenModel, ForwardIsPyTorchs) {
  ctx_.tape = nullptr;
  Pass pass{ctx_, model_.parameters()};
  const Encoded encoded = model_.encode(pass, batch_.source);
  expect_rows(encoded.x.value(), golden_.floats("encoder"), "encoder");
  const Var decoded = model_.decode(pass, batch_.source, encoded, batch_.read);
  expect_rows(decoded.value(), golden_.floats("decoder"), "decoder");
  expect_rows(model_.logits(pass, decoded).value(), golden_.floats("logits"), "logits");
}

TEST_P(GoldenModel, LossAndGradientsArePyTorchs) {
  Gradients gradients(model_.parameters());
  std::vector<float> log_probs(static_cast<size_t>(batch_.target_tokens()));
  const double wanted = golden_.floats("losses").at(0);
  EXPECT_NEAR(run(gradients, {log_probs.data(), Shape{batch_.target_tokens()}}), wanted, kLossBound * wanted);
  const std::vector<float> wanted_log_probs = golden_.floats("log_probs");
  for (size_t i = 0; i < log_probs.size(); ++i)
    EXPECT_NEAR(log_probs[i], wanted_log_probs[i], kRowBound * std::abs(wanted_log_probs[i])) << "row " << i;

  double key_norm = 0;
  for (const NamedParameter& p : model_.parameters().named()) {
    const auto n = static_cast<size_t>(p.shape.size());
    const float* got = gradients.data() + p.offset;
    if (is_key_bias(p.name)) {  // comes after the weight
      EXPECT_LE(norm(got, n), kGradientBound * key_norm) << p.name;
      continue;
    }
    const std::vector<float> gradient = golden_.floats("gradient/" + p.name);
    ASSERT_EQ(gradient.size(), n) << p.name;
    EXPECT_LE(distance(got, gradient.data(), n), kGradientBound * norm(gradient.data(), n)) << p.name;
    if (p.name.ends_with(".key.weight")) key_norm = norm(gradient.data(), n);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, GoldenModel, testing::Values("post", "pre"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace attune
