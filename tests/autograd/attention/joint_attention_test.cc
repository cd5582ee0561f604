// One softmax over two sets of keys, against the same in plain operations and against plain attention to both at once.
#include <gtest/gtest.h>

#include "autograd/attention/attention.h"
#include "autograd/gradcheck.h"
#include "checks.h"

namespace attune {
namespace {

struct JointAttentionCase {
  std::vector<int32_t> lengths;
  int64_t shared, dim;
  Mask mask;
};

const std::vector<JointAttentionCase>& joint_attention_cases() {
  static const std::vector<JointAttentionCase> all{{{7, 1, 12}, 3, 8, Mask::none()},
                                                   {{5, 30}, 1, 16, Mask::past()},
                                                   {{140, 3}, 150, 4, Mask::past()},
                                                   {{60}, 20, 32, Mask::band(9, true)}};
  return all;
}

/// q, k, v of the sequences side by side, and the shared keys and values.
CheckedOp op_of(const JointAttentionCase& c, const Segments& rows, const Segments& all, const Segments& few) {
  return [&](Ctx& ctx, const std::vector<Var>& x) {
    Attention a{x[0], x[0], x[0], 0, 2 * c.dim, 4 * c.dim, &rows, &rows};
    a.heads = 2;
    a.dim = c.dim;
    a.mask = c.mask;
    Attention b{x[0], x[1], x[2], 0, 0, 0, &all, &few};
    b.heads = 2;
    b.dim = c.dim;
    return joint_attention(ctx, a, b);
  };
}

TEST(JointAttention, ValuesAndGradients) {
  for (const JointAttentionCase& c : joint_attention_cases()) {
    const Segments rows = Segments::of_lengths(c.lengths), all = Segments::single(rows.rows()),
                   few = Segments::single(c.shared);
    const std::vector<CheckInput> inputs{random_input({rows.rows(), 6 * c.dim}, 1),
                                         random_input({c.shared, 2 * c.dim}, 2),
                                         random_input({c.shared, 2 * c.dim}, 3)};
    const CheckedOp op = op_of(c, rows, all, few);
    EXPECT_LT(precision_error(op, inputs), 1e-4) << rows.rows();
    if (rows.rows() < 40) { EXPECT_LT(gradient_error(op, inputs), 1e-6) << rows.rows(); }
  }
}

TEST(JointAttention, IsAttentionToTheKeysOfBoth) {
  const JointAttentionCase c{{9}, 4, 8, Mask::past()};
  const Segments rows = Segments::single(9), few = Segments::single(4), both = Segments::single(13);
  const CheckInput x = random_input({9, 48}, 1), k = random_input({4, 16}, 2), v = random_input({4, 16}, 3);
  const CheckRun joint = run_checked(op_of(c, rows, rows, few), {x, k, v}, DType::f64);
  // The shared rows in front: a mask counts places from the end.
  std::vector<double> keys = k.values, values = v.values;
  for (int64_t i = 0; i < 9; ++i) {
    keys.insert(keys.end(), x.values.begin() + i * 48 + 16, x.values.begin() + i * 48 + 32);
    values.insert(values.end(), x.values.begin() + i * 48 + 32, x.values.begin() + i * 48 + 48);
  }
  const CheckRun plain = run_checked(
      [&](Ctx& ctx, const std::vector<Var>& in) {
        Attention a{in[0], in[1], in[2], 0, 0, 0, &rows, &both};
        a.heads = 2;
        a.dim = 8;
        a.mask = Mask::past();
        return attention_reference(ctx, a);
      },
      {x, {{13, 16}, keys}, {{13, 16}, values}}, DType::f64);
  for (size_t i = 0; i < plain.value.size(); ++i) EXPECT_NEAR(joint.value[i], plain.value[i], 1e-12);
}

TEST(JointAttention, ThreadsChangeNothing) {
  const JointAttentionCase& c = joint_attention_cases()[2];
  const Segments rows = Segments::of_lengths(c.lengths), all = Segments::single(rows.rows()),
                 few = Segments::single(c.shared);
  const std::vector<CheckInput> inputs{random_input({rows.rows(), 6 * c.dim}, 1),
                                       random_input({c.shared, 2 * c.dim}, 2), random_input({c.shared, 2 * c.dim}, 3)};
  const CheckedOp op = op_of(c, rows, all, few);
  ThreadPool pool(3);
  const CheckRun one = run_checked(op, inputs, DType::f32), three = run_checked(op, inputs, DType::f32, &pool);
  EXPECT_EQ(one.value, three.value);
  EXPECT_EQ(one.grads, three.grads);
}

}  // namespace
}  // namespace attune
