#include <cblas.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>

#include "kernels/isa.h"
#include "laboratory.h"

namespace attune::laboratory {

void single_thread() {
  omp_set_num_threads(1);  // oneDNN's
  openblas_set_num_threads(1);
}

std::string libraries() {
  const dnnl_version_t* v = dnnl_version();
  std::string openblas = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  openblas = openblas.substr(0, openblas.find(' ', openblas.find(' ') + 1));
  return fmt::format("oneDNN {}.{}.{}, {} for {}", v->major, v->minor, v->patch, openblas, openblas_get_corename());
}

void choose_kernels(bool forced, char** argv) {
  const std::string isa = chosen_isa();
  // Its code for AMX dies of an illegal instruction in int8 products of a few rows (oneDNN 2.6.3).
  dnnl_set_max_cpu_isa(forced && isa == "avx2" ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_avx512_core_bf16);
  const bool unknown = std::string(openblas_get_corename()) == "Prescott";
  if (std::getenv("OPENBLAS_CORETYPE") || !isa_has_fma(isa) || !(forced || unknown)) return;
  setenv("OPENBLAS_CORETYPE", isa == "avx512" ? "SkylakeX" : "Haswell", 1);  // read when the library is loaded
  execv("/proc/self/exe", argv);
}

void onednn_sgemm(const Sgemm& g) {
  dnnl_sgemm(g.a_transposed ? 'T' : 'N', g.b_transposed ? 'T' : 'N', g.m, g.n, g.k, 1, g.a, g.a_transposed ? g.m : g.k,
             g.b, g.b_transposed ? g.k : g.n, 0, g.c, g.n);
}

void openblas_sgemm(const Sgemm& g) {
  const auto m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  cblas_sgemm(CblasRowMajor, g.a_transposed ? CblasTrans : CblasNoTrans, g.b_transposed ? CblasTrans : CblasNoTrans, m,
              n, k, 1, g.a, g.a_transposed ? m : k, g.b, g.b_transposed ? k : n, 0, g.c, n);
}

namespace {

struct Engine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};
Engine& engine() {
  static Engine e;
  return e;
}
dnnl::memory::desc rows_desc(int64_t rows, int64_t cols) {
  return {{rows, cols}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
}
dnnl::memory memory_of(const Floats& f, const dnnl::memory::desc& desc) { return {desc, engine().engine, f->data()}; }

}  // namespace

Run onednn_int8(int64_t m, int64_t n, int64_t k) {
  using Memory = dnnl::memory;
  using Tag = Memory::format_tag;
  const Memory::desc a({m, k}, Memory::data_type::u8, Tag::ab), c({m, n}, Memory::data_type::f32, Tag::ab);
  const Memory::desc any({k, n}, Memory::data_type::s8, Tag::any), plain({k, n}, Memory::data_type::s8, Tag::ba);
  const dnnl::matmul::primitive_desc product({a, any, c}, engine().engine);
  Memory from(plain, engine().engine), weights(product.weights_desc(), engine().engine);
  auto* w = static_cast<int8_t*>(from.get_data_handle());
  for (int64_t i = 0; i < n * k; ++i) w[i] = static_cast<int8_t>(i * 7 % 255 - 127);
  dnnl::reorder(from, weights).execute(engine().stream, from, weights);
  engine().stream.wait();
  Memory x(a, engine().engine), y(c, engine().engine);
  std::memset(x.get_data_handle(), 3, static_cast<size_t>(m * k));
  return [product = dnnl::matmul(product), x, weights, y] {
    product.execute(engine().stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, y}});
    engine().stream.wait();
  };
}

Run onednn_convolution(const DnnConvolution& c, kernels::ConvolutionPass pass, const Floats& x, const Floats& y) {
  using Memory = dnnl::memory;
  using Tag = Memory::format_tag;
  const auto f32 = Memory::data_type::f32;
  const int64_t top = (c.taps_high - 1) / 2, left = (c.taps_wide - 1) / 2, down = c.height == 1 ? 1 : c.stride;
  const int64_t height = (c.height - 1) / down + 1, width = (c.width - 1) / c.stride + 1;
  const Memory::dims strides{down, c.stride}, before{top, left}, after{c.taps_high - 1 - top, c.taps_wide - 1 - left};
  const Memory::desc from({c.count, c.in, c.height, c.width}, f32, Tag::nhwc),
      to({c.count, c.out, height, width}, f32, Tag::nhwc);
  const Memory::dims grouped{c.groups, c.out / c.groups, c.in / c.groups, c.taps_high, c.taps_wide};
  const Memory::desc filters(c.groups > 1 ? grouped : Memory::dims(grouped.begin() + 1, grouped.end()), f32, Tag::any);
  const auto method = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, method, from, filters, to, strides, before, after}, engine().engine);
  // DNNL's names for x, weight and y are others in each pass.
  const auto run = [&](const dnnl::primitive& primitive, const Memory::desc& weights, std::array<int, 3> names) -> Run {
    const Memory values(from, engine().engine, x->data()), results(to, engine().engine, y->data());
    const Memory w(weights, engine().engine);
    std::memset(w.get_data_handle(), 0, weights.get_size());
    return [x, y, primitive, values, results, w, names] {
      primitive.execute(engine().stream, {{names[0], values}, {names[1], w}, {names[2], results}});
      engine().stream.wait();
    };
  };
  switch (pass) {
    case kernels::ConvolutionPass::forward:
      return run(dnnl::convolution_forward(forward), forward.weights_desc(),
                 {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
    case kernels::ConvolutionPass::input: {
      const dnnl::convolution_backward_data::primitive_desc back({method, from, filters, to, strides, before, after},
                                                                 engine().engine, forward);
      return run(dnnl::convolution_backward_data(back), back.weights_desc(),
                 {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST});
    }
    case kernels::ConvolutionPass::weight: {
      const dnnl::convolution_backward_weights::primitive_desc back({method, from, filters, to, strides, before, after},
                                                                    engine().engine, forward);
      return run(dnnl::convolution_backward_weights(back), back.diff_weights_desc(),
                 {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST});
    }
  }
  return {};
}

Run onednn_softmax(const Floats& x, const Floats& y, int64_t rows, int64_t cols) {
  const auto desc = rows_desc(rows, cols);
  const dnnl::softmax_forward softmax({{dnnl::prop_kind::forward_inference, desc, 1}, engine().engine});
  return [x, y, softmax, from = memory_of(x, desc), to = memory_of(y, desc)] {
    softmax.execute(engine().stream, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    engine().stream.wait();
  };
}

Run onednn_layer_norm(const Floats& x, const Floats& y, int64_t rows, int64_t cols) {
  const auto desc = rows_desc(rows, cols);
  const dnnl::memory::desc row({cols}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  const auto scale = random(cols, 5), shift = random(cols, 6);
  using Flags = dnnl::normalization_flags;
  const dnnl::layer_normalization_forward norm(
      {{dnnl::prop_kind::forward_inference, desc, 1e-5f, Flags::use_scale | Flags::use_shift}, engine().engine});
  return [x, y, scale, shift, norm, from = memory_of(x, desc), to = memory_of(y, desc), gamma = memory_of(scale, row),
          beta = memory_of(shift, row)] {
    norm.execute(engine().stream,
                 {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}, {DNNL_ARG_SCALE, gamma}, {DNNL_ARG_SHIFT, beta}});
    engine().stream.wait();
  };
}

}  // namespace attune::laboratory
