// What the tests of all mechanisms run over: the registries, with every position scheme a mechanism can stand beside.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "autograd/gradcheck.h"
#include "data/batches.h"
#include "model/position/scheme.h"
#include "model/tiny_model.h"

namespace attune {

using IdLists = std::vector<std::vector<int32_t>>;

struct Pair {
  Choice attention, position;
};

/// The kinds with options under which something happens in short sentences; the defaults for all others.
inline std::vector<Choice> variants(const std::string& kind) {
  if (kind == "softmax") return {{kind}, {kind, {{"shared", true}}}};
  if (kind == "band")
    return {{kind, {{"width", int64_t{5}}}}, {kind, {{"width", int64_t{3}}, {"dilation", int64_t{2}}}}};
  if (kind == "sparse")
    return {{kind, {{"atoms", "band 3, global 1, random 1, strided 4"}, {"block", int64_t{2}}}},
            {kind, {{"atoms", "block 1, columns 4 summary 1, band 2 gap 3"}, {"block", int64_t{3}}}},
            {kind, {{"atoms", "columns 4 summary 2"}}},
            {kind, {{"atoms", "chunk 3 memory 2, global at 4, seen 1, strided 2 within 6"}}}};
  if (kind == "longformer")
    return {{kind, {{"window", int64_t{3}}, {"global", int64_t{2}}}},
            {kind, {{"window", int64_t{3}}, {"dilation", int64_t{2}}, {"global", int64_t{2}}}}};
  if (kind == "axial")
    return {{kind, {{"width", int64_t{3}}}}, {kind, {{"width", int64_t{2}}, {"height", int64_t{2}}}}};
  if (kind == "image-1d") return {{kind, {{"block", int64_t{3}}, {"memory", int64_t{2}}}}};
  if (kind == "image-2d")
    return {{kind,
             {{"rows", int64_t{2}},
              {"columns", int64_t{2}},
              {"above", int64_t{1}},
              {"beside", int64_t{1}},
              {"width", int64_t{3}}}}};
  if (kind == "bigbird") {
    const Choice internal{
        kind, {{"block", int64_t{2}}, {"global", int64_t{1}}, {"window", int64_t{1}}, {"random", int64_t{1}}}};
    return {internal};
  }
  if (kind == "heads")
    return {{kind, {{"of", "softmax, linear"}}},
            {kind, {{"of", "sparse(atoms=band 3, global 1;block=2), softmax(score=cosine)"}}}};
  if (kind == "etc") return {{kind, {{"radius", int64_t{1}}, {"global", int64_t{2}}}}};
  if (kind == "bp") return {{kind, {{"near", int64_t{1}}}}};
  if (kind == "sparse-strided") return {{kind, {{"stride", int64_t{3}}}}};
  if (kind == "sparse-fixed") return {{kind, {{"block", int64_t{4}}, {"summary", int64_t{1}}}}};
  if (kind == "routing") return {{kind, {{"clusters", int64_t{4}}, {"window", int64_t{3}}}}};
  if (kind == "adaptive-span") return {{kind, {{"longest", int64_t{9}}, {"ramp", int64_t{4}}, {"start", 0.35}}}};
  if (kind == "persistent")
    return {{kind, {{"size", int64_t{7}}}}, {kind, {{"size", int64_t{130}}, {"feed_forward", true}}}};
  return {{kind}};
}

inline std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const AttentionKind& kind : attention_kinds())
    for (const Choice& attention : variants(kind.name))
      for (const PositionKind& position : position_kinds()) {
        // Other scores are tried beside a few schemes only.
        const bool other = attention.kind == "softmax" && !attention.options.empty();
        const bool linear = attention.text().find(" linear") != std::string::npos;  // some heads are
        const Relative takes = linear ? Relative::none : other ? Relative::turned : kind.relative;
        if (other && position.name != std::string("sinusoidal") && position.name != std::string("rope")) continue;
        // A baseline that is added like others is tried once.
        if (position.name == std::string("counting") && (attention.kind != "softmax" || other)) continue;
        if (position.relative <= takes) pairs.push_back({attention, {position.name}});
      }
  return pairs;
}

