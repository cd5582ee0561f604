// Softmax, cross entropy, and the whole end of a model: projection, softmax and loss with all gradients.
#include <algorithm>
#include <cmath>

#include "autograd/losses/output_loss.h"
#include "kernels/rows/reduce.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "laboratory.h"

namespace attune::laboratory {

namespace {

void naive_softmax(const float* x, float* y, int64_t n) {
  float most = -INFINITY, total = 0;
  for (int64_t j = 0; j < n; ++j) most = std::max(most, x[j]);
  for (int64_t j = 0; j < n; ++j) total += y[j] = std::exp(x[j] - most);
  for (int64_t j = 0; j < n; ++j) y[j] /= total;
}

using Targets = std::shared_ptr<std::vector<int32_t>>;
Targets targets_for(int64_t rows, int64_t classes) {
  auto targets = std::make_shared<std::vector<int32_t>>(static_cast<size_t>(rows));
  for (size_t i = 0; i < targets->size(); ++i)
    (*targets)[i] = static_cast<int32_t>((i * 7919) % static_cast<size_t>(classes));
  return targets;
}

Experiment softmax(int64_t rows, int64_t cols) {
  Experiment e;
  e.name = "softmax/" + std::to_string(rows) + "x" + std::to_string(cols);
  e.kind = Kind::copy;
  e.bytes = 8.0 * static_cast<double>(rows * cols);
  e.contenders = {"ours", "naive", "oneDNN", "memcpy"};
  e.make = [rows, cols, bytes = e.bytes] {
    const auto x = random(rows * cols, 1), y = zeros(rows * cols);
    return std::vector<Run>{[=] { kernels::softmax(matrix(x, rows, cols), false, matrix(y, rows, cols), nullptr); },
                            [=] {
                              for (int64_t i = 0; i < rows; ++i)
                                naive_softmax(x->data() + i * cols, y->data() + i * cols, cols);
                            },
                            onednn_softmax(x, y, rows, cols), copy_of(bytes)};
  };
  return e;
}

/// Loss and gradient in place: what one call leaves is as good an input for the next.
Experiment cross_entropy(int64_t rows, int64_t classes) {
  Experiment e;
  e.name = "cross entropy/" + std::to_string(rows) + "x" + std::to_string(classes);
  e.kind = Kind::copy;
  e.bytes = 8.0 * static_cast<double>(rows * classes);
  e.contenders = {"ours", "naive", "memcpy"};
  e.make = [rows, classes, bytes = e.bytes] {
    const auto ours = random(rows * classes, 1), naive = random(rows * classes, 1), losses = zeros(rows);
    const Targets targets = targets_for(rows, classes);
    kernels::CrossEntropy c{.logits = ours->data(), .rows = rows, .classes = classes, .targets = targets->data()};
    c.smoothing = 0.1f;
    c.gradient = true;
    c.losses = losses->data();
    return std::vector<Run>{[=] {
                              (void)ours, (void)losses, (void)targets;  // kept alive
                              kernels::cross_entropy(c);
                            },
                            [=] {
                              const float spread = 0.1f / static_cast<float>(classes);
                              for (int64_t i = 0; i < rows; ++i) {
                                float* z = naive->data() + i * classes;
                                const int32_t t = (*targets)[static_cast<size_t>(i)];
                                naive_softmax(z, z, classes);
                                losses->data()[i] = -std::log(z[t]);
                                for (int64_t j = 0; j < classes; ++j) z[j] -= spread;
                                z[t] -= 0.9f;
                              }
                            },
                            copy_of(bytes)};
  };
  return e;
}

/// Forward and backward of the projection are three products: 6 n V d operations, the softmax not counted. Weights are
/// not packed: each is used for one product of each kind.
Experiment output_loss_experiment(int64_t n, int64_t d, int64_t classes) {
  Experiment e;
  e.name = "output_loss/" + std::to_string(n) + "x" + std::to_string(d) + "x" + std::to_string(classes);
  e.flops = 6.0 * static_cast<double>(n) * static_cast<double>(d) * static_cast<double>(classes);
  e.contenders = {"ours"};
  e.rounds = 3;
  e.make = [n, d, classes] {
    const auto x = random(n * d, 1), w = random(classes * d, 2), dx = zeros(n * d), dw = zeros(classes * d);
    const Targets targets = targets_for(n, classes);
    const auto arena = std::make_shared<Arena>();
    return std::vector<Run>{[=] {
      arena->begin_step();
      Ctx ctx(*arena);
      Tape tape;
      ctx.tape = &tape;
      ctx.training = true;
      bool x_written = false, w_written = false;
      OutputLoss a{.x = ctx.parameter(matrix(x, n, d), matrix(dx, n, d), &x_written),
                   .weight = ctx.parameter(matrix(w, classes, d), matrix(dw, classes, d), &w_written)};
      a.targets = Tensor(targets->data(), Shape{n});
      a.smoothing = 0.1f;
      a.scale = 1 / static_cast<float>(n);
      tape.backward(ctx, output_loss(ctx, a));
    }};
  };
  return e;
}

}  // namespace

void add_softmax(Experiments& to) {
  to.push_back(softmax(4096, 512));
  to.push_back(softmax(256, 8000));
  to.push_back(cross_entropy(256, 8000));
  to.push_back(output_loss_experiment(4096, 512, 32000));
  to.push_back(output_loss_experiment(4096, 128, 8000));
}

}  // namespace attune::laboratory
