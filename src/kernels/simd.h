// Highway's ritual, in one place. A kernel file looks like this:
//
//   #include "kernels/rows/norm.h"
//   #define KERNELS_FILE "kernels/rows/norm.cc"      // its own path: the file is compiled once per instruction set
//   #include "kernels/simd.h"
//
//   KERNELS_BEGIN                               // namespace attune::kernels::(instruction set)
//   void layer_norm(const NormArgs& a) { ... Pack<float> ... }
//   KERNELS_END
//
//   #if KERNELS_ONCE                            // what follows is compiled once
//   namespace attune::kernels {
//   KERNEL_EXPORT(layer_norm);
//   void layer_norm(const NormArgs& a) { KERNEL_CALL(layer_norm)(a); }
//   }
//   #endif
//
// Kernels are written with Pack<T>: sixteen numbers, whatever the vector size of the machine, so that every reduction
// has the same sixteen lanes and the same tree everywhere. Pack<float> is vector registers; Pack<double> is a plain
// array that does the same in double precision, which makes each kernel its own reference type. A kernel of both types
// chooses with by_pack_type inside and is called with KERNEL_CALL_OF outside: doubles are compiled once, as plain code.
//
// This header has no include guard around its second half on purpose.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/denormals.h"
#include "kernels/isa.h"
#include "tensor/tensor.h"

// Three targets: plain code that any x86-64 runs, AVX2 + FMA, AVX-512. More would only cost compile time. On ARM one,
// the NEON that all of its 64-bit CPUs have (no dispatch, by a macro of Highway that CMake sets): vectors of SVE have
// no size, and arrays of registers need one.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#ifdef KERNELS_UNIT  // several kernel files as one: all of them are compiled for one instruction set, then for the next
#undef KERNELS_FILE
#define HWY_TARGET_INCLUDE KERNELS_UNIT
#else
#define HWY_TARGET_INCLUDE KERNELS_FILE
#endif
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#undef KERNELS_BEGIN
#undef KERNELS_END
#undef KERNELS_OPTIMIZE
#undef KERNELS_OPTIMIZED
#undef KERNELS_INLINE
#undef KERNELS_ONCE
#undef KERNEL_EXPORT
#undef KERNEL_CALL
#undef KERNEL_CALL_OF
// Plain code is there to be right, not fast: optimised less, and with calls instead of copies, it takes less than half
// the time to compile.
#if HWY_TARGET == HWY_SCALAR && defined(__OPTIMIZE__) && !defined(__clang__)
#define KERNELS_OPTIMIZE _Pragma("GCC push_options") _Pragma("GCC optimize(\"O1\")")
#define KERNELS_OPTIMIZED _Pragma("GCC pop_options")
#else
#define KERNELS_OPTIMIZE
#define KERNELS_OPTIMIZED
#endif
#if HWY_TARGET == HWY_SCALAR
#define KERNELS_INLINE inline
#else
#define KERNELS_INLINE HWY_INLINE
#endif
#define KERNELS_BEGIN     \
  HWY_BEFORE_NAMESPACE(); \
  KERNELS_OPTIMIZE        \
  namespace attune {      \
  namespace kernels {     \
  namespace HWY_NAMESPACE {
#define KERNELS_END \
  }                 \
  }                 \
  }                 \
  KERNELS_OPTIMIZED \
  HWY_AFTER_NAMESPACE();
#define KERNELS_ONCE HWY_ONCE
#define KERNEL_EXPORT(name) HWY_EXPORT(name)
#define KERNEL_CALL(name)  \
  FlushDenormals flushed_; \
  HWY_DYNAMIC_DISPATCH(name)
#define KERNEL_CALL_OF(type, name) \
  FlushDenormals flushed_;         \
  ((type) == DType::f64 ? HWY_STATIC_DISPATCH(name) : HWY_DYNAMIC_DISPATCH(name))

#if defined(ATTUNE_SIMD_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_SIMD_PER_TARGET
#undef ATTUNE_SIMD_PER_TARGET
#else
#define ATTUNE_SIMD_PER_TARGET
#endif

