// Small models of random weights, and batches of random sentences, for tests.
#pragma once
#include <random>
#include <vector>

#include "model/model.h"

namespace attune {

struct TinyShape {
  NormPlace norm = NormPlace::post;
  int64_t heads = 4, heads_kv = 0, d_model = 32;
  int64_t vocabulary = 20;
  Tie tie = Tie::all;
};

inline ModelOptions tiny_options(const TinyShape& shape = {}) {
  ModelOptions o;
  o.encoder_layers = o.decoder_layers = 2;
  o.d_model = shape.d_model;
  o.d_ff = 48;
  o.heads = shape.heads;
  o.heads_kv = shape.heads_kv;
  o.norm = shape.norm;
  o.position = {"sinusoidal"};
  o.tie = shape.tie;
  return o;
}

/// Random weights, wide enough that attention and probabilities are far from even.
inline std::unique_ptr<Model> tiny_model(const TinyShape& shape = {}, uint64_t seed = 1, float scale = 2) {
  auto model = std::make_unique<Model>(
      tiny_options(shape),
      ModelSizes{.source_vocabulary = shape.vocabulary, .target_vocabulary = shape.vocabulary, .longest = 100});
  model->initialize(seed);
  Parameters& p = model->parameters();
  for (int64_t i = 0; i < p.size(); ++i) p.data()[i] *= scale;
  p.repack();
  return model;
}

/// Packed sentences.
struct TinyBatch : Rows {
  static TinyBatch of(const std::vector<std::vector<int32_t>>& sentences) {
    TinyBatch b;
    for (const auto& s : sentences) {
      b.ids.append(s);
      b.segments.add(std::ssize(s));
    }
    return b;
  }
  const Rows& tokens() const { return *this; }
};

/// What is read, and what is to be said after each word of it.
inline Batch batch_of(const Rows& source, const Rows& read, const Rows& right) {
  Batch b;
  b.source = source;
  b.read = read;
  b.target().right = right;
  return b;
}

/// Sentences of 4 to vocabulary - 1, with the end mark.
inline std::vector<std::vector<int32_t>> random_sentences(int count, int longest, int64_t vocabulary, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<std::vector<int32_t>> all;
  for (int i = 0; i < count; ++i) {
    std::vector<int32_t> s(random() % static_cast<unsigned>(longest));
    for (int32_t& id : s) id = 4 + static_cast<int32_t>(random() % static_cast<unsigned>(vocabulary - 4));
    s.push_back(2);
    all.push_back(s);
  }
  return all;
}

/// All of its elements, row by row.
inline std::vector<float> numbers(const Var& x) {
  std::vector<float> out;
  for (int64_t i = 0; i < x.rows(); ++i)
    out.insert(out.end(), x.value().row<float>(i), x.value().row<float>(i) + x.cols());
  return out;
}

}  // namespace attune
