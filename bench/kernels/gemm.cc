// Matrix products: the three of training and those of decoding, against both libraries. Weights are W [n, k].
#include "kernels/matrix/gemm.h"

#include <fmt/format.h>

#include "base/thread_pool.h"
#include "laboratory.h"

namespace attune::laboratory {

namespace {

struct Layer {
  int64_t m, n, k;
};
enum class Product { forward, to_input, to_weights };  // x W^T, dy W, dy^T x

const char* text(Product p) { return p == Product::forward ? "x W^T" : p == Product::to_input ? "dy W" : "dy^T x"; }

/// The product as the libraries see it.
Sgemm as_sgemm(const Layer& l, Product p, const float* a, const float* b, float* c) {
  switch (p) {
    case Product::forward:
      return {false, true, l.m, l.n, l.k, a, b, c};
    case Product::to_input:
      return {false, false, l.m, l.k, l.n, a, b, c};
    case Product::to_weights:
      return {true, false, l.n, l.k, l.m, a, b, c};
  }
  return {};
}

void naive_gemm(const Sgemm& g) {
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < g.k; ++p)
        sum += (g.a_transposed ? g.a[p * g.m + i] : g.a[i * g.k + p]) *
               (g.b_transposed ? g.b[j * g.k + p] : g.b[p * g.n + j]);
      g.c[i * g.n + j] = sum;
    }
}

/// Ours. Weights are packed once per update, so they come packed; x as the right side of dy^T x does not.
Run our_gemm(const Sgemm& s, bool packed, ThreadPool* pool) {
  kernels::Gemm g{.m = s.m, .n = s.n, .k = s.k, .a = s.a, .a_stride = s.a_transposed ? s.m : s.k};
  g.a_transposed = s.a_transposed;
  g.b = s.b;
  g.b_stride = s.b_transposed ? s.k : s.n;
  g.b_transposed = s.b_transposed;
  g.c = s.c;
  g.c_stride = s.n;
  if (!packed) return [g, pool] { kernels::gemm(g, pool); };
  const auto panels = zeros(kernels::packed_floats(s.k, s.n));
  const auto matrix =
      std::make_shared<PackedMatrix>(kernels::pack(g.b, g.b_stride, g.b_transposed, s.k, s.n, panels->data(), nullptr));
  g.packed = matrix.get();
  return [g, pool, panels, matrix] { kernels::gemm(g, pool); };
}

/// A call that keeps the operands alive.
struct Operands {
  Floats a, b, c;
  Sgemm sgemm;
  Operands(const Layer& l, Product p) {
    const Sgemm s = as_sgemm(l, p, nullptr, nullptr, nullptr);
    a = random(s.m * s.k, 1);
    b = random(s.k * s.n, 2);
    c = zeros(s.m * s.n);
    sgemm = as_sgemm(l, p, a->data(), b->data(), c->data());
  }
  Run keep(Run run) const {
    return [kept = *this, run] { run(); };
  }
  Run call(void (*f)(const Sgemm&)) const {
    return [kept = *this, f] { f(kept.sgemm); };
  }
};

Experiment experiment(Kind kind, const Layer& l, Product p) {
  Experiment e;
  e.kind = kind;
  e.name = fmt::format("gemm/{}x{}x{} {}", l.m, l.n, l.k, text(p));
  e.flops = 2.0 * static_cast<double>(l.m) * static_cast<double>(l.n) * static_cast<double>(l.k);
  e.contenders = {"ours", "oneDNN", "OpenBLAS"};
  e.make = [l, p] {
    const Operands o(l, p);
    return std::vector<Run>{o.keep(our_gemm(o.sgemm, p != Product::to_weights, nullptr)), o.call(onednn_sgemm),
                            o.call(openblas_sgemm)};
  };
  return e;
}

}  // namespace

void add_gemm(Experiments& to) {
  const Product all[] = {Product::forward, Product::to_input, Product::to_weights};
  for (const Layer& l :
       {Layer{256, 384, 128}, {1024, 384, 128}, {4096, 384, 128},  {4096, 128, 128},  {4096, 512, 128},
        {4096, 128, 512},     {4096, 384, 384}, {1024, 1536, 384}, {1024, 384, 1536}, {256, 1536, 512},
        {1024, 512, 512},     {4096, 512, 512}, {4096, 1536, 512}, {1024, 2048, 512}, {4096, 2048, 512},
        {4096, 512, 2048},    {256, 8000, 128}, {256, 8000, 512},  {1024, 8000, 512}, {256, 32000, 512}})
    for (const Product p : all) to.push_back(experiment(Kind::training, l, p));

  for (const int64_t m : {1, 4, 5, 8, 16, 40})
    for (const auto& [n, k] : {std::pair<int64_t, int64_t>{128, 128},
                               {384, 128},
                               {512, 512},
                               {1536, 512},
                               {2048, 512},
                               {512, 2048},
                               {2048, 2048}})
      to.push_back(experiment(Kind::decode, {m, n, k}, Product::forward));

  for (const Layer& l : {Layer{4096, 512, 512}, {4096, 2048, 512}, {1024, 8000, 512}})
    for (const Product p : all) {
      Experiment e = experiment(Kind::threads, l, p);
      e.name = fmt::format("gemm two threads/{}x{}x{} {}", l.m, l.n, l.k, text(p));
      e.contenders = {"one thread", "two threads"};
      e.make = [l, p] {
        const Operands o(l, p);
        const auto pool = std::make_shared<ThreadPool>(2);
        const bool packed = p != Product::to_weights;
        const Run two = our_gemm(o.sgemm, packed, pool.get());
        return std::vector<Run>{o.keep(our_gemm(o.sgemm, packed, nullptr)), o.keep([pool, two] { two(); })};
      };
      to.push_back(e);
    }

  const Layer small{64, 64, 64};
  Experiment naive = experiment(Kind::peak, small, Product::forward);
  naive.contenders = {"ours", "naive"};
  naive.make = [small] {
    const Operands o(small, Product::forward);
    return std::vector<Run>{o.keep(our_gemm(o.sgemm, true, nullptr)), o.call(naive_gemm)};
  };
  to.push_back(naive);
}

}  // namespace attune::laboratory
