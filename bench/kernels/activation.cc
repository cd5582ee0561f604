// Activation, dropout and exp: a row in, a row out.
#include "kernels/rows/activation.h"

#include <cmath>

#include "kernels/rows/elementwise.h"
#include "laboratory.h"

namespace attune::laboratory {

namespace {

Experiment experiment(const std::string& name, int64_t rows, int64_t cols, const kernels::Activate& a,
                      float (*naive)(const kernels::Activate&, float x, int64_t row, int64_t column)) {
  Experiment e;
  e.name = name;
  e.kind = Kind::copy;
  e.bytes = 8.0 * static_cast<double>(rows * cols);
  e.contenders = {"ours", "naive", "memcpy"};
  e.make = [=, bytes = e.bytes] {
    const auto x = random(rows * cols, 1), y = zeros(rows * cols);
    kernels::Activate on = a;
    on.x = matrix(x, rows, cols);
    on.y = matrix(y, rows, cols);
    return std::vector<Run>{[=] {
                              (void)x, (void)y;  // kept alive
                              kernels::activate_rows(on);
                            },
                            [=] {
                              for (int64_t i = 0; i < rows; ++i)
                                for (int64_t j = 0; j < cols; ++j)
                                  y->data()[i * cols + j] = naive(on, x->data()[i * cols + j], i, j);
                            },
                            copy_of(bytes)};
  };
  return e;
}

float dropped_out(const kernels::Activate& a, float x, int64_t row, int64_t column) {
  return dropped(a.dropout, row, static_cast<uint32_t>(column)) ? 0.0f : x * dropout_scale(a.dropout.rate);
}

}  // namespace

void add_activation(Experiments& to) {
  kernels::Activate relu{.kind = Activation::relu}, gelu{.kind = Activation::gelu}, none{.kind = Activation::none};
  relu.dropout = none.dropout = {0.1f, 1, 0};
  to.push_back(experiment("activation/relu dropout 1024x2048", 1024, 2048, relu,
                          [](const kernels::Activate& a, float x, int64_t row, int64_t column) {
                            return dropped_out(a, x > 0 ? x : 0, row, column);
                          }));
  to.push_back(experiment(
      "activation/gelu 1024x2048", 1024, 2048, gelu,
      [](const kernels::Activate&, float x, int64_t, int64_t) { return 0.5f * x * (1 + std::erf(x * 0.70710678f)); }));
  to.push_back(experiment("dropout/64x512 in cache", 64, 512, none, dropped_out));

  constexpr int64_t count = 4096;
  Experiment e;
  e.name = "exp/4096 in cache";
  e.kind = Kind::copy;
  e.bytes = 8.0 * count;
  e.contenders = {"ours", "std::exp", "memcpy"};
  e.make = [bytes = e.bytes] {
    const auto x = random(count, 1), y = zeros(count);
    return std::vector<Run>{
        [=] { kernels::unary(kernels::Unary::exp, 0, matrix(x, 1, count), matrix(y, 1, count), nullptr); },
        [=] {
          for (int64_t i = 0; i < count; ++i) y->data()[i] = std::exp(x->data()[i]);
        },
        copy_of(bytes)};
  };
  to.push_back(e);
}

}  // namespace attune::laboratory
