#include "kernels/gemm.h"
#include <gtest/gtest.h>
TEST(Gemm, Builds) { EXPECT_GT(attune::kernels::measure_peak_gflops(), 1.0); }
