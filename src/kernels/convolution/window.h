// Which rows a convolution's window sees: the arithmetic of strides, dilation and borders, once for all passes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tensor/grids.h"

namespace attune::kernels {

/// A window that moves along one axis. Tap j of its place p looks at p * stride + j * dilation - before.
struct Window {
  int64_t taps = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // zeros that count on either side

  int64_t reach() const { return (taps - 1) * dilation; }
  /// How many places it has on an axis of this length; none on an empty one, whatever surrounds it.
  int64_t places(int64_t length) const {
    const int64_t room = length + before + after - reach();
    return length == 0 || room <= 0 ? 0 : (room - 1) / stride + 1;
  }
};

/// What one point sees along an axis. Slot k is tap `tap + k * tap_step` at `base + k * move` of the other side; only
/// slots [begin, end) lie within it.
struct Look {
  int64_t tap = 0, tap_step = 1, slots = 0;
  int64_t base = 0, move = 1;
  int64_t begin = 0, end = 0;

  int64_t tap_of(int64_t slot) const { return tap + slot * tap_step; }
  int64_t source(int64_t slot) const { return base + slot * move; }
  /// Finds [begin, end) for another side of this length. Points far from the border need no division.
  void within(int64_t length) {
    const int64_t last = slots - 1, by = move < 0 ? -move : move;
    const int64_t low = move < 0 ? length - 1 - base : base;  // the same seen from the end where slot 0 is
    begin = low >= 0 ? 0 : (by - 1 - low) / by;
    end = low + last * by < length ? slots : low < length ? (length - 1 - low) / by + 1 : 0;
    begin = std::min(begin, end);
  }
};

/// From a place of the window to the points of an axis.
inline Look look_ahead(const Window& w, int64_t place, int64_t length) {
  Look l;
  l.slots = w.taps;
  l.base = place * w.stride - w.before;
  l.move = w.dilation;
  l.within(length);
  return l;
}

/// The taps through which a point can be seen: with a stride, only some, and the same for all points whose
/// (at + before) % stride is `phase`. Without any, slots is 0.
inline Look taps_of_phase(const Window& w, int64_t phase) {
  Look l;
  l.slots = w.taps;
  l.tap_step = w.stride / std::gcd(w.stride, w.dilation);
  while (l.tap < l.tap_step && (phase - l.tap * w.dilation) % w.stride != 0) ++l.tap;
  const bool any = l.tap < l.tap_step && l.tap < w.taps;
  l.slots = any ? (w.taps - 1 - l.tap) / l.tap_step + 1 : 0;
  l.move = -w.dilation * l.tap_step / w.stride;
  return l;
}

/// From a point of an axis to the places whose windows see it; `taps` are those of its phase.
inline Look look_behind(const Window& w, const Look& taps, int64_t at, int64_t places) {
  Look l = taps;
  l.base = at + w.before - l.tap * w.dilation;
  if (w.stride > 1) l.base /= w.stride;
  if (l.slots > 0) l.within(places);
  return l;
}

/// Where the rows of one side of a convolution are: grids, or sequences, which are grids of one line.
struct Side {
  const Segments* segments = nullptr;
  const GridSize* sizes = nullptr;  // null: sequences

  int64_t height(int64_t i) const { return sizes ? sizes[i].height : 1; }
  int64_t width(int64_t i) const { return sizes ? sizes[i].width : segments->length(i); }
};

/// One axis as a walk goes along it: where it is, and in which phase.
class Along {
 public:
  Along(const Window& w, bool ahead) : window_(w), ahead_(ahead) {
    for (int64_t i = 0; !ahead && i < std::min(w.stride, kKnown); ++i) taps_[i] = taps_of_phase(w, i);
  }
  int64_t at() const { return at_; }
  int64_t phase() const { return phase_; }
  void go_to(int64_t at) {
    at_ = at;
    phase_ = (at + window_.before) % window_.stride;
  }
  void move() {
    ++at_;
    if (++phase_ == window_.stride) phase_ = 0;
  }
  /// What it sees from here of another side of this length.
  Look look(int64_t length) const {
    if (ahead_) return look_ahead(window_, at_, length);
    return look_behind(window_, phase_ < kKnown ? taps_[phase_] : taps_of_phase(window_, phase_), at_, length);
  }

 private:
  static constexpr int64_t kKnown = 4;  // phases whose taps are found once
  const Window& window_;
  const bool ahead_;
  int64_t at_ = 0, phase_ = 0;
  Look taps_[kKnown];
};

/// Goes over the rows of one side and knows which rows of the other each of them sees.
class Walk {
 public:
  /// `ahead`: `here` are places of the windows, `there` what they look at; else the other way round.
  struct Way {
    Side here, there;
    const Window &height, &width;
    bool ahead;
  };
  Walk(const Way& way, int64_t row) : way_(way), row_(row), y_(way.height, way.ahead), x_(way.width, way.ahead) {
    const auto& start = way.here.segments->start;
    index_ = std::upper_bound(start.begin(), start.end() - 1, static_cast<int32_t>(row)) - start.begin() - 1;
    enter();
    const int64_t at = row - way.here.segments->begin(index_);
    y_.go_to(at / width_);
    x_.go_to(at % width_);
    look();
  }
  void next() {
    move();
    look();
  }
  /// next() in two parts, for those who skip rows: all that is seen is known after look() alone.
  void move() {
    const Segments& segments = *way_.here.segments;
    x_.move();
    if (++row_ == segments.begin(index_ + 1)) {
      do
        if (++index_ == segments.count()) return;
      while (segments.length(index_) == 0);
      enter();
      y_.go_to(0);
    } else if (x_.at() < width_) {
      return;
    } else {
      y_.move();
    }
    x_.go_to(0);
    new_line_ = true;
  }
  void look() {
    if (index_ == way_.here.segments->count()) return;  // beyond the last row
    if (new_line_) high_ = y_.look(lines_);
    new_line_ = false;
    wide_ = x_.look(line_);
  }
  int64_t row() const { return row_; }
  /// Which of the phases of taps_of_phase the row is in, counted line by line. Looking behind only.
  int64_t phase() const { return y_.phase() * way_.width.stride + x_.phase(); }
  const Look& high() const { return high_; }
  const Look& wide() const { return wide_; }
  bool sees_nothing() const { return high_.begin == high_.end || wide_.begin == wide_.end; }
  /// The other side's row at these slots, which lie within; and the tap.
  int64_t source(int64_t high, int64_t wide) const { return origin_ + high_.source(high) * line_ + wide_.source(wide); }
  int64_t tap(int64_t high, int64_t wide) const { return high_.tap_of(high) * way_.width.taps + wide_.tap_of(wide); }
  /// body(tap, row of the other side) for all taps that see one, in ascending order.
  template <class Body>
  void each(Body body) const {
    for (int64_t y = high_.begin; y < high_.end; ++y)
      for (int64_t x = wide_.begin; x < wide_.end; ++x) body(tap(y, x), source(y, x));
  }

 private:
  void enter() {
    width_ = way_.here.width(index_);
    line_ = way_.there.width(index_);
    lines_ = way_.there.height(index_);
    origin_ = way_.there.segments->begin(index_);
  }

  const Way way_;
  int64_t row_, index_ = 0;
  int64_t width_ = 0;                          // of this side's grid
  int64_t line_ = 0, lines_ = 0, origin_ = 0;  // the other side's width, height and first row
  Along y_, x_;
  bool new_line_ = true;
  Look high_, wide_;
};

}  // namespace attune::kernels
