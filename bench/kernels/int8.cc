// Products with int8 weights, of decoding and of encoding a few sentences: against our own f32 and oneDNN's int8.
#include "kernels/matrix/int8.h"

#include <fmt/format.h>

#include "laboratory.h"

namespace attune::laboratory {

namespace {

/// Ours as a model uses it: rows of A are cut to 8 bits on the way, results come out as f32.
Run our_int8(const Floats& a, const Floats& w, const Floats& c, int64_t m, int64_t n, int64_t k) {
  struct Kept {
    Aligned<int8_t> values, panels;
    Aligned<float> scales;
    PackedInt8 packed;
  };
  const auto kept = std::make_shared<Kept>();
  kept->values = Aligned<int8_t>(n * k);
  kept->scales = Aligned<float>(n);
  kernels::quantize_weights(w->data(), n, k, kept->values.data(), kept->scales.data());
  kept->panels = Aligned<int8_t>(kernels::packed_int8_bytes(k, n));
  kept->packed = kernels::pack_int8({kept->values.data(), kept->scales.data(), n, k}, kept->panels.data());
  kernels::Int8Gemm g{.m = m, .a = a->data(), .a_stride = k, .packed = &kept->packed, .c = c->data()};
  g.c_stride = n;
  return [a, w, c, kept, g] { kernels::gemm_int8(g); };
}

Run our_f32(const Floats& a, const Floats& w, const Floats& c, int64_t m, int64_t n, int64_t k) {
  const auto panels = zeros(kernels::packed_floats(k, n));
  const auto packed = std::make_shared<PackedMatrix>(kernels::pack(w->data(), k, true, k, n, panels->data()));
  kernels::Gemm g{.m = m, .n = n, .k = k, .a = a->data(), .a_stride = k};
  g.packed = packed.get();
  g.c = c->data();
  g.c_stride = n;
  return [a, w, c, panels, packed, g] { kernels::gemm(g); };
}

}  // namespace

void add_int8(Experiments& to) {
  for (const auto& [n, k] : {std::pair<int64_t, int64_t>{128, 128},
                             {384, 128},
                             {256, 128},
                             {128, 256},
                             {10000, 128},
                             {512, 512},
                             {1536, 512},
                             {2048, 512},
                             {512, 2048},
                             {10000, 512}})
    for (const int64_t m : {1, 5, 40, 300}) {
      Experiment e;
      e.kind = Kind::int8;
      e.name = fmt::format("int8/{}x{}x{}", m, n, k);
      e.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
      e.bytes = static_cast<double>(n * k);  // of weights
      e.contenders = {"ours", "f32", "oneDNN"};
      e.make = [m = m, n = n, k = k] {
        const Floats a = random(m * k, 1), w = random(n * k, 2), c = zeros(m * n);
        return std::vector<Run>{our_int8(a, w, c, m, n, k), our_f32(a, w, c, m, n, k), onednn_int8(m, n, k)};
      };
      to.push_back(e);
    }
}

}  // namespace attune::laboratory
