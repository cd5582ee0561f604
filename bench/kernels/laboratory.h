// An experiment is one piece of work done by several contenders: ours, the naive loop, a library. Google Benchmark runs
// each by itself; `laboratory --compare` times them in turn, which a noisy machine disturbs less.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "bench/timing.h"
#include "kernels/convolution/convolution.h"
#include "tensor/tensor.h"

namespace attune::laboratory {

using Run = std::function<void()>;

/// What an experiment is held to.
enum class Kind {
  training,  // the better of the libraries
  decode,    // oneDNN
  threads,   // its second contender against the first
  peak,      // the peak of this machine
  copy,      // a memcpy that moves as many bytes
  int8,      // our own f32 product
};

struct Experiment {
  std::string name;  // "family/case"
  Kind kind = Kind::peak;
  double flops = 0, bytes = 0;          // of one call; bytes are those that must be read and written
  std::vector<std::string> contenders;  // "ours" first
  /// What the contenders do, in the same order. Called when it is needed: memory lives as long as the result.
  std::function<std::vector<Run>()> make;
  int rounds = 0;  // 0: as many as usual
};

using Experiments = std::vector<Experiment>;
void add_gemm(Experiments& to);
void add_int8(Experiments& to);
void add_convolution(Experiments& to);
void add_attention(Experiments& to);
void add_scores(Experiments& to);
void add_softmax(Experiments& to);
void add_norm(Experiments& to);
void add_activation(Experiments& to);
void add_embed(Experiments& to);
void add_adam(Experiments& to);
void add_pack(Experiments& to);

/// Times all of them in turn and prints a table, or a JSON object per line.
struct Compare {
  bool json = false;
  int rounds = 5;
  std::string filter;  // a part of the name; empty: all
};
void compare(const Experiments& experiments, const Compare& how);

/// Memory of an experiment: kept by the contenders that use it.
using Floats = std::shared_ptr<Aligned<float>>;
inline Floats random(int64_t count, uint64_t seed) {
  return std::make_shared<Aligned<float>>(random_floats(count, seed));
}
inline Floats zeros(int64_t count) { return std::make_shared<Aligned<float>>(count); }
inline Tensor matrix(const Floats& f, int64_t rows, int64_t cols) { return Tensor(f->data(), Shape{rows, cols}); }
/// A memcpy that moves so many bytes, half of them in and half of them out.
Run copy_of(double bytes);

/// The libraries, on one thread.
void single_thread();
std::string libraries();  // "oneDNN 2.6.3, OpenBLAS 0.3.21 for SkylakeX"
/// Has the libraries use the instruction set that was chosen, if it was `forced`. Starts the program anew where
/// OpenBLAS must be told, or does not know this CPU and would run code for one of 2004: no bar to clear.
void choose_kernels(bool forced, char** argv);
struct Sgemm {
  bool a_transposed, b_transposed;
  int64_t m, n, k;
  const float *a, *b;
  float* c;
};
void onednn_sgemm(const Sgemm& g);
void openblas_sgemm(const Sgemm& g);
/// [m, k] times [k, n], weights prepacked; A is u8 already and nothing is scaled: less work than ours.
Run onednn_int8(int64_t m, int64_t n, int64_t k);
/// Pictures with their channels side by side, as ours lie; the weight is in the order that the library likes best.
struct DnnConvolution {
  int64_t count, height, width, in, out, taps_high, taps_wide, stride, groups;
};
Run onednn_convolution(const DnnConvolution& c, kernels::ConvolutionPass pass, const Floats& x, const Floats& y);
Run onednn_softmax(const Floats& x, const Floats& y, int64_t rows, int64_t cols);
Run onednn_layer_norm(const Floats& x, const Floats& y, int64_t rows, int64_t cols);

}  // namespace attune::laboratory
