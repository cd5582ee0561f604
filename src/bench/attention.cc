// Attention, forward and backward, timed between measurements of the peak.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "attune/bench.h"
#include "base/error.h"
#include "bench/layer.h"
#include "bench/timing.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/linear_attention.h"

namespace attune {

namespace {

/// What every mechanism reads and writes: one matrix each, heads side by side.
struct Matrices {
  int64_t rows, width;
  Aligned<float> q, k, v, dout, out, dq, dk, dv, per_row;  // per_row: a number per row and head

  Matrices(int64_t n, int64_t heads, int64_t dim)
      : rows(n),
        width(heads * dim),
        q(random_floats(n * width, 1)),
        k(random_floats(n * width, 2)),
        v(random_floats(n * width, 3)),
        dout(random_floats(n * width, 4)),
        out(n * width),
        dq(n * width),
        dk(n * width),
        dv(n * width),
        per_row(n * heads) {}
  kernels::Rows operator()(const Aligned<float>& x) const { return {x.data(), width}; }
  /// The fields that both kinds of backward passes have.
  template <class Backward>
  Backward backward() const {
    Backward b;
    b.q = (*this)(q);
    b.k = (*this)(k);
    b.v = (*this)(v);
    b.out = (*this)(out);
    b.dout = (*this)(dout);
    b.dq = (*this)(dq);
    b.dk = (*this)(dk);
    b.dv = (*this)(dv);
    return b;
  }
  int64_t bytes() const { return 4 * (8 * rows * width + per_row.size()); }
};

AttentionFigure timed(const AttentionBench& bench, double flops, FunctionRef<void()> forward,
                      FunctionRef<void()> backward) {
  const Speed f = measure_speed(flops, bench.threads, bench.seconds, forward);
  const Speed b = measure_speed(2.5 * flops, bench.threads, bench.seconds, backward);
  AttentionFigure figure;
  figure.forward_gflops = f.gflops;
  figure.forward_share_of_peak = f.share_of_peak;
  figure.forward_ms = flops * 1e-6 / f.gflops;
  figure.backward_gflops = b.gflops;
  figure.backward_share_of_peak = b.share_of_peak;
  figure.backward_ms = 2.5 * flops * 1e-6 / b.gflops;
  return figure;
}

AttentionFigure measure_softmax(const AttentionBench& bench, int64_t band, const Segments& segments, ThreadPool& pool) {
  const Matrices x(segments.rows(), bench.heads, bench.dim);
  kernels::AttentionShape shape;
  shape.queries = shape.keys = &segments;
  shape.heads = shape.heads_kv = bench.heads;
  shape.dim = bench.dim;
  shape.scale = 1 / std::sqrt(static_cast<float>(bench.dim));
  shape.mask = band ? Mask::band(band, bench.causal) : bench.causal ? Mask::past() : Mask::none();
  shape.dropout.rate = static_cast<float>(bench.dropout);
  const Aligned<char> scratch(std::max(kernels::attention_scratch(shape, bench.threads, false),
                                       kernels::attention_scratch(shape, bench.threads, true)));
  const kernels::AttentionForward forward{shape, x(x.q), x(x.k), x(x.v), x(x.out), x.per_row.data(), scratch.data()};
  auto backward = x.backward<kernels::AttentionBackward>();
  backward.shape = shape;
  backward.log_sum = x.per_row.data();
  backward.scratch = scratch.data();
  AttentionFigure figure = timed(
      bench, 4.0 * kernels::pairs_seen(shape.mask, segments) * static_cast<double>(x.width),
      [&] { kernels::attention_forward(forward, &pool); }, [&] { kernels::attention_backward(backward, &pool); });
  figure.peak_mb = static_cast<double>(scratch.size() + x.bytes()) / (1 << 20);
  return figure;
}

AttentionFigure measure_linear(const AttentionBench& bench, const Segments& segments, ThreadPool& pool) {
  const Matrices x(segments.rows(), bench.heads, bench.dim);
  kernels::LinearShape shape;
  shape.queries = shape.keys = &segments;
  shape.heads = shape.heads_kv = bench.heads;
  shape.dim = shape.value_dim = bench.dim;
  shape.causal = bench.causal;
  const Aligned<char> scratch(std::max(kernels::linear_scratch(shape, bench.threads, false),
                                       kernels::linear_scratch(shape, bench.threads, true)));
  const kernels::LinearForward forward{shape,    x(x.q),           x(x.k),  x(x.v),
                                       x(x.out), x.per_row.data(), nullptr, scratch.data()};
  auto backward = x.backward<kernels::LinearBackward>();
  backward.shape = shape;
  backward.inverse = x.per_row.data();
  backward.scratch = scratch.data();
  AttentionFigure figure = timed(
      bench, 4.0 * static_cast<double>(x.rows * x.width * bench.dim), [&] { kernels::linear_forward(forward, &pool); },
      [&] { kernels::linear_backward(backward, &pool); });
  figure.peak_mb = static_cast<double>(scratch.size() + x.bytes()) / (1 << 20);
  return figure;
}

/// Of routing clusters and windows of about the root of the length (Roy et al. 2020, section 4.1).
Choice with_usual_sizes(Choice choice, int64_t length) {
  const auto root = std::max<int64_t>(1, std::llround(std::sqrt(static_cast<double>(length))));
  if (choice.kind == "routing" && choice.options.empty()) choice.options = {{"clusters", root}, {"window", root}};
  return choice;
}

/// Any mechanism, as a model runs it.
AttentionFigure measure_layer(const AttentionBench& bench, const Choice& choice, const Segments& segments,
                              ThreadPool& pool) {
  AttentionSetup setup{.heads = bench.heads, .heads_kv = bench.heads, .dim = bench.dim, .causal = bench.causal};
  setup.dropout = static_cast<float>(bench.dropout);
  BenchLayer layer(with_usual_sizes(choice, segments.longest), setup, segments, pool);
  const double flops = layer.operations();
  AttentionFigure figure = timed(
      bench, flops, [&] { layer.forward(); }, [&] { layer.forward_and_backward(); });
  figure.backward_ms = std::max(figure.backward_ms - figure.forward_ms, 1e-6);  // what was timed is both
  const double gflops = 2.5 * flops * 1e-6 / figure.backward_ms;
  figure.backward_share_of_peak *= gflops / figure.backward_gflops;
  figure.backward_gflops = gflops;
  figure.peak_mb = static_cast<double>(layer.bytes()) / (1 << 20);
  return figure;
}

struct TimedMechanism {
  std::string name;
  int64_t band = 0;
  Choice layer = {};  // what a model would be told, of those that are timed as a layer
};

/// "softmax", "linear", "band:128", or what a layer can be: "routing", "sparse-fixed(block=128;summary=8)".
TimedMechanism parse_mechanism(const std::string& text) {
  if (text == "softmax" || text == "linear") return {text};
  constexpr std::string_view prefix = "band:";
  TimedMechanism m{"band"};
  if (text.starts_with(prefix)) {
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data() + prefix.size(), end, m.band);
    if (r.ec == std::errc{} && r.ptr == end && m.band >= 1 && m.band <= (1 << 20)) return m;
  }
  const std::vector<AttentionKind>& kinds = attention_kinds();
  if (Choice c; Choice::parse(text, c) &&
                std::any_of(kinds.begin(), kinds.end(), [&](const AttentionKind& k) { return c.kind == k.name; }))
    return {text, 0, c};
  fail(ErrorKind::usage,
       "mechanism '{}' can't be measured\n  fix: softmax, band:W (say band:128), linear, or one of `attune info "
       "mechanisms`, such as bigbird(block=64;random=3)",
       text);
}

std::vector<TimedMechanism> mechanisms_of(const AttentionBench& bench) {
  std::vector<TimedMechanism> all;
  for (const std::string& text : bench.mechanisms) all.push_back(parse_mechanism(text));
  if (all.empty()) all.push_back({bench.band ? "band" : "softmax", bench.band});
  for (const TimedMechanism& m : all)
    if (m.name == "linear" && bench.dropout > 0)
      fail(ErrorKind::usage, "linear attention has no weights to drop\n  fix: leave out the dropout");
  return all;
}

AttentionFigure measure_mechanism(const AttentionBench& bench, const TimedMechanism& m, const Segments& segments,
                                  ThreadPool& pool) {
  if (m.name == "linear") return measure_linear(bench, segments, pool);
  if (!m.layer.kind.empty()) return measure_layer(bench, m.layer, segments, pool);
  return measure_softmax(bench, m.band, segments, pool);
}

void check_bench(const AttentionBench& bench) {
  check(bench.threads >= 1, "bench attention", "{} threads", bench.threads);
  check(bench.seconds > 0, "bench attention", "{} seconds per figure", bench.seconds);
  check(bench.heads >= 1 && bench.dim >= 1, "bench attention", "{} heads of {}", bench.heads, bench.dim);
  check(bench.band >= 0, "bench attention", "a band of {}", bench.band);
  check(bench.dropout >= 0 && bench.dropout < 1, "bench attention", "a dropout rate of {}", bench.dropout);
  for (int64_t length : bench.lengths)
    check(length >= 1 && length <= (1 << 20), "bench attention", "a length of {}, not 1 to {}", length, 1 << 20);
}

/// The exponent of the power of the length that fits best, by least squares of the logarithms.
double fitted_exponent(const std::map<int64_t, double>& ms) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(ms.size());
  for (const auto& [length, time] : ms) {
    const double a = std::log(static_cast<double>(length)), b = std::log(time);
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

}  // namespace

std::vector<AttentionFigure> bench_attention(const AttentionBench& bench) {
  check_bench(bench);
  const std::vector<TimedMechanism> mechanisms = mechanisms_of(bench);
  ThreadPool pool(bench.threads);
  std::vector<AttentionFigure> figures;
  const LoadMeter meter;
  const auto measure_all = [&](const Segments& segments, int64_t length) {
    for (const TimedMechanism& m : mechanisms) {
      AttentionFigure f = measure_mechanism(bench, m, segments, pool);
      f.mechanism = m.name;
      f.band = m.band;
      f.length = length;
      f.rows = segments.rows();
      f.causal = bench.causal;
      f.pair_share = f.forward_gflops * f.forward_ms * 1e6 /
                     (4.0 * static_cast<double>(bench.heads * bench.dim) *
                      kernels::pairs_seen(bench.causal ? Mask::past() : Mask::none(), segments));
      figures.push_back(f);
    }
  };
  for (int64_t length : bench.lengths) {
    const int64_t count = std::max<int64_t>(1, bench.rows / length);
    measure_all(Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(count), static_cast<int32_t>(length))),
                length);
  }
  if (bench.sentences > 0) {
    Random random(1);
    std::vector<int32_t> lengths(static_cast<size_t>(bench.sentences));
    for (auto& n : lengths) n = static_cast<int32_t>(8 + random.below(23));
    measure_all(Segments::of_lengths(lengths), 0);
  }
  note_load(meter, figures);
  return figures;
}

