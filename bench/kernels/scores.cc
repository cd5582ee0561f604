// Attention with other scores and normalisers, causal, 8 heads of 64, beside the fused one. Operations are counted as
// that one's are, whatever the score: additive scores spend theirs on a tanh for every column of every pair.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/attention/score_attention.h"
#include "laboratory.h"

namespace attune::laboratory {

namespace {

constexpr int64_t kHeads = 8, kDim = 64, kWidth = kHeads * kDim;

struct Data {
  Segments segments;
  Floats q, k, v, dout, out, dq, dk, dv, log_sum, vector, bias, dvector, dbias;
  std::unique_ptr<Aligned<char>> scratch;
  kernels::ScoreShape shape;

  Data(const Segments& s, ScoreKind score, const Normaliser& normaliser) : segments(s) {
    const int64_t size = s.rows() * kWidth;
    q = random(size, 1), k = random(size, 2), v = random(size, 3), dout = random(size, 4);
    out = zeros(size), dq = zeros(size), dk = zeros(size), dv = zeros(size), log_sum = zeros(s.rows() * kHeads);
    vector = random(kWidth, 5), bias = random(kWidth, 6), dvector = zeros(kWidth), dbias = zeros(kWidth);
    shape.attention = {&segments,   &segments, kHeads, kHeads, kDim, 1 / std::sqrt(static_cast<float>(kDim)),
                       Mask::past()};
    shape.rule = {score, normaliser, vector->data(), bias->data()};
    int64_t bytes = 0;
    for (const bool back : {false, true})
      bytes = std::max({bytes, kernels::attention_scratch(shape.attention, 1, back),
                        kernels::score_attention_scratch(shape, 1, back)});
    scratch = std::make_unique<Aligned<char>>(bytes);
  }
  static kernels::Rows rows(const Floats& f) { return {f->data(), kWidth}; }
  void forward() const {
    kernels::score_attention_forward({shape, rows(q), rows(k), rows(v), rows(out), scratch->data()}, nullptr);
  }
  void backward() const {
    kernels::ScoreBackward b;
    b.shape = shape;
    b.q = rows(q), b.k = rows(k), b.v = rows(v), b.dout = rows(dout);
    b.dq = rows(dq), b.dk = rows(dk), b.dv = rows(dv);
    b.dvector = dvector->data(), b.dbias = dbias->data();
    b.scratch = scratch->data();
    kernels::score_attention_backward(b, nullptr);
  }
  void fused_forward() const {
    kernels::attention_forward(
        {shape.attention, rows(q), rows(k), rows(v), rows(out), log_sum->data(), scratch->data()}, nullptr);
  }
  void fused_backward() const {
    kernels::AttentionBackward b;
    b.shape = shape.attention;
    b.q = rows(q), b.k = rows(k), b.v = rows(v), b.out = rows(out), b.dout = rows(dout);
    b.log_sum = log_sum->data();
    b.dq = rows(dq), b.dk = rows(dk), b.dv = rows(dv);
    b.scratch = scratch->data();
    kernels::attention_backward(b, nullptr);
  }
};

void add(Experiments& to, const std::string& name, const Segments& segments, ScoreKind score,
         const Normaliser& normaliser) {
  for (const bool back : {false, true}) {
    Experiment e;
    e.name = fmt::format("scores {}/{}", back ? "backward" : "forward", name);
    e.flops = (back ? 10.0 : 4.0) * kernels::pairs_seen(Mask::past(), segments) * static_cast<double>(kWidth);
    e.contenders = {"ours", "fused"};
    e.make = [=]() -> std::vector<Run> {
      const auto data = std::make_shared<Data>(segments, score, normaliser);
      data->fused_forward();  // what its backward starts from
      return {[=] { back ? data->backward() : data->forward(); },
              [=] { back ? data->fused_backward() : data->fused_forward(); }};
    };
    to.push_back(e);
  }
}

}  // namespace

void add_scores(Experiments& to) {
  const Normaliser top_k{NormaliserKind::top_k, 16}, sparsemax{NormaliserKind::sparsemax};
  for (const int64_t length : {512, 4096}) {
    const Segments one = Segments::single(length);
    add(to, fmt::format("{} dot softmax", length), one, ScoreKind::dot, {});
    add(to, fmt::format("{} dot top-16", length), one, ScoreKind::dot, top_k);
    add(to, fmt::format("{} dot sparsemax", length), one, ScoreKind::dot, sparsemax);
    add(to, fmt::format("{} l2 softmax", length), one, ScoreKind::l2, {});
  }
  add(to, "512 additive softmax", Segments::single(512), ScoreKind::additive, {});
  add(to, "512 additive sparsemax", Segments::single(512), ScoreKind::additive, sparsemax);
  add(to, "100 x 24 dot softmax", Segments::of_lengths(std::vector<int32_t>(100, 24)), ScoreKind::dot, {});
  add(to, "100 x 24 additive softmax", Segments::of_lengths(std::vector<int32_t>(100, 24)), ScoreKind::additive, {});
}

}  // namespace attune::laboratory
