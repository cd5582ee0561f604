// What products do to their results, on a Pack. Compiled once per instruction set.
#if defined(ATTUNE_EPILOGUE_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_EPILOGUE_PER_TARGET
#undef ATTUNE_EPILOGUE_PER_TARGET
#else
#define ATTUNE_EPILOGUE_PER_TARGET
#endif

#include "kernels/matrix/gemm.h"
#include "kernels/rows/activation_math.h"

KERNELS_BEGIN

/// The complete sums of row i, columns j to j + count: what becomes of them.
HWY_INLINE Pack<float> finished(const Epilogue& e, Pack<float> v, int64_t i, int64_t j, int64_t count) {
  if (e.bias) v = v + load_at(e.bias + j, count);
  if (e.before) store_at(v, e.before + i * e.before_stride + j, count);
  v = activate(e.activation, v);
  if (e.residual) v = v + load_at(e.residual + i * e.residual_stride + j, count);
  return v;
}

KERNELS_END

#endif
