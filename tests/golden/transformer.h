// What PyTorch made of two small Transformers in f64, once: tests/golden/make_transformer.py, which says what the files
// hold. The same run of PyTorch's in f32 is off by
//   5e-7 of a row's norm (encoder, decoder, logits), 2e-6 of a tensor's norm (gradients), 3e-7 of the loss (20 steps),
//   7e-6 of the way that a tensor went in 20 steps (weights).
// The bounds leave another order of the same sums several times as much; a norm with epsilon 1e-6 is beyond them.
#pragma once
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "model/model.h"
#include "places.h"

namespace attune {

constexpr double kRowBound = 3e-6, kLossBound = 3e-6, kGradientBound = 3e-5, kMovedBound = 1e-4;

inline std::string golden_path(const std::string& variant, const std::string& what) {
  return fmt::format("{}/tests/golden/transformer-{}.{}.safetensors", test::source_dir(), variant, what);
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
  ModelSizes sizes() const { return {integer("source_vocabulary"), integer("target_vocabulary"), integer("longest")}; }

 private:
  SafetensorsFile file_;
};

inline double norm(const float* x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return std::sqrt(sum);
}

inline double distance(const float* a, const float* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::sqrt(sum);
}

/// Softmax does not see what is added to all keys: no gradient but rounding errors, of which Adam makes full steps.
inline bool is_key_bias(const std::string& name) { return name.ends_with(".key.bias"); }

}  // namespace attune
