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
    return select(words(column), column, each([&](int i) HWY_ATTR { return hn::Mul(v.r[i], hn::Set(F(), scale_)); }));
  }
  HWY_INLINE Pack<double> apply(const Pack<double>& v, int64_t column) const {
    return each64([&](int i) {
      const bool drop = dropout_bits(key_, static_cast<uint32_t>(column + i)) < threshold_;
      return drop ? 0.0 : v.r[i] * static_cast<double>(scale_);
    });
  }
  /// Zero where dropped, else v unchanged.
  HWY_INLINE Pack<float> mask(const Pack<float>& v, int64_t column) const { return select(words(column), column, v); }
  float scale() const { return scale_; }

 protected:
  struct Words {
    UVec r[kRegs];
  };
  /// The sixteen words whose halves decide the columns of a run of 32.
  HWY_INLINE Words words(int64_t column) const {
    const U u;
    const auto word = static_cast<uint32_t>((column >> 5) << 4);
    Words out;
#pragma GCC unroll 16
    for (int i = 0; i < kRegs; ++i) {
      // (lane + word) c + key, the multiplication of the lanes' numbers being the same for every column
      const UVec lane = hn::Mul(hn::Iota(u, static_cast<uint32_t>(i * kLanes)), hn::Set(u, kWordFactor));
      UVec h = hn::Add(lane, hn::Set(u, word * kWordFactor + static_cast<uint32_t>(key_)));
      h = hn::Xor(h, hn::ShiftRight<16>(h));
      h = hn::Mul(h, hn::Set(u, 0x7feb352du));
      h = hn::Xor(h, hn::Set(u, static_cast<uint32_t>(key_ >> 32)));
      h = hn::Xor(h, hn::ShiftRight<15>(h));
      h = hn::Mul(h, hn::Set(u, 0x846ca68bu));
      out.r[i] = hn::Xor(h, hn::ShiftRight<16>(h));
    }
    return out;
  }
  HWY_INLINE Pack<float> select(const Words& w, int64_t column, const Pack<float>& v) const {
    const U u;
    const hn::RebindToSigned<F> s;
    return each([&](int i) HWY_ATTR {
      const UVec h = column & 16 ? hn::ShiftRight<16>(w.r[i]) : hn::And(w.r[i], hn::Set(u, 0xffffu));
      // both sides are below 2^17, so the signed comparison is the unsigned one; Highway has no >= for integers
      const auto keep = hn::Gt(hn::BitCast(s, h), hn::Set(s, static_cast<int32_t>(threshold_) - 1));
      return hn::IfThenElseZero(hn::RebindMask(F(), keep), v.r[i]);
    });
  }

  static constexpr uint32_t kWordFactor = 0x9e3779b1u;
  uint32_t threshold_;
  float scale_;
  uint64_t key_;
};

/// The same for columns in ascending order from a multiple of 32 on: each word is made once for its two halves.
class DropoutSweep : public DropoutRow {
 public:
  HWY_INLINE DropoutSweep(const Dropout& d, int64_t row) : DropoutRow(d, row), words_(words(0)) {}
  HWY_INLINE Pack<float> apply(const Pack<float>& v, int64_t column) {
    if (!(column & 16)) words_ = words(column);
    return select(words_, column, each([&](int i) HWY_ATTR { return hn::Mul(v.r[i], hn::Set(F(), scale_)); }));
  }

 private:
  Words words_;
};

KERNELS_END

#endif
