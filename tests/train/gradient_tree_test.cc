// The sum of gradients: which additions are done, whatever the order in which leaves come.
#include "train/gradient_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "checks.h"

namespace attune {
namespace {

struct Tree : testing::Test {
  Parameters parameters;
  Tree() {
    parameters.add("vector", Shape{3});
    parameters.allocate();
  }
  /// The sum of such gradients, leaf order[0] given first.
  std::vector<float> sum(GradientTree& tree, const std::vector<float>& leaves, const std::vector<int>& order) const {
    tree.start(std::ssize(leaves));
    for (const int leaf : order) {
      Gradients* g = tree.take();
      std::copy_n(std::vector<float>(3, leaves[static_cast<size_t>(leaf)]).data(), 3, g->grad(0).as<float>());
      *g->written(0) = true;
      tree.give(leaf, g);
    }
    const Gradients& all = tree.sum(nullptr);
    return {all.data(), all.data() + 3};
  }
};

/// 2^24 + 1 is 2^24 in float: which pairs are added first can be told from the sum.
TEST_F(Tree, PairsAreThoseOfTheirPlaces) {
  constexpr float kBig = 16777216;
  const struct {
    std::vector<float> leaves;
    float sum;
  } cases[] = {{{7}, 7},
               {{1, 2}, 3},
               {{kBig, 1, 1, 1}, kBig + 2},               // (big + 1) + (1 + 1); one by one it stays big
               {{1, 1, kBig, 1}, kBig + 2},               //
               {{kBig, 1, 1, -kBig}, 1},                  // (big + 1) + (1 - big)
               {{1, 1, 1, 1, kBig}, kBig + 4},            // ((1 + 1) + (1 + 1)) + big
               {{kBig, 1, 1, 1, 1}, kBig + 4},            // ((big + 1) + (1 + 1)) + 1, rounded to even
               {{1, 1, 1, 1, kBig, 1, 1, 1}, kBig + 6}};  // (2 + 2) + (big + 2)
  for (const auto& c : cases) {
    GradientTree tree(parameters);
    std::vector<int> order(c.leaves.size());
    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < 120; ++round, std::next_permutation(order.begin(), order.end()))
      ASSERT_EQ(sum(tree, c.leaves, order), std::vector<float>(3, c.sum)) << c.leaves.size() << " leaves, " << round;
  }
}

/// A leaf that wrote nothing, as a piece that skips every sublayer, is a zero, whatever lay in its memory.
TEST_F(Tree, WhatIsNotWrittenIsZero) {
  GradientTree tree(parameters);
  sum(tree, {5, 6, 7, 8}, {0, 1, 2, 3});
  tree.start(2);
  Gradients *one = tree.take(), *two = tree.take();
  std::fill_n(one->grad(0).as<float>(), 3, 1.5f);
  *one->written(0) = true;
  std::fill_n(two->grad(0).as<float>(), 3, 99.0f);
  tree.give(1, two);
  tree.give(0, one);
  EXPECT_EQ(tree.sum(nullptr).data()[2], 1.5f);
}

/// Leaves that come in order are added as soon as they can be: sixteen take as many gradients as the tree has levels.
TEST_F(Tree, FewGradientsExistAtATime) {
  GradientTree tree(parameters);
  tree.start(16);
  std::vector<Gradients*> seen;
  for (int leaf = 0; leaf < 16; ++leaf) {
    Gradients* g = tree.take();
    if (std::find(seen.begin(), seen.end(), g) == seen.end()) seen.push_back(g);
    tree.give(leaf, g);
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(GradientTree::most(1, 16), 5);
  EXPECT_EQ(GradientTree::most(1, 1), 1);
  EXPECT_EQ(GradientTree::most(4, 1), 1);
  EXPECT_EQ(GradientTree::most(2, 2), 2);
  EXPECT_EQ(GradientTree::most(2, 16), 8);
  EXPECT_EQ(GradientTree::most(64, 16), 16);
}

TEST_F(Tree, Messages) {
  GradientTree tree(parameters);
  EXPECT_EQ(error_of([&] { tree.start(0); }), "[gradients] a sum of nothing");
  for (const int given : {0, 1, 2, 3}) {
    tree.start(4);
    for (int leaf = 0; leaf < given; ++leaf) tree.give(leaf, tree.take());
    EXPECT_EQ(error_of([&] { tree.sum(nullptr); }), "[gradients] not every shard is done") << given;
  }
}

}  // namespace
}  // namespace attune
