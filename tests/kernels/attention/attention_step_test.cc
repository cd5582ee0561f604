#include "kernels/attention/attention_step.h"

#include <gtest/gtest.h>

#include "checks.h"

namespace attune::kernels {
namespace {

/// Keys and values of all rows in pages of four, in an order of their own.
struct AttentionStepWorld {
  static constexpr int64_t kRows = 5, kKeys = 19, kHeads = 4, kHeadsKv = 2;
  int64_t dim;
  std::vector<float> q, kv;
  std::vector<const float*> pages;
  std::vector<int32_t> ids;  // [kKeys, kRows]

  explicit AttentionStepWorld(int64_t d) : dim(d) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    q.resize(static_cast<size_t>(kRows * kHeads * dim));
    kv.resize(static_cast<size_t>(64 * width()));
    for (float& x : q) x = normal(random);
    for (float& x : kv) x = normal(random);
    for (int64_t page = 0; page < 16; ++page) pages.push_back(kv.data() + (15 - page) * 4 * width());
    for (int64_t i = 0; i < kKeys * kRows; ++i) ids.push_back(static_cast<int32_t>(random() % 64));
  }
  int64_t width() const { return 2 * kHeadsKv * dim; }
  const float* row(int32_t id) const { return pages[static_cast<size_t>(id / 4)] + id % 4 * width(); }

  AttentionStep step(float* out) const {
    AttentionStep a;
    a.rows = kRows;
    a.heads = kHeads;
    a.heads_kv = kHeadsKv;
    a.dim = dim;
    a.scale = 0.3f;
    a.q = {const_cast<float*>(q.data()), kHeads * dim};
    a.out = {out, kHeads * dim};
    a.keys = {pages.data(), 2, width(), 0};
    a.values = {pages.data(), 2, width(), kHeadsKv * dim};
    a.ids = ids.data();
    a.longest = kKeys;
    return a;
  }
};

std::vector<float> run(const AttentionStepWorld& w, AttentionStep a) {
  std::vector<float> out(static_cast<size_t>(a.rows * a.heads * a.dim)), space(4096);
  EXPECT_LE(attention_step_scratch(a.longest, 1), 4 * 4096);
  a.out = {out.data(), a.heads * w.dim};
  a.scratch = space.data();
  attention_step(a);
  return out;
}

TEST(AttentionStep, IsTheFormula) {
  for (const int64_t dim : {1, 7, 16, 33, 64, 100}) {
    const AttentionStepWorld w(dim);
    const auto got = run(w, w.step(nullptr));
    for (int64_t i = 0; i < w.kRows; ++i)
      for (int64_t h = 0; h < w.kHeads; ++h) {
        std::vector<double> e;
        double total = 0;
        for (int64_t j = 0; j < w.kKeys; ++j) {
          const float* key = w.row(w.ids[static_cast<size_t>(j * w.kRows + i)]) + h / 2 * dim;
          double dot = 0;
          for (int64_t d = 0; d < dim; ++d)
            dot += static_cast<double>(w.q[static_cast<size_t>((i * w.kHeads + h) * dim + d)]) * key[d];
          e.push_back(std::exp(0.3 * dot));
          total += e.back();
        }
        for (int64_t d = 0; d < dim; ++d) {
          double want = 0;
          for (int64_t j = 0; j < w.kKeys; ++j)
            want += e[static_cast<size_t>(j)] / total *
                    w.row(w.ids[static_cast<size_t>(j * w.kRows + i)])[(2 + h / 2) * dim + d];
          ASSERT_NEAR(got[static_cast<size_t>((i * w.kHeads + h) * dim + d)], want, 1e-5) << dim;
        }
      }
  }
}

/// Keys side by side, as cross-attention has them, are the same as keys by table; none at all gives zeros.
TEST(AttentionStep, KeysInARowNeedNoTable) {
  const AttentionStepWorld w(24);
  AttentionStep a = w.step(nullptr);
  std::vector<int32_t> table, first{3, 0, 17, 40, 5}, count{19, 19, 19, 19, 19};
  for (int32_t j = 0; j < w.kKeys; ++j)
    for (const int32_t f : first) table.push_back(f + j);
  a.ids = table.data();
  const auto want = run(w, a);
  a.ids = nullptr;
  a.first = first.data();
  a.count = count.data();
  EXPECT_TRUE(same_bits(run(w, a), want));
  count[1] = 0;
  const auto some = run(w, a);
  for (size_t d = 0; d < 96; ++d) EXPECT_EQ(some[96 + d], 0);
  EXPECT_TRUE(std::equal(some.begin(), some.begin() + 96, want.begin()));
}

}  // namespace
}  // namespace attune::kernels
