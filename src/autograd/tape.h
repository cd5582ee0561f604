// The tape and the context every operation gets.
//
// An operation is a free function: it checks its arguments, makes its result, runs its kernel at once and, where a
// gradient is wanted, pushes a closure that sends the gradient on:
//
//   Var scale(Ctx& ctx, const Var& x, double by) {
//     Var y = ctx.make(x.shape(), x.dtype(), {&x});
//     ctx.run([&] { kernels::scale(x.value(), by, y.value()); });
//     if (y.needs_grad())
//       ctx.tape->push(y, [x = x.sink(), y = y.sink(), by](Ctx& ctx) {
//         Grad dx = ctx.grad(x);
//         ctx.run([&] { kernels::scale_backward(ctx.grad_of(y), by, dx.tensor, dx.add); });
//       });
//     return y;
//   }
//
// Closures live in the tape's own memory, which is reused: a second identical step allocates nothing.
#pragma once
#include <initializer_list>
#include <memory>
#include <new>
#include <vector>

#include "autograd/var.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "tensor/segments.h"

namespace attune {

class Tape;

/// Recycles slots in stable chunks.
class SlotPool {
 public:
  Slot* take();
  void give(Slot* slot);

 private:
  std::vector<std::unique_ptr<Slot[]>> chunks_;
  Slot* unused_ = nullptr;
};

/// The gradient memory of a Var: the first to write stores, the others add.
struct Grad {
  Tensor tensor;
  bool add = false;
  explicit operator bool() const { return static_cast<bool>(tensor); }
};

/// Memory that lives until the end of the scope: scratch of a kernel.
class Scratch {
 public:
  Scratch(Arena& arena, int64_t bytes) : arena_(arena), block_(arena.allocate(bytes)) {}
  ~Scratch() { arena_.release(block_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(arena_.block_data(block_));
  }

 private:
  Arena& arena_;
  Arena::Block block_;
};

/// All that an operation may know of the world around it. One thread uses a Ctx at a time.
class Ctx {
 public:
  explicit Ctx(Arena& a) : arena(a) {}
  Ctx(const Ctx&) = delete;  // Vars point into it: it must outlive them
  Ctx& operator=(const Ctx&) = delete;

  Arena& arena;
  Tape* tape = nullptr;        // null: nothing is recorded (decoding)
  ThreadPool* pool = nullptr;  // null: kernels run on this thread alone (a shard of a training batch)
  bool training = false;       // dropout happens
  uint64_t seed = 1, step = 0;
  int64_t first_row = 0;         // this shard's first row in the whole batch
  bool wants_gradients = false;  // set by every parameter that wants one; for those who reset it

  /// A new result; it needs a gradient when a tape is there and one of `from` needs one.
  Var make(const Shape& shape, DType type, std::initializer_list<const Var*> from);
  /// A Var over memory of somebody else, which must outlive it.
  Var input(const Tensor& t, bool needs_grad = false);
  /// A parameter: gradients go to `grad`, `written` says whether it holds anything yet.
  Var parameter(const Tensor& value, const Tensor& grad, bool* written);
  /// The same memory and gradient under another shape. The value must be contiguous.
  Var reshape(const Var& x, const Shape& shape);

  /// Runs a kernel; a rehearsal skips it. Only code inside may look at the numbers of a tensor.
  template <class F>
  void run(F&& f) const {
    if (!arena.rehearsing()) f();
  }
  /// In a backward function: the memory to write a gradient to; empty when `x` needs none.
  Grad grad(const Sink& x);
  Grad grad(const Var& x) { return grad(x.sink()); }
  /// In a backward function: the finished gradient of a result.
  Tensor grad_of(const Sink& y) const;

  /// In a backward function: the finished gradient of one result becomes that of another of the same shape.
  void hand_grad(const Sink& from, const Var& to) const;

  /// The dropout of one place in the model (`site` is unique there): none unless training.
  Dropout dropout(float rate, uint64_t site) const;

 private:
  SlotPool slots_;
};

/// Records backward functions and runs them in reverse.
class Tape {
 public:
  Tape() = default;
  ~Tape() { clear(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// `backward(Ctx&)` runs when the gradient of `out` is complete, and not at all when nothing flowed into it.
  template <class F>
  void push(const Var& out, F&& backward) {
    push({&out}, std::forward<F>(backward));
  }
  /// The same for an operation with several results: runs when any of them has a gradient.
  template <class F>
  void push(std::initializer_list<const Var*> outs, F&& backward) {
    using Fn = std::decay_t<F>;
    static_assert(alignof(Fn) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "the tape's memory is aligned for plain types");
    Node node;
    for (const Var* v : outs)
      if (*v) node.outs[out_index(node.out_count++)] = v->slot();
    node.closure = new (take(sizeof(Fn), alignof(Fn))) Fn(std::forward<F>(backward));
    node.call = [](void* f, Ctx& ctx) { (*static_cast<Fn*>(f))(ctx); };
    node.destroy = [](void* f) { static_cast<Fn*>(f)->~Fn(); };
    nodes_.push_back(node);
    for (int i = 0; i < node.out_count; ++i) ++node.outs[i]->refs;
  }

  /// Sends the gradient 1 (or `seed`, of loss's shape) into `loss` and everything it depends on, freeing on the way.
  void backward(Ctx& ctx, const Var& loss, const Tensor* seed = nullptr);
  /// The same from gradients that are there already.
  void run_back(Ctx& ctx);
  /// A tape for what is computed again in the middle of running this one back.
  Tape& recomputation() { return *(recomputation_ ? recomputation_ : recomputation_ = std::make_unique<Tape>()); }
  /// Drops what was recorded without running it.
  void clear();
  size_t size() const { return nodes_.size(); }

 private:
  static constexpr int kMaxOuts = 4;
  struct Node {
    void* closure = nullptr;
    void (*call)(void*, Ctx&) = nullptr;
    void (*destroy)(void*) = nullptr;
    Slot* outs[kMaxOuts] = {};
    int out_count = 0;
  };
  static int out_index(int i);  // throws where there is no place for another
  void* take(size_t bytes, size_t align);
  void pop();

  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  size_t chunk_ = 0, used_ = 0;
  std::unique_ptr<Tape> recomputation_;
};

/// Something that operations point to: it lives as long as the caller holds it and, where there is a tape, until the
/// backward pass is over.
template <class T>
std::shared_ptr<const T> keep(Ctx& ctx, T value) {
  auto kept = std::make_shared<const T>(std::move(value));
  if (ctx.tape) ctx.tape->push(std::initializer_list<const Var*>{}, [kept](Ctx&) {});
  return kept;
}

}  // namespace attune
