#include "autograd/parameters.h"

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/reduce.h"

namespace attune {
namespace {

TEST(Parameters, OneFlatBlockWithZerosBetween) {
  Parameters p;
  const int a = p.add("a", {3, 5}), b = p.add("b", {2});
  p.allocate();
  EXPECT_EQ(p.offset(a), 0);
  EXPECT_EQ(p.offset(b), 16);
  EXPECT_EQ(p.size(), 32);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p.data()) % 64, 0u);
  EXPECT_EQ(p.value(b).as<float>(), p.data() + 16);
  EXPECT_EQ(error_of([&] { p.add("c", {1}); }), "[parameters] 'c' comes after allocate()");
}

TEST(Parameters, RefusesTwoOfOneName) {
  Parameters p;
  p.add("a", {3});
  EXPECT_EQ(error_of([&] { p.add("a", {1}); }), "[parameters] two are named 'a'");
  EXPECT_EQ(error_of([&] { p.add("v", {1}, true); }), "[parameters] 'v' is [1]: only a matrix can be packed");
}

TEST(Gradients, FirstStoresOthersAddAndTheRestIsZero) {
  Parameters p;
  const int a = p.add("a", {2}), b = p.add("b", {2});
  p.allocate();
  p.value(a).as<float>()[0] = 3;
  Gradients g(p);
  for (int round = 0; round < 2; ++round) {  // the second round must not see the first
    std::fill_n(g.data(), p.size(), 99.0f);
    g.start();
    Arena arena;
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    Var x = p.var(ctx, a, &g), again = p.var(ctx, a, &g);
    tape.backward(ctx, sum(ctx, add(ctx, scale(ctx, x, 2), multiply(ctx, again, again))));
    g.finish();
    EXPECT_EQ(g.grad(a).as<float>()[0], 8);
    EXPECT_EQ(g.grad(a).as<float>()[1], 2);
    EXPECT_EQ(g.grad(b).as<float>()[0], 0);
    EXPECT_FALSE(*g.written(b));
  }
}

}  // namespace
}  // namespace attune