KERNELS_BEGIN

namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, 16>;
using U = hn::RebindToUnsigned<F>;
using FVec = hn::Vec<F>;
using UVec = hn::Vec<U>;
inline constexpr int kLanes =
    HWY_LANES(float) < 16 ? static_cast<int>(HWY_LANES(float)) : 16;  // floats in one register
inline constexpr int kRegs = 16 / kLanes;                             // registers in a Pack
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
inline constexpr bool kMaskedMemory = true;  // masked loads and stores never touch what lies beyond
#else
inline constexpr bool kMaskedMemory = false;
#endif

/// The larger of each pair; where one is not a number, the second, as x86 has it and Highway elsewhere has not.
KERNELS_INLINE FVec max_reg(FVec a, FVec b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::Max(a, b);
#else
  return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}
/// The smaller, likewise.
KERNELS_INLINE FVec min_reg(FVec a, FVec b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

template <class T>
struct Pack;

/// Sixteen floats in registers.
template <>
struct Pack<float> {
  FVec r[kRegs];
};

/// Sixteen doubles, for checking.
template <>
struct Pack<double> {
  double r[16];
};

/// f(float{}) or f(double{}). Doubles never get here but in the target that every machine has: see KERNEL_CALL_OF.
template <class Fn>
KERNELS_INLINE void by_pack_type(DType type, Fn fn) {
#if HWY_TARGET == HWY_STATIC_TARGET
  if (type == DType::f64) return fn(double{});
#endif
  (void)type;
  fn(float{});
}

// Plain code and doubles are there to be right, not fast: their loops stay loops, or half the compile time goes there.
template <class Fn>
KERNELS_INLINE Pack<float> each(Fn fn) {
  Pack<float> out;
#if HWY_TARGET == HWY_SCALAR
#pragma GCC unroll 1
#else
#pragma GCC unroll 4
#endif
  for (int i = 0; i < kRegs; ++i) out.r[i] = fn(i);
  return out;
}
template <class Fn>
KERNELS_INLINE Pack<double> each64(Fn fn) {
  Pack<double> out;
#pragma GCC unroll 1
  for (int i = 0; i < 16; ++i) out.r[i] = fn(i);
  return out;
}

// --- memory ---------------------------------------------------------------------------------------------------------

KERNELS_INLINE Pack<float> load(const float* p) {
  return each([&](int i) HWY_ATTR { return hn::LoadU(F(), p + i * kLanes); });
}
KERNELS_INLINE Pack<double> load(const double* p) {
  return each64([&](int i) { return p[i]; });
}
KERNELS_INLINE void store(const Pack<float>& v, float* p) {
#pragma GCC unroll 4
  for (int i = 0; i < kRegs; ++i) hn::StoreU(v.r[i], F(), p + i * kLanes);
}
KERNELS_INLINE void store(const Pack<double>& v, double* p) {
  for (int i = 0; i < 16; ++i) p[i] = v.r[i];
}
/// The first n (0 to 16) numbers at p, zeros after them; nothing beyond is read.
KERNELS_INLINE Pack<float> load_n(const float* p, int64_t n) {
  if constexpr (kMaskedMemory) {
    return each([&](int i) HWY_ATTR {
      const int64_t left = n - i * kLanes;
      return hn::MaskedLoad(hn::FirstN(F(), static_cast<size_t>(left < 0 ? 0 : left)), F(), p + i * kLanes);
    });
  } else {
    float copy[16] = {};
    std::memcpy(copy, p, static_cast<size_t>(n) * sizeof(float));
    return load(copy);
  }
}
KERNELS_INLINE Pack<double> load_n(const double* p, int64_t n) {
  return each64([&](int i) { return i < n ? p[i] : 0.0; });
}
/// Writes the first n numbers only.
KERNELS_INLINE void store_n(const Pack<float>& v, float* p, int64_t n) {
  if constexpr (kMaskedMemory) {
#pragma GCC unroll 4
    for (int i = 0; i < kRegs; ++i) {
      const int64_t left = n - i * kLanes;
      hn::BlendedStore(v.r[i], hn::FirstN(F(), static_cast<size_t>(left < 0 ? 0 : left)), F(), p + i * kLanes);
    }
  } else {
    float copy[16];
    store(v, copy);
    std::memcpy(p, copy, static_cast<size_t>(n) * sizeof(float));
  }
}
KERNELS_INLINE void store_n(const Pack<double>& v, double* p, int64_t n) {
  for (int i = 0; i < 16 && i < n; ++i) p[i] = v.r[i];
}
template <class T>
KERNELS_INLINE Pack<T> splat(T x) {
  if constexpr (sizeof(T) == 4) {
    return each([&](int) HWY_ATTR { return hn::Set(F(), x); });
  } else {
    return each64([&](int) { return x; });
  }
}
template <class T>
KERNELS_INLINE Pack<T> zero() {
  return splat(T{0});
}

// --- arithmetic -----------------------------------------------------------------------------------------------------

#define ATTUNE_PACK_2(name, vector, scalar)                                        \
  KERNELS_INLINE Pack<float> name(const Pack<float>& a, const Pack<float>& b) {    \
    return each([&](int i) HWY_ATTR { return vector(a.r[i], b.r[i]); });           \
  }                                                                                \
  KERNELS_INLINE Pack<double> name(const Pack<double>& a, const Pack<double>& b) { \
    return each64([&](int i) {                                                     \
      const double x = a.r[i], y = b.r[i];                                         \
      return scalar;                                                               \
    });                                                                            \
  }
ATTUNE_PACK_2(operator+, hn::Add, x + y)
ATTUNE_PACK_2(operator-, hn::Sub, x - y)
ATTUNE_PACK_2(operator*, hn::Mul, x* y)
ATTUNE_PACK_2(operator/, hn::Div, x / y)
ATTUNE_PACK_2(max, max_reg, x > y ? x : y)
ATTUNE_PACK_2(min, min_reg, x < y ? x : y)
#undef ATTUNE_PACK_2

/// a * b + c, rounded once (f32 on machines with FMA).
KERNELS_INLINE Pack<float> fma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return each([&](int i) HWY_ATTR { return hn::MulAdd(a.r[i], b.r[i], c.r[i]); });
}
KERNELS_INLINE Pack<double> fma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return each64([&](int i) { return a.r[i] * b.r[i] + c.r[i]; });
}
KERNELS_INLINE Pack<float> sqrt(const Pack<float>& a) {
  return each([&](int i) HWY_ATTR { return hn::Sqrt(a.r[i]); });
}
KERNELS_INLINE Pack<double> sqrt(const Pack<double>& a) {
  return each64([&](int i) { return std::sqrt(a.r[i]); });
}
/// yes where x > y, else no.
KERNELS_INLINE Pack<float> where_greater(const Pack<float>& x, const Pack<float>& y, const Pack<float>& yes,
                                         const Pack<float>& no) {
  return each([&](int i) HWY_ATTR { return hn::IfThenElse(hn::Gt(x.r[i], y.r[i]), yes.r[i], no.r[i]); });
}
KERNELS_INLINE Pack<double> where_greater(const Pack<double>& x, const Pack<double>& y, const Pack<double>& yes,
                                          const Pack<double>& no) {
  return each64([&](int i) { return x.r[i] > y.r[i] ? yes.r[i] : no.r[i]; });
}
/// v in the first n lanes, `rest` in the others.
KERNELS_INLINE Pack<float> first_n(const Pack<float>& v, int64_t n, const Pack<float>& rest) {
  return each([&](int i) HWY_ATTR {
    const int64_t left = n - i * kLanes;
    return hn::IfThenElse(hn::FirstN(F(), static_cast<size_t>(left < 0 ? 0 : left)), v.r[i], rest.r[i]);
  });
}
KERNELS_INLINE Pack<double> first_n(const Pack<double>& v, int64_t n, const Pack<double>& rest) {
  return each64([&](int i) { return i < n ? v.r[i] : rest.r[i]; });
}

