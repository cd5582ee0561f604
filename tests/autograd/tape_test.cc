// Who keeps what alive, and where gradients go. Operations here are as small as they can be.
#include "autograd/tape.h"

#include <gtest/gtest.h>

#include <memory>

#include "attune/error.h"

namespace attune {
namespace {

struct TapeTest : testing::Test {
  Arena arena;
  Ctx ctx{arena};
  Tape tape;
  TapeTest() { ctx.tape = &tape; }

  float storage[16] = {1, 2, 3, 4};
  Var leaf(bool needs_grad = true, int64_t n = 4) { return ctx.input(Tensor(storage, Shape{n}), needs_grad); }
  int64_t blocks(int64_t n) const { return n * Arena::kAlign; }  // small tensors take one unit each
};

/// y = by * x. Keeps x's slot only, as a linear operation should.
Var scaled(Ctx& ctx, const Var& x, float by) {
  Var y = ctx.make(x.shape(), x.dtype(), {&x});
  ctx.run([&] {
    for (int64_t i = 0; i < x.value().size(); ++i) y.value().as<float>()[i] = by * x.value().as<float>()[i];
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), by](Ctx& c) {
      Grad dx = c.grad(x);
      c.run([&] {
        const Tensor dy = c.grad_of(y);
        for (int64_t i = 0; i < dy.size(); ++i) {
          float& g = dx.tensor.as<float>()[i];
          g = by * dy.as<float>()[i] + (dx.add ? g : 0.0f);
        }
      });
    });
  return y;
}

/// y = a * b, element by element. Keeps both values.
Var product(Ctx& ctx, const Var& a, const Var& b) {
  Var y = ctx.make(a.shape(), a.dtype(), {&a, &b});
  ctx.run([&] {
    for (int64_t i = 0; i < a.value().size(); ++i)
      y.value().as<float>()[i] = a.value().as<float>()[i] * b.value().as<float>()[i];
  });
  if (y.needs_grad())
    ctx.tape->push(y, [a, b, y = y.sink()](Ctx& c) {
      for (const auto& [to, with] : {std::pair(a, b), std::pair(b, a)}) {
        const Var& other = with;
        if (Grad d = c.grad(to))
          c.run([&] {
            for (int64_t i = 0; i < d.tensor.size(); ++i) {
              float& g = d.tensor.as<float>()[i];
              g = c.grad_of(y).as<float>()[i] * other.value().as<float>()[i] + (d.add ? g : 0.0f);
            }
          });
      }
    });
  return y;
}

Tensor ones(const Shape& shape) {
  static float memory[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return Tensor(memory, shape);
}

TEST_F(TapeTest, AValueGoesWithItsLastVar) {
  Var a = ctx.make(Shape{4}, DType::f32, {});
  EXPECT_EQ(arena.in_use(), blocks(1));
  {
    Var b = a, c;
    c = b;
    a = Var();
    EXPECT_EQ(arena.in_use(), blocks(1));
    b = std::move(c);
    EXPECT_FALSE(c);  // NOLINT: moved from on purpose
  }
  EXPECT_EQ(arena.in_use(), 0);
}

TEST_F(TapeTest, ASinkKeepsNoValue) {
  Var x = leaf();
  Var y = scaled(ctx, scaled(ctx, x, 2), 3);  // the value between is needed by nobody
  EXPECT_EQ(tape.size(), 2u);
  EXPECT_EQ(arena.in_use(), blocks(1));
  Var z = product(ctx, y, y);
  y = Var();  // the tape's closure still needs it
  EXPECT_EQ(arena.in_use(), blocks(2));
  tape.clear();
  EXPECT_EQ(arena.in_use(), blocks(1));
}

TEST_F(TapeTest, GradientsAreRightAndFreedOnTheWay) {
  Var x = leaf();
  Var y = x;
  for (int i = 0; i < 20; ++i) y = scaled(ctx, y, i % 2 ? 0.5f : 2.0f);
  EXPECT_EQ(arena.in_use(), blocks(1));
  const Tensor seed = ones(y.shape());
  tape.backward(ctx, y, &seed);
  EXPECT_EQ(tape.size(), 0u);
  ASSERT_TRUE(x.has_grad());
  EXPECT_EQ(x.grad().as<float>()[3], 1.0f);
  // y's value, its gradient and the leaf's gradient are held by Vars; on the way one more gradient was alive.
  EXPECT_EQ(arena.in_use(), blocks(3));
  EXPECT_LE(arena.peak(), blocks(4));
  y = Var();
  x = Var();
  EXPECT_EQ(arena.in_use(), 0);
}

TEST_F(TapeTest, TheFirstWriteStoresTheNextAdd) {
  Var x = leaf();
  Var y = product(ctx, scaled(ctx, x, 2), scaled(ctx, x, 3));  // 6 x^2
  const Tensor seed = ones(y.shape());
  // The gradient's memory holds rubbish before the first write: make sure of it.
  { std::fill_n(Scratch(arena, 64).as<float>(), 16, 1e30f); }
  tape.backward(ctx, y, &seed);
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(x.grad().as<float>()[i], 12 * storage[i]);
}

TEST_F(TapeTest, NoGradientWhereNoneIsWanted) {
  Var wanted = leaf(), constant = leaf(false);
  Var y = product(ctx, wanted, constant);
  EXPECT_TRUE(y.needs_grad());
  Var apart = product(ctx, constant, constant);
  EXPECT_FALSE(apart.needs_grad());
  EXPECT_EQ(tape.size(), 1u);  // nothing was recorded for it
  const Tensor seed = ones(y.shape());
  tape.backward(ctx, y, &seed);
  EXPECT_TRUE(wanted.has_grad());
  EXPECT_FALSE(constant.has_grad());
  EXPECT_THROW(constant.grad(), Error);
}

TEST_F(TapeTest, WithoutATapeNothingIsRecorded) {
  ctx.tape = nullptr;
  Var x = leaf();
  EXPECT_FALSE(scaled(ctx, x, 2).needs_grad());
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_EQ(arena.in_use(), 0);
}

TEST_F(TapeTest, ABranchThatLeadsNowhereDoesNotRun) {
  Var x = leaf();
  Var y = scaled(ctx, x, 2);
  int ran = 0;
  Var aside = ctx.make(Shape{4}, DType::f32, {&x});
  tape.push(aside, [&ran](Ctx&) { ++ran; });
  const Tensor seed = ones(y.shape());
  tape.backward(ctx, y, &seed);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_FALSE(aside.has_grad());
}

TEST_F(TapeTest, SeveralResultsRunTheirBackwardOnce) {
  Var x = leaf();
  Var first = ctx.make(Shape{4}, DType::f32, {&x}), second = ctx.make(Shape{4}, DType::f32, {&x});
  int ran = 0;
  tape.push({&first, &second}, [&ran, first = first.sink(), second = second.sink()](Ctx&) {
    ++ran;
    EXPECT_FALSE(first.has_grad());
    EXPECT_TRUE(second.has_grad());
  });
  Var y = scaled(ctx, second, 1);
  const Tensor seed = ones(y.shape());
  tape.backward(ctx, y, &seed);
  EXPECT_EQ(ran, 1);
}

TEST_F(TapeTest, TooManyResultsAreRefused) {
  Var x = leaf();
  EXPECT_NO_THROW(tape.push({&x, &x, &x, &x}, [](Ctx&) {}));
  EXPECT_THROW(tape.push({&x, &x, &x, &x, &x}, [](Ctx&) {}), Error);
  EXPECT_EQ(tape.size(), 1u);
}

TEST_F(TapeTest, AReshapeSharesValueAndGradient) {
  Var x = leaf();
  Var y = scaled(ctx, x, 2);
  Var view = ctx.reshape(y, Shape{2, 2});
  Var twice = ctx.reshape(view, Shape{4, 1});
  EXPECT_EQ(view.value().data, y.value().data);
  y = Var();  // the view keeps the memory
  view = Var();
  EXPECT_EQ(arena.in_use(), blocks(1));
  EXPECT_EQ(twice.value().as<float>()[3], 8.0f);
  Var z = scaled(ctx, twice, 5);
  const Tensor seed = ones(z.shape());
  tape.backward(ctx, z, &seed);
  EXPECT_EQ(twice.grad().shape, (Shape{4, 1}));
  EXPECT_EQ(x.grad().as<float>()[2], 10.0f);
  z = twice = x = Var();
  EXPECT_EQ(arena.in_use(), 0);
  EXPECT_THROW(ctx.reshape(leaf(), Shape{3}), Error);
  Var strided = ctx.input(Tensor(storage, Shape{4, 4}).columns(0, 2));
  EXPECT_THROW(ctx.reshape(strided, Shape{8}), Error);
}

TEST_F(TapeTest, BothViewAndOriginMayFeedAGradient) {
  Var x = leaf();
  Var y = scaled(ctx, x, 1);
  Var sum = product(ctx, ctx.reshape(y, Shape{2, 2}), ctx.reshape(scaled(ctx, y, 3), Shape{2, 2}));  // 3 x^2
  const Tensor seed = ones(sum.shape());
  tape.backward(ctx, sum, &seed);
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(x.grad().as<float>()[i], 6 * storage[i]);
}

TEST_F(TapeTest, ParametersAccumulateInTheirOwnMemory) {
  float grads[4] = {7, 7, 7, 7};
  bool written = false;
  for (int shard = 0; shard < 2; ++shard) {
    Var w = ctx.parameter(Tensor(storage, Shape{4}), Tensor(grads, Shape{4}), &written);
    Var y = scaled(ctx, w, 3);
    const Tensor seed = ones(y.shape());
    tape.backward(ctx, y, &seed);
    EXPECT_TRUE(written);
    EXPECT_EQ(grads[0], shard == 0 ? 3.0f : 6.0f);  // the 7 of before is gone
    EXPECT_EQ(w.grad().data, grads);
  }
  EXPECT_EQ(arena.in_use(), 0);
}

TEST_F(TapeTest, ClosuresAreDestroyed) {
  const auto token = std::make_shared<int>(0);
  Var x = leaf();
  const auto push = [&] {
    Var y = ctx.make(Shape{4}, DType::f32, {&x});
    tape.push(y, [token](Ctx&) { ++*token; });
    return y;
  };
  {
    Var y = push(), other = push();
    EXPECT_EQ(token.use_count(), 3);
    const Tensor seed = ones(y.shape());
    tape.backward(ctx, y, &seed);  // one runs, both go
    EXPECT_EQ(*token, 1);
    EXPECT_EQ(token.use_count(), 1);
    Var again = push();
    tape.clear();
    EXPECT_EQ(token.use_count(), 1);
  }
  {
    Tape short_lived;
    Var y = ctx.make(Shape{4}, DType::f32, {&x});
    short_lived.push(y, [token](Ctx&) {});
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(arena.in_use(), 0);
}

TEST_F(TapeTest, AnExceptionOnTheWayLeavesEverythingTidy) {
  {
    Var x = leaf();
    Var y = scaled(ctx, x, 2);
    Var z = ctx.make(Shape{4}, DType::f32, {&y});
    tape.push(z, [y](Ctx& c) {
      c.grad(y);
      throw Error(ErrorKind::diverged, "stop");
    });
    const Tensor seed = ones(z.shape());
    EXPECT_THROW(tape.backward(ctx, z, &seed), Error);
    tape.clear();
  }
  EXPECT_EQ(arena.in_use(), 0);
  EXPECT_NO_THROW(arena.begin_step());
}

TEST_F(TapeTest, BackwardWantsALossThatDepends) {
  EXPECT_THROW(tape.backward(ctx, leaf(false)), Error);
  EXPECT_THROW(tape.backward(ctx, scaled(ctx, leaf(), 2)), Error);  // four numbers and no seed
  tape.clear();
  const Var y = scaled(ctx, leaf(), 2);
  const Tensor wrong = ones(Shape{3});
  EXPECT_THROW(tape.backward(ctx, y, &wrong), Error);
  tape.clear();
  Var one = leaf(true, 1);
  Var loss = scaled(ctx, one, 4);
  tape.backward(ctx, loss);  // a single number starts from 1
  EXPECT_EQ(one.grad().as<float>()[0], 4.0f);
}

TEST_F(TapeTest, ARehearsalPlansTheWholeStep) {
  const auto step = [&] {
    Var x = leaf();
    Var y = product(ctx, scaled(ctx, x, 2), scaled(ctx, x, 3));
    const Tensor seed = ones(y.shape());
    tape.backward(ctx, y, &seed);
    return arena.rehearsing() ? 0.0f : x.grad().as<float>()[1];
  };
  arena.start_rehearsal();
  step();
  const Plan plan = arena.finish_rehearsal();
  EXPECT_GT(plan.peak, 0);
  arena.adopt(plan);
  for (int i = 0; i < 3; ++i) {
    arena.begin_step();
    EXPECT_EQ(step(), 24.0f);
  }
  EXPECT_EQ(arena.overflows(), 0);
}

TEST_F(TapeTest, DropoutHappensWhileTrainingOnly) {
  EXPECT_FALSE(ctx.dropout(0.5f, 1).on());
  ctx.training = true;
  ctx.first_row = 5;
  const Dropout d = ctx.dropout(0.5f, 1);
  EXPECT_TRUE(d.on());
  EXPECT_EQ(d.first_row, 5);
  EXPECT_NE(d.key, ctx.dropout(0.5f, 2).key);
  ctx.step = 1;
  EXPECT_NE(d.key, ctx.dropout(0.5f, 1).key);
  EXPECT_THROW(ctx.dropout(1.0f, 1), Error);
}

}  // namespace
}  // namespace attune
