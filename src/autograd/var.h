// Var: a handle to a value and, while training, to its gradient. Copying a Var shares the slot; the memory goes back to
// the arena when the last handle that needs it is gone.
#pragma once
#include <cstdint>
#include <utility>

#include "tensor/arena.h"
#include "tensor/tensor.h"

namespace attune {

struct PackedMatrix;
struct Int8Weight;

/// What a Var points to. Values and gradients have lives of their own: a backward function that needs only to send a
/// gradient on holds a Sink, which keeps no value alive.
struct Slot {
  Tensor value, grad;
  Arena* arena = nullptr;  // null: the memory belongs to somebody else (parameters, inputs)
  Arena::Block value_block = Arena::kNone, grad_block = Arena::kNone;
  int32_t refs = 0, value_refs = 0;
  bool needs_grad = false;
  bool own_flag = false;
  bool* grad_written = nullptr;  // whether the gradient holds anything yet: the first writer stores, the others add
  Slot* alias = nullptr;         // a reshaped view shares memory and gradient of this slot
  const PackedMatrix* packed = nullptr;             // a weight's panels for x W^T, kept by its owner
  const PackedMatrix* packed_transposed = nullptr;  // and for dy W
  Slot* next_unused = nullptr;
  class SlotPool* pool = nullptr;
  const Int8Weight* int8 = nullptr;  // a weight held as int8 alone: its value has no numbers
};

void drop_value(Slot* slot);
void drop_slot(Slot* slot);

/// Where a gradient goes (or comes from): keeps the slot, not the value.
class Sink {
 public:
  Sink() = default;
  explicit Sink(Slot* s) : slot_(s) {
    if (slot_) ++slot_->refs;
  }
  Sink(const Sink& o) : Sink(o.slot_) {}
  Sink(Sink&& o) noexcept : slot_(std::exchange(o.slot_, nullptr)) {}
  Sink& operator=(Sink o) noexcept {
    std::swap(slot_, o.slot_);
    return *this;
  }
  ~Sink() {
    if (slot_ && --slot_->refs == 0) drop_slot(slot_);
  }
  Slot* slot() const { return slot_; }
  explicit operator bool() const { return slot_ != nullptr; }
  bool needs_grad() const { return slot_ && slot_->needs_grad; }
  bool has_grad() const;

 private:
  Slot* slot_ = nullptr;
};

class Var {
 public:
  Var() = default;
  explicit Var(Slot* s) : sink_(s) {
    if (s) ++s->value_refs;
  }
  Var(const Var& o) : Var(o.slot()) {}
  Var(Var&& o) noexcept : sink_(std::move(o.sink_)) {}
  Var& operator=(Var o) noexcept {
    std::swap(sink_, o.sink_);
    return *this;
  }
  ~Var() {
    Slot* s = slot();
    if (s && --s->value_refs == 0) drop_value(s);
  }

  const Tensor& value() const { return slot()->value; }
  const Shape& shape() const { return slot()->value.shape; }
  DType dtype() const { return slot()->value.dtype; }
  int64_t rows() const { return value().rows(); }
  int64_t cols() const { return value().cols(); }
  bool needs_grad() const { return sink_.needs_grad(); }
  bool has_grad() const { return sink_.has_grad(); }
  /// The gradient after `Tape::backward`; only where has_grad().
  Tensor grad() const;
  Slot* slot() const { return sink_.slot(); }
  const Sink& sink() const { return sink_; }
  explicit operator bool() const { return slot() != nullptr; }

 private:
  Sink sink_;
};

}  // namespace attune
