#include "autograd/operations/matmul.h"

#include "autograd/operands.h"
#include "kernels/matrix/matmul.h"

namespace attune {

namespace {

/// All rows of a batch as one matrix.
Tensor flat(const Tensor& t) { return t.row_range(0, t.rows()); }

Shape check_shapes(const Var& a, const Var& b, Transposed t) {
  check_real("matmul", "left", a);
  check_real("matmul", "right", b);
  check_same_type("matmul", a, b);
  check_rank("matmul", "left", a, 2, 3);
  check_rank("matmul", "right", b, 2, 3);
  const int ra = a.shape().rank(), rb = b.shape().rank();
  check(ra >= rb, "matmul", "left is one matrix, right a batch of {}", b.shape()[0]);
  check(ra == rb || !t.left, "matmul", "a transposed batch on the left needs a batch on the right");
  check(rb == 2 || a.shape()[0] == b.shape()[0], "matmul", "left is a batch of {}, right of {}", a.shape()[0],
        b.shape()[0]);
  const int64_t m = a.shape()[t.left ? ra - 1 : ra - 2], k = a.shape()[t.left ? ra - 2 : ra - 1];
  const int64_t rows = b.shape()[t.right ? rb - 1 : rb - 2], n = b.shape()[t.right ? rb - 2 : rb - 1];
  check(k == rows, "matmul", "left has {} columns, right has {} rows", k, rows);
  return ra == 2 ? Shape{m, n} : Shape{a.shape()[0], m, n};
}

}  // namespace

Var matmul(Ctx& ctx, const Var& a, const Var& b, Transposed t) {
  Var y = ctx.make(check_shapes(a, b, t), a.dtype(), {&a, &b});
  const bool shared = b.shape().rank() < a.shape().rank();  // one right side for all rows of the batch
  const auto seen = [shared](const Tensor& x) { return shared ? flat(x) : x; };
  ctx.run([&] { kernels::matmul({seen(a.value()), b.value(), seen(y.value()), t.left, t.right}, ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [to_a = a.sink(), to_b = b.sink(), y = y.sink(), a = b.needs_grad() ? a : Var(),
                       b = a.needs_grad() ? b : Var(), t, seen](Ctx& ctx) {
      const Tensor dy = seen(ctx.grad_of(y));
      // left: dA = dY B^T, or its transpose B dY^T
      if (Grad da = ctx.grad(to_a)) {
        const Tensor to = seen(da.tensor);
        ctx.run([&] {
          kernels::matmul(t.left ? kernels::Matmul{b.value(), dy, to, t.right, true, da.add}
                                 : kernels::Matmul{dy, b.value(), to, false, !t.right, da.add},
                          ctx.pool);
        });
      }
      // right: dB = A^T dY, or its transpose dY^T A
      if (Grad db = ctx.grad(to_b)) {
        const Tensor left = seen(a.value());
        ctx.run([&] {
          kernels::matmul(t.right ? kernels::Matmul{dy, left, db.tensor, true, t.left, db.add}
                                  : kernels::Matmul{left, dy, db.tensor, !t.left, false, db.add},
                          ctx.pool);
        });
      }
    });
  return y;
}

}  // namespace attune
