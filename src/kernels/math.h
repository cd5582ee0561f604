// exp, log, tanh, erf and friends on a Pack: fused multiply-add polynomials of our own in f32 (never libm, whose bits
// differ between machines), libm in f64. Include after kernels/simd.h; compiled once per instruction set.
#if defined(ATTUNE_MATH_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_MATH_PER_TARGET
#undef ATTUNE_MATH_PER_TARGET
#else
#define ATTUNE_MATH_PER_TARGET
#endif

KERNELS_BEGIN

// Not-a-number goes through all of them: a diverged run must show.

/// x, at least `low` and at most `high`.
KERNELS_INLINE FVec clamp_reg(FVec x, float low, float high) {
  const F f;
  return min_reg(hn::Set(f, high), max_reg(hn::Set(f, low), x));  // in this order: not-a-number is the second
}

/// 2^(r + n) for one register, |r| <= 0.5 and n the integer in the low bits of `rounded`. Relative error 8e-8.
KERNELS_INLINE FVec exp2_part(FVec r, FVec rounded) {
  const F f;
  auto p = hn::Set(f, 1.534581203e-4f);
  p = hn::MulAdd(p, r, hn::Set(f, 1.339993136e-3f));
  p = hn::MulAdd(p, r, hn::Set(f, 9.618488958e-3f));
  p = hn::MulAdd(p, r, hn::Set(f, 5.550328777e-2f));
  p = hn::MulAdd(p, r, hn::Set(f, 2.402264689e-1f));
  p = hn::MulAdd(p, r, hn::Set(f, 6.931472057e-1f));
  p = hn::MulAdd(p, r, hn::Set(f, 1.0f));
  const auto scale = hn::ShiftLeft<23>(hn::BitCast(U(), rounded));
  return hn::BitCast(f, hn::Add(hn::BitCast(U(), p), scale));
}
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, kept in the low bits

/// 2^x for one register: 0 below 2^-126, and the largest number where the result would be larger.
KERNELS_INLINE FVec exp2_reg(FVec x) {
  const F f;
  const auto magic = hn::Set(f, kRounder);
  const auto clamped = clamp_reg(x, -126.0f, 127.99999f);
  const auto rounded = hn::Add(clamped, magic);
  const auto y = exp2_part(hn::Sub(clamped, hn::Sub(rounded, magic)), rounded);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(f, -126.0f)), y);
}

/// e^x for one register, with the same ends. log2(e) in two parts: x log2(e) alone would carry an error of |x| 1e-7.
KERNELS_INLINE FVec exp_reg(FVec x) {
  const F f;
  const auto magic = hn::Set(f, kRounder);
  const auto clamped = clamp_reg(x, -87.336544f, 88.7228f);
  const auto log2e = hn::Set(f, 1.44269502f);
  const auto rounded = hn::MulAdd(clamped, log2e, magic);
  auto r = hn::MulSub(clamped, log2e, hn::Sub(rounded, magic));
  r = hn::MulAdd(clamped, hn::Set(f, 1.92596299e-8f), r);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(f, -87.336544f)), exp2_part(r, rounded));
}

/// log2(x) for one register, x a positive normal number. Relative error 3e-7, near 1 too.
KERNELS_INLINE FVec log2_reg(FVec x) {
  const F f;
  const hn::RebindToSigned<F> i;
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) makes the exponent field e.
  const auto bits = hn::BitCast(i, x);
  const auto offset = hn::Sub(bits, hn::Set(i, 0x3f3504f3));
  const auto e = hn::ConvertTo(f, hn::ShiftRight<23>(offset));
  const auto m = hn::BitCast(f, hn::Add(hn::And(offset, hn::Set(i, 0x007fffff)), hn::Set(i, 0x3f3504f3)));
  const auto one = hn::Set(f, 1.0f);
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));  // log m = 2 (s + s^3/3 + s^5/5 + ...)
  const auto z = hn::Mul(s, s);
  auto p = hn::Set(f, 1.0f / 9);
  p = hn::MulAdd(p, z, hn::Set(f, 1.0f / 7));
  p = hn::MulAdd(p, z, hn::Set(f, 1.0f / 5));
  p = hn::MulAdd(p, z, hn::Set(f, 1.0f / 3));
  p = hn::MulAdd(p, z, one);
  const auto y = hn::MulAdd(hn::Mul(s, hn::Set(f, 2.885390082f)), p, e);  // 2 / ln 2
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

/// y, or the sign of x where |x| >= bound: tanh and erf must end in exactly 1, for gelu multiplies what is missing by
/// x.
KERNELS_INLINE FVec sign_beyond(FVec x, float bound, FVec y) {
  const F f;
  return hn::IfThenElse(hn::Ge(hn::Abs(x), hn::Set(f, bound)), hn::CopySign(hn::Set(f, 1.0f), x), y);
}

