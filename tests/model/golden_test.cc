// The whole model against PyTorch's: values, gradients and training of two small Transformers, made once in f64 by
// tests/golden/make_transformer.py, which says what the files hold. The same run of PyTorch's in f32 is off by
//   5e-7 of a row's norm (encoder, decoder, logits), 2e-6 of a tensor's norm (gradients), 3e-7 of the loss (20 steps),
//   7e-6 of the way that a tensor went in 20 steps (weights).
// The bounds leave another order of the same sums several times as much; a norm with epsilon 1e-6 is beyond them.
#include "autograd/parameters.h"
#include "checkpoint/tensors.h"
#include "checks.h"
#include "kernels/adam.h"
#include "model/transformer.h"

namespace attune {
namespace {

constexpr double kRowBound = 3e-6, kLossBound = 3e-6, kGradientBound = 3e-5, kMovedBound = 1e-4;

std::string golden_path(const std::string& variant, const std::string& what) {
  return fmt::format("{}/tests/golden/transformer-{}.{}.safetensors", ATTUNE_SOURCE_DIR, variant, what);
}

/// What PyTorch made of a variant.
class Golden {
 public:
  explicit Golden(const std::string& variant) : file_(golden_path(variant, "golden")) {}

  template <class T>
  std::vector<T> numbers(const std::string& name) const {
    const StoredTensor* t = file_.find(name);
    if (!t || t->type != (std::is_same_v<T, float> ? Stored::f32 : Stored::i32))
      fail(ErrorKind::model, "{}: no tensor '{}' of that type", file_.path(), name);
    std::vector<T> out(static_cast<size_t>(t->size()));
    file_.read(*t, out.data());
    return out;
  }
  std::vector<float> floats(const std::string& name) const { return numbers<float>(name); }
  const std::string& text(const std::string& key) const { return file_.metadata().at(key); }
  int64_t integer(const std::string& key) const { return std::stoll(text(key)); }
  double real(const std::string& key) const { return std::stod(text(key)); }

  ModelOptions options() const {
    ModelOptions o;
    o.encoder_layers = integer("encoder_layers");
    o.decoder_layers = integer("decoder_layers");
    o.d_model = integer("d_model");
    o.d_ff = integer("d_ff");
    o.heads = integer("heads");
    o.dropout = 0;
    o.norm = text("norm") == "pre" ? NormPlace::pre : NormPlace::post;
    o.activation = text("activation");
    o.position = Choice{text("position")};
    o.tie = text("tie") == "all" ? Tie::all : Tie::none;
    return o;
  }
  Vocabularies sizes() const {
    return {integer("source_vocabulary"), integer("target_vocabulary"), integer("longest")};
  }

 private:
  SafetensorsFile file_;
};

double norm(const float* x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return std::sqrt(sum);
}

double distance(const float* a, const float* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::sqrt(sum);
}

void expect_rows(const Tensor& got, const std::vector<float>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(wanted.size())) << what;
  const auto d = static_cast<size_t>(got.cols());
  for (int64_t i = 0; i < got.rows(); ++i) {
    const float* row = wanted.data() + static_cast<size_t>(i) * d;
    EXPECT_LE(distance(got.row<float>(i), row, d), kRowBound * norm(row, d)) << what << ", row " << i;
  }
}

/// Softmax does not see what is added to all keys: no gradient but rounding errors, of which Adam makes full steps.
bool is_key_bias(const std::string& name) { return name.ends_with(".key.bias"); }

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
    options.scale = 1.0f / static_cast<float>(target_out_.size());
    options.log_probs = log_probs;
    const Var loss =
        model_.loss(pass, {tokens(source_, sources_), tokens(target_in_, targets_), ids(target_out_)}, options);
    const double value = loss.value().as<float>()[0];
    tape_.backward(ctx_, loss);
    gradients.finish();
    return value;
  }

  static Tensor ids(const std::vector<int32_t>& v) { return {v.data(), Shape{static_cast<int64_t>(v.size())}}; }
  static Tokens tokens(const std::vector<int32_t>& v, const Segments& s) { return {ids(v), &s}; }

  Golden golden_{GetParam()};
  Transformer model_{golden_.options(), golden_.sizes()};
  std::vector<int32_t> source_ = golden_.numbers<int32_t>("source"), target_in_ = golden_.numbers<int32_t>("target_in"),
                       target_out_ = golden_.numbers<int32_t>("target_out");
  Segments sources_ = Segments::of_lengths(golden_.numbers<int32_t>("source_lengths")),
           targets_ = Segments::of_lengths(golden_.numbers<int32_t>("target_lengths"));
  Arena arena_;
  Tape tape_;
  Ctx ctx_{arena_};
};

TEST_P(GoldenModel, ForwardIsPyTorchs) {
  ctx_.tape = nullptr;
  Pass pass{ctx_, model_.parameters()};
  const Var encoded = model_.encode(pass, tokens(source_, sources_));
  expect_rows(encoded.value(), golden_.floats("encoder"), "encoder");
  const Var decoded = model_.decode(pass, tokens(target_in_, targets_), encoded, &sources_);
  expect_rows(decoded.value(), golden_.floats("decoder"), "decoder");
  expect_rows(model_.logits(pass, decoded).value(), golden_.floats("logits"), "logits");
}

TEST_P(GoldenModel, LossAndGradientsArePyTorchs) {
  Gradients gradients(model_.parameters());
  std::vector<float> log_probs(target_out_.size());
  const double wanted = golden_.floats("losses").at(0);
  EXPECT_NEAR(run(gradients, {log_probs.data(), Shape{targets_.rows()}}), wanted, kLossBound * wanted);
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

TEST_P(GoldenModel, TwentyStepsOfAdamArePyTorchs) {
  Parameters& parameters = model_.parameters();
  const auto size = static_cast<size_t>(parameters.size());
  const std::vector<float> before(parameters.data(), parameters.data() + size);
  std::vector<float> first(size), second(size);
  Gradients gradients(parameters);
  const std::vector<float> losses = golden_.floats("losses");
  ASSERT_EQ(static_cast<int64_t>(losses.size()), golden_.integer("steps"));
  const double warmup = golden_.real("warmup");
  for (int64_t step = 1; step <= golden_.integer("steps"); ++step) {
    const double wanted = losses[static_cast<size_t>(step - 1)];
    EXPECT_NEAR(run(gradients), wanted, kLossBound * wanted) << "step " << step;
    kernels::AdamStep adam;
    adam.step = step;
    adam.rate = golden_.real("learning_rate") * std::min(step / warmup, std::sqrt(warmup / step));
    adam.beta1 = golden_.real("beta1");
    adam.beta2 = golden_.real("beta2");
    adam.epsilon = golden_.real("epsilon");
    kernels::adam(adam, {parameters.data(), gradients.data(), first.data(), second.data(), parameters.size()});
    parameters.repack();
  }
  for (const NamedParameter& p : parameters.named()) {
    if (is_key_bias(p.name)) continue;
    const auto n = static_cast<size_t>(p.shape.size());
    const std::vector<float> after = golden_.floats("after/" + p.name);
    ASSERT_EQ(after.size(), n) << p.name;
    const double moved = distance(after.data(), before.data() + p.offset, n);
    EXPECT_LE(distance(parameters.data() + p.offset, after.data(), n), kMovedBound * moved) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, GoldenModel, testing::Values("post", "pre"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace attune
