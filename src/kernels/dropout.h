// The dropout mask of sixteen neighbouring columns, as base/random.h defines it element by element.
// Include after kernels/simd.h; compiled once per instruction set.
#if defined(ATTUNE_DROPOUT_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_DROPOUT_PER_TARGET
#undef ATTUNE_DROPOUT_PER_TARGET
#else
#define ATTUNE_DROPOUT_PER_TARGET
#endif

#include "base/random.h"

KERNELS_BEGIN

/// Applies one row's dropout: v's kept elements times 1 / (1 - rate), the others 0. `column` is a multiple of 16.
class DropoutRow {
 public:
  HWY_INLINE DropoutRow(const Dropout& d, int64_t row)
      : threshold_(dropout_threshold(d.rate)), scale_(dropout_scale(d.rate)), key_(row_key(d, row)) {}

  HWY_INLINE Pack<float> apply(const Pack<float>& v, int64_t column) const {
    return each([&](int i)
                    HWY_ATTR { return hn::IfThenElseZero(keep(column, i), hn::Mul(v.r[i], hn::Set(F(), scale_))); });
  }
  HWY_INLINE Pack<double> apply(const Pack<double>& v, int64_t column) const {
    return each64([&](int i) {
      const bool drop = dropout_bits(key_, static_cast<uint32_t>(column + i)) < threshold_;
      return drop ? 0.0 : v.r[i] * static_cast<double>(scale_);
    });
  }
  /// Zero where dropped, else v unchanged.
  HWY_INLINE Pack<float> mask(const Pack<float>& v, int64_t column) const {
    return each([&](int i) HWY_ATTR { return hn::IfThenElseZero(keep(column, i), v.r[i]); });
  }
  float scale() const { return scale_; }

 private:
  HWY_INLINE hn::Mask<F> keep(int64_t column, int i) const {
    const U u;
    const hn::RebindToSigned<F> s;
    const auto word = static_cast<uint32_t>((column >> 5) << 4) + static_cast<uint32_t>(i * kLanes);
    UVec h = hn::Mul(hn::Add(hn::Iota(u, 0), hn::Set(u, word)), hn::Set(u, 0x9e3779b1u));
    h = hn::Add(h, hn::Set(u, static_cast<uint32_t>(key_)));
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    h = hn::Mul(h, hn::Set(u, 0x7feb352du));
    h = hn::Xor(h, hn::Set(u, static_cast<uint32_t>(key_ >> 32)));
    h = hn::Xor(h, hn::ShiftRight<15>(h));
    h = hn::Mul(h, hn::Set(u, 0x846ca68bu));
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    h = column & 16 ? hn::ShiftRight<16>(h) : hn::And(h, hn::Set(u, 0xffffu));
    // both sides are below 2^17, so the signed comparison is the unsigned one
    return hn::RebindMask(F(), hn::Gt(hn::BitCast(s, h), hn::Set(s, static_cast<int32_t>(threshold_) - 1)));
  }

  uint32_t threshold_;
  float scale_;
  uint64_t key_;
};

KERNELS_END

#endif
