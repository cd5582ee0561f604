#include "autograd/losses/output_loss.h"

#include <numeric>

#include "autograd/op_checks.h"

namespace attune {
namespace {

struct OutputLossCase {
  int64_t n, d, classes;
  float smoothing;
  bool bias;
};

std::vector<int32_t> targets_of(const OutputLossCase& c) {
  Random random(3);
  std::vector<int32_t> t(static_cast<size_t>(c.n));
  for (auto& x : t) x = static_cast<int32_t>(random.below(static_cast<uint64_t>(c.classes)));
  if (c.n > 2) t[1] = -1;  // does not count
  return t;
}

std::vector<CheckInput> inputs_of(const OutputLossCase& c) {
  return {random_input({c.n, c.d}, 1), random_input({c.classes, c.d}, 2, 0.5), random_input({c.classes}, 3)};
}

/// Runs the operation with a gradient of 1, as training does.
template <class T>
CheckRun run(const OutputLossCase& c, bool reference, ThreadPool* pool = nullptr,
             std::vector<float>* log_probs = nullptr, std::vector<float>* weights = nullptr) {
  const auto inputs = inputs_of(c);
  std::vector<std::vector<T>> memory;
  for (const auto& in : inputs) memory.emplace_back(in.values.begin(), in.values.end());
  auto targets = targets_of(c);
  Arena arena;
  Ctx ctx(arena);
  Tape tape;
  ctx.tape = &tape;
  ctx.pool = pool;
  CheckRun result;
  std::vector<Var> vars;
  for (size_t i = 0; i < inputs.size(); ++i)
    vars.push_back(ctx.input(Tensor(memory[i].data(), inputs[i].shape), i < 2 || c.bias));
  OutputLoss a{vars[0], vars[1], c.bias ? vars[2] : Var(), Tensor(targets.data(), Shape{c.n}), c.smoothing, 0.25f};
  if (log_probs) {
    log_probs->resize(static_cast<size_t>(c.n));
    a.log_probs = Tensor(log_probs->data(), Shape{c.n});
  }
  if (weights) a.weights = Tensor(weights->data(), Shape{c.n});
  Var y = reference ? output_loss_reference(ctx, a) : output_loss(ctx, a);
  result.shape = y.shape();
  result.value = {static_cast<double>(*y.value().as<T>())};
  tape.backward(ctx, y);
  for (const Var& v : vars) {
    result.grads.emplace_back(static_cast<size_t>(v.shape().size()), 0.0);
    if (v.has_grad()) result.grads.back().assign(v.grad().as<T>(), v.grad().as<T>() + v.shape().size());
  }
  return result;
}

const OutputLossCase kCases[] = {{1, 1, 1, 0, false},      {7, 63, 65, 0.1f, true},   {65, 7, 63, 0, true},
                                 {63, 65, 7, 0.1f, false}, {5, 16, 1000, 0.1f, true}, {300, 24, 200, 0.2f, true},
                                 {0, 4, 6, 0.1f, true}};

TEST(OutputLoss, NearItsReference) {
  for (const OutputLossCase& c : kCases)
    EXPECT_LT(row_error(run<float>(c, false), run<double>(c, true), inputs_of(c)), 1e-4) << c.n << ' ' << c.classes;
}

TEST(OutputLoss, ReferenceHasRightGradients) {
  for (const OutputLossCase& c : {OutputLossCase{4, 3, 5, 0.1f, true}, OutputLossCase{3, 2, 4, 0, false}}) {
    auto targets = targets_of(c);
    EXPECT_LT(gradient_error(
                  [&](Ctx& ctx, const std::vector<Var>& in) {
                    return output_loss_reference(
                        ctx, {in[0], in[1], c.bias ? in[2] : Var(), Tensor(targets.data(), Shape{c.n}), c.smoothing});
                  },
                  inputs_of(c)),
              1e-6);
  }
}

TEST(OutputLoss, WeightsMultiplyRows) {
  const OutputLossCase c{9, 12, 40, 0.1f, true};
  std::vector<float> weights{1, 2, 0, 0.5f, 1, 1, 3, 0.25f, 1}, ones(9, 1.0f);
  for (const bool reference : {false, true}) {
    const CheckRun plain = run<float>(c, reference), same = run<float>(c, reference, nullptr, nullptr, &ones);
    EXPECT_EQ(plain.value, same.value);
    EXPECT_EQ(plain.grads, same.grads);
  }
  EXPECT_LT(row_error(run<float>(c, false, nullptr, nullptr, &weights),
                      run<double>(c, true, nullptr, nullptr, &weights), inputs_of(c)),
            1e-4);
  const CheckRun weighted = run<double>(c, true, nullptr, nullptr, &weights), plain = run<double>(c, true);
  for (size_t row = 0; row < 9; ++row)
    for (size_t j = 0; j < 12; ++j)
      EXPECT_NEAR(weighted.grads[0][row * 12 + j], static_cast<double>(weights[row]) * plain.grads[0][row * 12 + j],
                  1e-9);
}

TEST(OutputLoss, LogProbabilitiesOfTheTargets) {
  const OutputLossCase c{9, 12, 40, 0.1f, true};
  std::vector<float> fast, exact;
  run<float>(c, false, nullptr, &fast);
  run<double>(c, true, nullptr, &exact);
  for (size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], exact[i], 1e-5);
  EXPECT_EQ(fast[1], 0);
}

TEST(OutputLoss, FixedBits) {
  const OutputLossCase c{150, 70, 900, 0.1f, true};
  expect_fixed_bits([&](ThreadPool* pool) { return run<float>(c, false, pool); });
  for (const auto& isa : available_isas()) {
    const IsaScope scope(isa);
    EXPECT_LT(row_error(run<float>(c, false), run<double>(c, true), inputs_of(c)), 1e-4) << isa;
  }
}

TEST(OutputLoss, ChunksDoNotShow) {
  const OutputLossCase c{400, 2, 60000, 0.1f, true};  // 174 rows at a time
  EXPECT_LT(row_error(run<float>(c, false), run<double>(c, true), inputs_of(c)), 1e-4);
}

TEST(OutputLoss, HoldsLittleMemory) {
  const int64_t n = 4096, d = 8, classes = 32000;
  std::vector<float> x(static_cast<size_t>(n * d)), w(static_cast<size_t>(classes * d));
  std::vector<int32_t> targets(static_cast<size_t>(n));
  Arena arena;
  arena.start_rehearsal();
  {
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    Var loss = output_loss(ctx, {ctx.input(Tensor(x.data(), Shape{n, d}), true),
                                 ctx.input(Tensor(w.data(), Shape{classes, d}), true),
                                 {},
                                 Tensor(targets.data(), Shape{n})});
    tape.backward(ctx, loss);
  }
  const int64_t gradients = (n * d + classes * d) * 4;
  EXPECT_LT(arena.finish_rehearsal().peak, gradients + (int64_t{64} << 20));
}

TEST(OutputLoss, SaysWhatDoesNotFit) {
  Bench t;
  std::vector<int32_t> targets{0, 7};
  const Tensor ids(targets.data(), Shape{2});
  EXPECT_EQ(error_of([&] {
              output_loss(t.ctx, {t.make({2, 3}), t.make({5, 4}), {}, ids});
            }),
            "[output_loss] rows have 3 elements, weight has 4 columns");
  EXPECT_EQ(error_of([&] {
              output_loss(t.ctx, {t.make({3, 4}), t.make({5, 4}), {}, ids});
            }),
            "[output_loss] 2 targets for 3 rows");
  EXPECT_EQ(error_of([&] {
              output_loss(t.ctx, {t.floats({2, 1}, {1, 1}), t.floats({3, 1}, {1, 1, 1}), {}, ids});
            }),
            "[output_loss] row 1: target 7, the weight has 3 rows");
  Tape tape;
  t.ctx.tape = &tape;
  std::vector<float> one{1, 1};
  targets = {0, 1};
  Var loss =
      output_loss(t.ctx, {t.ctx.input(Tensor(one.data(), Shape{2, 1}), true), t.floats({3, 1}, {1, 2, 3}), {}, ids});
  const float two = 2;
  const Tensor seed(&two, Shape{1});
  EXPECT_EQ(error_of([&] { tape.backward(t.ctx, loss, &seed); }),
            "[output_loss] a gradient of 2 arrives, only 1 is possible: use its scale");
  tape.clear();
}

}  // namespace
}  // namespace attune
