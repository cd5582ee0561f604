// Fused attention: 8 heads of 64. No library here has it; the naive form is the textbook's three loops, small only.
#include "kernels/attention/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "laboratory.h"

namespace attune::laboratory {

namespace {

constexpr int64_t kHeads = 8, kDim = 64, kWidth = kHeads * kDim;

/// Everything both passes read and write.
struct Data {
  Segments segments;
  Floats q, k, v, dout, out, dq, dk, dv, log_sum;
  std::unique_ptr<Aligned<char>> scratch;
  kernels::AttentionShape shape;

  Data(const Segments& s, const Mask& mask) : segments(s) {
    const int64_t size = s.rows() * kWidth;
    q = random(size, 1), k = random(size, 2), v = random(size, 3), dout = random(size, 4);
    out = zeros(size), dq = zeros(size), dk = zeros(size), dv = zeros(size), log_sum = zeros(s.rows() * kHeads);
    shape.queries = shape.keys = &segments;
    shape.heads = shape.heads_kv = kHeads;
    shape.dim = kDim;
    shape.scale = 1 / std::sqrt(static_cast<float>(kDim));
    shape.mask = mask;
    scratch = std::make_unique<Aligned<char>>(
        std::max(kernels::attention_scratch(shape, 1, false), kernels::attention_scratch(shape, 1, true)));
  }
  static kernels::Rows rows(const Floats& f) { return {f->data(), kWidth}; }
  void forward() const {
    kernels::attention_forward({shape, rows(q), rows(k), rows(v), rows(out), log_sum->data(), scratch->data()},
                               nullptr);
  }
  void backward() const {
    kernels::AttentionBackward b;
    b.shape = shape;
    b.q = rows(q), b.k = rows(k), b.v = rows(v), b.out = rows(out), b.dout = rows(dout);
    b.log_sum = log_sum->data();
    b.dq = rows(dq), b.dk = rows(dk), b.dv = rows(dv);
    b.scratch = scratch->data();
    kernels::attention_backward(b, nullptr);
  }

  /// The weights of one row of one head, as the paper writes them.
  void naive_weights(int64_t segment, int64_t head, int64_t i, std::vector<float>& w) const {
    const int64_t n = segments.length(segment), base = segments.begin(segment) * kWidth + head * kDim;
    const Mask::Range seen = shape.mask.keys_of(i, n, n, segment);
    float most = -INFINITY, total = 0;
    std::fill(w.begin(), w.end(), 0.0f);
    for (int64_t j = seen.from; j < seen.to; ++j) {
      float s = 0;
      for (int64_t d = 0; d < kDim; ++d) s += q->data()[base + i * kWidth + d] * k->data()[base + j * kWidth + d];
      w[static_cast<size_t>(j)] = s * shape.scale;
      most = std::max(most, s * shape.scale);
    }
    for (int64_t j = seen.from; j < seen.to; ++j)
      total += w[static_cast<size_t>(j)] = std::exp(w[static_cast<size_t>(j)] - most);
    for (int64_t j = seen.from; j < seen.to; ++j) w[static_cast<size_t>(j)] /= total;
  }
  template <class Row>
  void naive_rows(Row row) const {
    for (int64_t s = 0; s < segments.count(); ++s) {
      const int64_t n = segments.length(s);
      std::vector<float> w(static_cast<size_t>(n));
      for (int64_t h = 0; h < kHeads; ++h)
        for (int64_t i = 0; i < n; ++i) {
          naive_weights(s, h, i, w);
          row(segments.begin(s) * kWidth + h * kDim, n, i, w);
        }
    }
  }
  void naive_forward() const {
    naive_rows([&](int64_t base, int64_t n, int64_t i, const std::vector<float>& w) {
      float* o = out->data() + base + i * kWidth;
      std::fill(o, o + kDim, 0.0f);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t d = 0; d < kDim; ++d) o[d] += w[static_cast<size_t>(j)] * v->data()[base + j * kWidth + d];
    });
  }
  void naive_backward() const {
    for (const Floats& g : {dq, dk, dv}) std::fill(g->data(), g->data() + g->size(), 0.0f);
    std::vector<float> dw;
    naive_rows([&](int64_t base, int64_t n, int64_t i, const std::vector<float>& w) {
      const float *g = dout->data() + base + i * kWidth, *qi = q->data() + base + i * kWidth;
      float dot = 0, *dqi = dq->data() + base + i * kWidth;
      dw.assign(w.size(), 0.0f);
      for (int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<size_t>(j);
        for (int64_t d = 0; d < kDim; ++d) {
          dv->data()[base + j * kWidth + d] += w[at] * g[d];
          dw[at] += g[d] * v->data()[base + j * kWidth + d];
        }
        dot += w[at] * dw[at];
      }
      for (int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<size_t>(j);
        const float ds = w[at] * (dw[at] - dot) * shape.scale;
        for (int64_t d = 0; d < kDim; ++d) {
          dqi[d] += ds * k->data()[base + j * kWidth + d];
          dk->data()[base + j * kWidth + d] += ds * qi[d];
        }
      }
    });
  }
};

void add(Experiments& to, const std::string& name, const Segments& segments, const Mask& mask, bool naive = false) {
  for (const bool back : {false, true}) {
    Experiment e;
    e.name = fmt::format("attention {}/{}", back ? "backward" : "forward", name);
    e.flops = (back ? 10.0 : 4.0) * kernels::pairs_seen(mask, segments) * static_cast<double>(kWidth);
    e.contenders = {"ours"};
    if (naive) e.contenders.push_back("naive");
    e.make = [=] {
      const auto data = std::make_shared<Data>(segments, mask);
      data->forward();  // what backward starts from
      std::vector<Run> runs{[=] { back ? data->backward() : data->forward(); }};
      if (naive) runs.push_back([=] { back ? data->naive_backward() : data->naive_forward(); });
      return runs;
    };
    to.push_back(e);
  }
}

}  // namespace

void add_attention(Experiments& to) {
  add(to, "64 full", Segments::single(64), Mask::none(), true);
  for (const int64_t length : {512, 4096}) {
    add(to, fmt::format("{} full", length), Segments::single(length), Mask::none());
    add(to, fmt::format("{} causal", length), Segments::single(length), Mask::past());
  }
  add(to, "16384 causal band 128", Segments::single(16384), Mask::band(128, true));
  Random random(1);
  std::vector<int32_t> lengths(300);
  for (auto& n : lengths) n = static_cast<int32_t>(8 + random.below(23));
  add(to, "300 sentences of 8-30", Segments::of_lengths(lengths), Mask::none());
}

}  // namespace attune::laboratory