std::vector<AttentionGrowth> attention_growth(const std::vector<AttentionFigure>& figures, int64_t from) {
  std::map<int64_t, double> softmax;  // milliseconds of one sequence, by length
  std::vector<std::pair<AttentionGrowth, std::map<int64_t, double>>> all;
  for (const AttentionFigure& f : figures) {
    if (f.length == 0) continue;
    const auto known = std::find_if(all.begin(), all.end(), [&](const auto& g) {
      return g.first.mechanism == f.mechanism && g.first.band == f.band;
    });
    auto& one = known == all.end() ? all.emplace_back(AttentionGrowth{f.mechanism, f.band}, std::map<int64_t, double>{})
                                   : *known;
    const double ms = (f.forward_ms + f.backward_ms) * static_cast<double>(f.length) / static_cast<double>(f.rows);
    one.second[f.length] = ms;
    if (f.mechanism == "softmax") softmax[f.length] = ms;
  }
  std::vector<AttentionGrowth> growth;
  for (auto& [g, ms] : all) {
    if (g.mechanism != "softmax" && softmax.size() > 1)
      for (auto i = softmax.rbegin(); i != softmax.rend() && ms.contains(i->first) && ms[i->first] < i->second; ++i)
        g.faster_from = i->first;
    ms.erase(ms.begin(), ms.lower_bound(from));
    if (ms.size() > 1) {
      g.exponent = fitted_exponent(ms);
      g.from = ms.begin()->first;
      g.to = ms.rbegin()->first;
    }
    if (g.exponent != 0 || g.faster_from > 0) growth.push_back(g);
  }
  return growth;
}

std::vector<StepFigure> bench_attention_steps(const AttentionBench& bench) {
  check_bench(bench);
  ThreadPool pool(bench.threads);
  const AttentionSetup setup{.heads = bench.heads, .heads_kv = bench.heads, .dim = bench.dim, .causal = true};
  std::vector<StepFigure> figures;
  const LoadMeter meter;
  for (const TimedMechanism& m : mechanisms_of(bench)) {
    if (m.layer.kind == "routing")
      fail(ErrorKind::usage, "decoding with routing isn't measured\n  fix: softmax, band:W, linear or another");
    Choice choice = m.layer.kind.empty() ? Choice{m.name} : m.layer;
    if (m.band) choice.options["width"] = m.band;
    for (int64_t length : bench.lengths) {
      const DecodeTime t = time_decoding(choice, setup, length, pool);
      figures.push_back({m.name, m.band, length, t.us_per_token, t.state_bytes});
    }
  }
  note_load(meter, figures);
  return figures;
}

}  // namespace attune