/// tanh for one register: a rational approximation on [-7.9, 7.9], 1 beyond.
KERNELS_INLINE FVec tanh_reg(FVec x) {
  const F f;
  constexpr float kEnd = 7.90531110763549805f;
  const FVec whole = x;
  x = clamp_reg(x, -kEnd, kEnd);
  const auto z = hn::Mul(x, x);
  auto p = hn::Set(f, -2.76076847742355e-16f);
  p = hn::MulAdd(p, z, hn::Set(f, 2.00018790482477e-13f));
  p = hn::MulAdd(p, z, hn::Set(f, -8.60467152213735e-11f));
  p = hn::MulAdd(p, z, hn::Set(f, 5.12229709037114e-08f));
  p = hn::MulAdd(p, z, hn::Set(f, 1.48572235717979e-05f));
  p = hn::MulAdd(p, z, hn::Set(f, 6.37261928875436e-04f));
  p = hn::MulAdd(p, z, hn::Set(f, 4.89352455891786e-03f));
  auto q = hn::Set(f, 1.19825839466702e-06f);
  q = hn::MulAdd(q, z, hn::Set(f, 1.18534705686654e-04f));
  q = hn::MulAdd(q, z, hn::Set(f, 2.26843463243900e-03f));
  q = hn::MulAdd(q, z, hn::Set(f, 4.89352518554385e-03f));
  return sign_beyond(whole, kEnd, hn::Div(hn::Mul(x, p), q));
}

/// erf for one register: a rational approximation on [-4, 4], 1 beyond.
KERNELS_INLINE FVec erf_reg(FVec x) {
  const F f;
  const FVec whole = x;
  x = clamp_reg(x, -4.0f, 4.0f);
  const auto z = hn::Mul(x, x);
  auto p = hn::Set(f, -2.72614225801306e-10f);
  p = hn::MulAdd(p, z, hn::Set(f, 2.77068142495902e-08f));
  p = hn::MulAdd(p, z, hn::Set(f, -2.10102402082508e-06f));
  p = hn::MulAdd(p, z, hn::Set(f, -5.69250639462346e-05f));
  p = hn::MulAdd(p, z, hn::Set(f, -7.34990630326855e-04f));
  p = hn::MulAdd(p, z, hn::Set(f, -2.95459980854025e-03f));
  p = hn::MulAdd(p, z, hn::Set(f, -1.60960333262415e-02f));
  auto q = hn::Set(f, -1.45660718464996e-05f);
  q = hn::MulAdd(q, z, hn::Set(f, -2.13374055278905e-04f));
  q = hn::MulAdd(q, z, hn::Set(f, -1.68282697438203e-03f));
  q = hn::MulAdd(q, z, hn::Set(f, -7.37332916720468e-03f));
  q = hn::MulAdd(q, z, hn::Set(f, -1.42647390514189e-02f));
  return sign_beyond(whole, 4.0f, hn::Div(hn::Mul(x, p), q));
}

#define ATTUNE_PACK_1(name, vector, scalar)                 \
  KERNELS_INLINE Pack<float> name(const Pack<float>& a) {   \
    return each([&](int i) HWY_ATTR {                       \
      const FVec x = a.r[i];                                \
      return vector;                                        \
    });                                                     \
  }                                                         \
  KERNELS_INLINE Pack<double> name(const Pack<double>& a) { \
    return each64([&](int i) {                              \
      const double x = a.r[i];                              \
      return scalar;                                        \
    });                                                     \
  }
ATTUNE_PACK_1(exp2, exp2_reg(x), std::exp2(x))
ATTUNE_PACK_1(exp, exp_reg(x), std::exp(x))
ATTUNE_PACK_1(log2, log2_reg(x), std::log2(x))
ATTUNE_PACK_1(log, hn::Mul(log2_reg(x), hn::Set(F(), 0.69314718056f)), std::log(x))
ATTUNE_PACK_1(tanh, tanh_reg(x), std::tanh(x))
ATTUNE_PACK_1(erf, erf_reg(x), std::erf(x))
#undef ATTUNE_PACK_1
template <class T>
KERNELS_INLINE Pack<T> sigmoid(const Pack<T>& x) {
  return splat(T{1}) / (splat(T{1}) + exp(zero<T>() - x));
}

/// The same for one number, by the same code.
KERNELS_INLINE float log2_of(float x) { return hn::GetLane(log2_reg(hn::Set(F(), x))); }

KERNELS_END

#endif
