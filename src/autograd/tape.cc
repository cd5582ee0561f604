#include "autograd/tape.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace attune {

namespace {
constexpr size_t kSlotsPerChunk = 256;
constexpr size_t kClosureChunk = size_t{1} << 16;
Slot* root(Slot* s) {
  while (s->alias) s = s->alias;
  return s;
}
void free_grad(Slot* s) {
  if (s->grad_block != Arena::kNone) s->arena->release(s->grad_block);
  s->grad_block = Arena::kNone;
  s->grad = {};
}
}  // namespace

Slot* SlotPool::take() {
  if (!unused_) {
    chunks_.push_back(std::make_unique<Slot[]>(kSlotsPerChunk));
    for (size_t i = 0; i < kSlotsPerChunk; ++i) give(&chunks_.back()[i]);
  }
  Slot* s = unused_;
  unused_ = s->next_unused;
  *s = Slot{};
  s->pool = this;
  s->grad_written = &s->own_flag;
  return s;
}

void SlotPool::give(Slot* slot) {
  slot->next_unused = unused_;
  unused_ = slot;
}

void drop_value(Slot* s) {
  if (s->value_block != Arena::kNone) s->arena->release(s->value_block);
  s->value_block = Arena::kNone;
  // An alias kept its origin's value alive through a count of its own.
  if (s->alias && --s->alias->value_refs == 0) drop_value(s->alias);
}

void drop_slot(Slot* s) {
  free_grad(s);
  Slot* origin = s->alias;
  s->pool->give(s);
  if (origin && --origin->refs == 0) drop_slot(origin);
}

bool Sink::has_grad() const { return slot_ && slot_->needs_grad && *root(slot_)->grad_written; }

Tensor Var::grad() const {
  check(has_grad(), "grad", "no gradient reached this value");
  Tensor g = root(slot())->grad;
  if (slot()->alias) g = Tensor(g.data, g.dtype, slot()->value.shape);
  return g;
}

Var Ctx::make(const Shape& shape, DType type, std::initializer_list<const Var*> from) {
  Slot* s = slots_.take();
  s->arena = &arena;
  s->value_block = arena.allocate(shape.size() * bytes_of(type));
  s->value = Tensor(arena.block_data(s->value_block), type, shape);
  if (tape)
    for (const Var* v : from) s->needs_grad = s->needs_grad || (*v && v->needs_grad());
  return Var(s);
}

Var Ctx::input(const Tensor& t, bool needs_grad) {
  Slot* s = slots_.take();
  s->arena = &arena;
  s->value = t;
  s->needs_grad = needs_grad;
  return Var(s);
}

Var Ctx::parameter(const Tensor& value, const Tensor& grad, bool* written) {
  wants_gradients = wants_gradients || grad;
  Var v = input(value, tape != nullptr && grad);
  v.slot()->grad = grad;
  v.slot()->grad_written = written ? written : &v.slot()->own_flag;
  return v;
}

Var Ctx::reshape(const Var& x, const Shape& shape) {
  check(shape.size() == x.shape().size(), "reshape", "{} has {} elements, {} has {}", x.shape().text(),
        x.shape().size(), shape.text(), shape.size());
  check(x.value().contiguous(), "reshape", "rows of {} lie {} apart: copy it first", x.shape().text(),
        x.value().stride);
  Slot* s = slots_.take();
  s->arena = &arena;
  s->value = Tensor(x.value().data, x.dtype(), shape);
  s->needs_grad = x.needs_grad();
  s->alias = x.slot();
  ++s->alias->refs;
  ++s->alias->value_refs;
  return Var(s);
}

Grad Ctx::grad(const Sink& x) {
  if (!x.needs_grad()) return {};
  Slot* s = root(x.slot());
  if (!s->grad) {
    s->grad_block = arena.allocate(s->value.size() * bytes_of(s->value.dtype));
    s->grad = Tensor(arena.block_data(s->grad_block), s->value.dtype, s->value.shape);
  }
  Grad g{s->grad, *s->grad_written};
  *s->grad_written = true;
  if (x.slot()->alias) g.tensor = Tensor(g.tensor.data, g.tensor.dtype, x.slot()->value.shape);
  return g;
}

Tensor Ctx::grad_of(const Sink& y) const {
  const Tensor& g = root(y.slot())->grad;
  return y.slot()->alias ? Tensor(g.data, g.dtype, y.slot()->value.shape) : g;
}

void Ctx::hand_grad(const Sink& from, const Var& to) const {
  Slot* slot = root(to.slot());
  slot->grad = root(from.slot())->grad;  // the memory stays the other's
  *slot->grad_written = true;
}

Dropout Ctx::dropout(float rate, uint64_t site) const {
  if (!training || rate <= 0) return {};
  check(rate < 1, "dropout", "a rate of {} leaves nothing", rate);
  return {rate, mix(mix(mix(seed), step), site), first_row};
}

int Tape::out_index(int i) {
  check(i < kMaxOuts, "tape", "an operation with more than {} results", int{kMaxOuts});
  return i;
}

void* Tape::take(size_t bytes, size_t align) {
  check(bytes + align <= kClosureChunk, "tape", "a closure of {} bytes", bytes);
  for (;;) {
    if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<std::byte[]>(kClosureChunk));
    const size_t at = (used_ + align - 1) / align * align;
    if (at + bytes <= kClosureChunk) {
      used_ = at + bytes;
      return chunks_[chunk_].get() + at;
    }
    ++chunk_;
    used_ = 0;
  }
}

void Tape::pop() {
  Node node = nodes_.back();
  nodes_.pop_back();
  node.destroy(node.closure);
  for (int i = 0; i < node.out_count; ++i)
    if (--node.outs[i]->refs == 0) drop_slot(node.outs[i]);
}

void Tape::backward(Ctx& ctx, const Var& loss, const Tensor* seed) {
  check(loss.needs_grad(), "backward", "the loss does not depend on anything that wants a gradient");
  check(seed || loss.shape().size() == 1, "backward", "a loss of shape {} needs a gradient to start from",
        loss.shape().text());
  Grad g = ctx.grad(loss);
  ctx.run([&] {
    if (seed) {
      check(seed->dtype == g.tensor.dtype && seed->size() == g.tensor.size() && seed->contiguous(), "backward",
            "the gradient to start from is {} {}, the loss {} {}", name_of(seed->dtype), seed->shape.text(),
            name_of(g.tensor.dtype), g.tensor.shape.text());
      if (seed->size() > 0)  // an empty one may have no memory at all
        std::memcpy(g.tensor.data, seed->data, static_cast<size_t>(seed->size() * bytes_of(seed->dtype)));
    } else {
      by_type(g.tensor.dtype, [&](auto t) { *g.tensor.as<decltype(t)>() = 1; });
    }
  });
  run_back(ctx);
}

void Tape::run_back(Ctx& ctx) {
  while (!nodes_.empty()) {
    const Node node = nodes_.back();
    bool reached = false;
    for (int i = 0; i < node.out_count; ++i) reached = reached || *root(node.outs[i])->grad_written;
    if (reached) node.call(node.closure, ctx);
    pop();
  }
  chunk_ = used_ = 0;
}

void Tape::clear() {
  while (!nodes_.empty()) pop();
  chunk_ = used_ = 0;
}

}  // namespace attune