inline std::string name_of_pair(const testing::TestParamInfo<Pair>& info) {
  std::string name = info.param.attention.text() + "_" + info.param.position.kind;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

inline const AttentionKind& kind_of(const Pair& pair) {
  for (const AttentionKind& k : attention_kinds())
    if (pair.attention.kind == k.name) return k;
  throw std::logic_error("no such kind");
}

class Contract : public testing::TestWithParam<Pair> {
 protected:
  /// Where a mechanism can't stand in a decoder, softmax stands there for it.
  ModelOptions options(int64_t d_model = 32, int64_t layers = 2) const {
    ModelOptions o = tiny_options({.d_model = d_model});
    o.encoder_layers = o.decoder_layers = layers;
    o.dropout = 0;
    o.position = GetParam().position;
    o.encoder_attention = {GetParam().attention};
    o.decoder_attention = {kind_of(GetParam()).causal ? GetParam().attention : Choice{"softmax"}};
    const std::string text = GetParam().attention.text();
    const bool self_alone = text.find("shared") != std::string::npos || text.find("of=sparse") != std::string::npos;
    const bool cross = kind_of(GetParam()).cross && !self_alone;
    o.cross_attention = {cross ? GetParam().attention : Choice{"softmax"}};
    return o;
  }
  static std::unique_ptr<Model> model(const ModelOptions& o, float scale = 1.5f) {
    auto m = std::make_unique<Model>(o, ModelSizes{.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
    m->initialize(3);
    for (int64_t i = 0; i < m->parameters().size(); ++i) m->parameters().data()[i] *= scale;
    m->parameters().repack();
    return m;
  }
};

inline std::vector<float> encoded(const Model& model, const IdLists& sentences, ThreadPool* pool = nullptr) {
  Arena arena;
  Ctx ctx(arena);
  ctx.pool = pool;
  Pass pass{ctx, model.parameters()};
  const TinyBatch b = TinyBatch::of(sentences);
  return numbers(model.encode(pass, b.tokens()).x);
}

/// Pairs whose sides are the same.
inline Batch copies_of(const IdLists& sentences) {
  IdLists read;
  for (const auto& s : sentences) {
    read.push_back({1});
    read.back().insert(read.back().end(), s.begin(), s.end() - 1);
  }
  const TinyBatch same = TinyBatch::of(sentences);
  Batch batch = batch_of(same, TinyBatch::of(read), same);
  batch.examples.own().resize(sentences.size());
  return batch;
}

/// |a - b| / |b|.
inline double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  double d = 0, size = 0;
  if (a.size() != b.size()) return INFINITY;
  for (size_t i = 0; i < a.size(); ++i) {
    d += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    size += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(d / size);
}

/// The tape's gradients in f64 against differences along random directions, one per parameter; and the f32 form, which
/// is what runs, against it. `op` makes rows of the weights of `model`.
inline void expect_gradients_of_formula(const Model& model, const CheckedOp& op) {
  std::vector<CheckInput> inputs;
  const Parameters& p = model.parameters();
  for (int i = 0; i < p.count(); ++i) {
    const Tensor t = p.value(i);
    inputs.push_back({t.shape, {t.as<float>(), t.as<float>() + t.size()}, !p.is_buffer(i)});
  }
  const CheckRun exact = run_checked(op, inputs, DType::f64), fast = run_checked(op, inputs, DType::f32);
  EXPECT_LT(row_error(fast, exact, inputs), 2e-4);

  const CheckInput cotangent = random_input(exact.shape, 77);  // what run_checked sends back
  const auto value = [&](const std::vector<CheckInput>& at) {
    const CheckRun run = run_checked(op, at, DType::f64);
    double sum = 0;
    for (size_t i = 0; i < run.value.size(); ++i) sum += run.value[i] * cotangent.values[i];
    return sum;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].differentiable) continue;
    const CheckInput direction = random_input(inputs[i].shape, 100 + i);
    double along = 0, size = 0;
    for (size_t j = 0; j < direction.values.size(); ++j) {
      along += direction.values[j] * exact.grads[i][j];
      size += exact.grads[i][j] * exact.grads[i][j];
    }
    const double step = 3e-6;  // a softmax of large scores bends: its third derivative shows at 1e-5
    std::vector<CheckInput> up = inputs, down = inputs;
    for (size_t j = 0; j < direction.values.size(); ++j) {
      up[i].values[j] += step * direction.values[j];
      down[i].values[j] -= step * direction.values[j];
    }
    const double difference = (value(up) - value(down)) / (2 * step);
    EXPECT_NEAR(along, difference, 1e-6 * std::max(1.0, std::sqrt(size))) << p.name(static_cast<int>(i));
  }
}

}  // namespace attune
