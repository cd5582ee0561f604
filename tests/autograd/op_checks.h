// Checks that every operation's test shares.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "autograd/gradcheck.h"
#include "base/error.h"
#include "kernels/isa.h"

namespace attune {

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline void expect_same_bits(const CheckRun& a, const CheckRun& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.value, b.value)) << what << ": the value";
  for (size_t i = 0; i < a.grads.size(); ++i)
    EXPECT_TRUE(same_bits(a.grads[i], b.grads[i])) << what << ": the gradient of input " << i;
}

/// The same bits without a pool, with 1, 2 and 3 threads, and under every instruction set that has FMA.
inline void expect_fixed_bits(const CheckedOp& op, const std::vector<CheckInput>& inputs) {
  const CheckRun alone = run_checked(op, inputs, DType::f32);
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    expect_same_bits(alone, run_checked(op, inputs, DType::f32, &pool), std::to_string(threads) + " threads");
  }
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa) || !isa_has_fma(chosen_isa())) continue;
    force_isa(isa);
    const CheckRun forced = run_checked(op, inputs, DType::f32);
    force_isa("auto");
    expect_same_bits(alone, forced, isa);
  }
}

/// Every instruction set, with FMA or not, is close to the reference.
inline void expect_precise(const CheckedOp& fast, const CheckedOp& exact, const std::vector<CheckInput>& inputs,
                           const std::string& what, double tolerance = 1e-4) {
  for (const std::string& isa : available_isas()) {
    force_isa(isa);
    EXPECT_LT(precision_error(fast, exact, inputs), tolerance) << what << ", " << isa;
  }
  force_isa("auto");
}

/// What an operation says when its arguments don't fit.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

}  // namespace attune