// --- reductions: one fixed tree over sixteen lanes (i with i + 8, then + 4, + 2, + 1) --------------------------------

template <class Op>
KERNELS_INLINE float reduce(const Pack<float>& v, Op op) {
#if HWY_TARGET == HWY_SCALAR
  FVec a[16];
  for (int i = 0; i < 16; ++i) a[i] = v.r[i];
  for (int h = 8; h > 0; h /= 2)
    for (int i = 0; i < h; ++i) a[i] = op(a[i], a[i + h]);
  return hn::GetLane(a[0]);
#else
  if constexpr (kRegs == 1) {
    const hn::Half<F> f8;
    const hn::Half<hn::Half<F> > f4;
    const auto a = op(hn::LowerHalf(f8, v.r[0]), hn::UpperHalf(f8, v.r[0]));
    auto b = op(hn::LowerHalf(f4, a), hn::UpperHalf(f4, a));
    b = op(b, hn::Shuffle1032(b));
    return hn::GetLane(op(b, hn::Shuffle2301(b)));
  } else if constexpr (kRegs == 2) {
    const hn::Half<F> f4;
    const auto a = op(v.r[0], v.r[kRegs - 1]);
    auto b = op(hn::LowerHalf(f4, a), hn::UpperHalf(f4, a));
    b = op(b, hn::Shuffle1032(b));
    return hn::GetLane(op(b, hn::Shuffle2301(b)));
  } else {
    auto b = op(op(v.r[0], v.r[2 % kRegs]), op(v.r[1 % kRegs], v.r[3 % kRegs]));
    b = op(b, hn::Shuffle1032(b));
    return hn::GetLane(op(b, hn::Shuffle2301(b)));
  }
#endif
}
template <class Op>
KERNELS_INLINE double reduce64(const Pack<double>& v, Op op) {
  double a[16];
  for (int i = 0; i < 16; ++i) a[i] = v.r[i];
  for (int h = 8; h > 0; h /= 2)
    for (int i = 0; i < h; ++i) a[i] = op(a[i], a[i + h]);
  return a[0];
}
KERNELS_INLINE float sum(const Pack<float>& v) {
  return reduce(v, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
}
KERNELS_INLINE double sum(const Pack<double>& v) {
  return reduce64(v, [](double a, double b) { return a + b; });
}
KERNELS_INLINE float max_of(const Pack<float>& v) {
  return reduce(v, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
}
KERNELS_INLINE double max_of(const Pack<double>& v) {
  return reduce64(v, [](double a, double b) { return a > b ? a : b; });
}

// --- rows: whole packs, then the tail by the same code, masked
// --------------------------------------------------------

/// body(column, count) for every sixteen columns of n; count is 16 but for the last.
template <class Body>
KERNELS_INLINE void for_packs(int64_t n, Body body) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t j = 0; j < n; j += 16) body(j, n - j < 16 ? n - j : 16);  // one copy of the body
#else
  int64_t j = 0;
  for (; j + 16 <= n; j += 16) body(j, 16);
  if (j < n) body(j, n - j);
#endif
}
template <class T>
KERNELS_INLINE Pack<T> load_at(const T* p, int64_t count) {
  return count == 16 ? load(p) : load_n(p, count);
}
template <class T>
KERNELS_INLINE void store_at(const Pack<T>& v, T* p, int64_t count) {
  if (count == 16)
    store(v, p);
  else
    store_n(v, p, count);
}
/// The sum of n numbers: sixteen lanes and their tree.
template <class T>
KERNELS_INLINE T sum_of(const T* p, int64_t n) {
  Pack<T> total = zero<T>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR { total = total + load_at(p + j, count); });
  return sum(total);
}
/// Stores v, or adds it to what is there.
template <class T>
KERNELS_INLINE void put_at(const Pack<T>& v, T* p, int64_t count, bool add) {
  store_at(add ? load_at(p, count) + v : v, p, count);
}

KERNELS_END

#endif
