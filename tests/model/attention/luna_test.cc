// Luna against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

const Choice kLuna{"luna", {{"length", int64_t{3}}}};

/// Ma et al. 2021, equations 4 and 5: Y_P = Attn(P, C, C), Y_X = Attn(X, Y_P, Y_P), several heads; P is normed first.
TEST(Luna, IsItsFormulaInAnEncoder) {
  SublayerLab lab(kLuna, false);
  Matrix p = lab.matrix("encoder.luna.memory", 8);
  for (Row& row : p) {
    const double mean = total(row) / 8;
    double variance = 0;
    for (const double v : row) variance += (v - mean) * (v - mean) / 8;
    for (double& v : row) v = (v - mean) / std::sqrt(variance + 1e-5);
  }
  const auto attend = [&](const Row& q, const Matrix& k, const Matrix& v) {
    Row out;
    for (size_t h = 0; h < 2; ++h) {
      Row a, sum(4, 0.0);
      for (const Row& key : k) a.push_back(std::exp(dot(head(q, h), head(key, h)) / 2));
      for (size_t j = 0; j < k.size(); ++j)
        for (size_t d = 0; d < 4; ++d) sum[d] += a[j] / total(a) * head(v[j], h)[d];
      out.insert(out.end(), sum.begin(), sum.end());
    }
    return out;
  };
  for (int64_t s = 0; s < 2; ++s) {
    Matrix pack_k, pack_v, k, v;
    for (int64_t j = lab.segments.begin(s); j < lab.segments.begin(s) + lab.segments.length(s); ++j) {
      pack_k.push_back(lab.linear("pack.key", lab.input(j)));
      pack_v.push_back(lab.linear("pack.value", lab.input(j)));
    }
    for (const Row& row : p) {
      const Row y_p = attend(lab.linear("pack.query", row), pack_k, pack_v);
      k.push_back(lab.linear("key", y_p));
      v.push_back(lab.linear("value", y_p));
    }
    for (int64_t i = lab.segments.begin(s); i < lab.segments.begin(s) + lab.segments.length(s); ++i) {
      const Row want = lab.linear("output", attend(lab.linear("query", lab.input(i)), k, v)), got = lab.output(i);
      for (size_t d = 0; d < 8; ++d) ASSERT_NEAR(got[d], want[d], 2e-5);
    }
  }
}

/// Ma et al. 2021, section 3.3: A_pack = omega(P X^T / sqrt(d)), A_unpack = softmax(f(X, X, A_pack^T)), Y_X =
/// f(A_unpack, A_pack^T, X) with f(X, Y, Z)_t = 1/t X_t sum_{j <= t} Y_j^T Z_j.
TEST(Luna, IsItsFormulaInADecoder) {
  SublayerLab lab(kLuna, true);
  const Matrix p = lab.matrix("encoder.luna.memory", 8);
  for (int64_t s = 0; s < 2; ++s) {
    const int64_t from = lab.segments.begin(s);
    for (int64_t t = from; t < from + lab.segments.length(s); ++t) {
      Row mixed;
      for (size_t h = 0; h < 2; ++h) {
        const double count = static_cast<double>(t - from + 1);
        const Row q = head(lab.linear("query", lab.input(t)), h);
        Row scores(3, 0.0), y(4, 0.0);
        const auto pack = [&](int64_t j, size_t l) {
          const double s = dot(head(lab.linear("pack.query", p[l]), h), head(lab.linear("key", lab.input(j)), h)) / 2;
          return s > 0 ? s + 1 : std::exp(s);
        };
        for (int64_t j = from; j <= t; ++j)
          for (size_t l = 0; l < 3; ++l)
            scores[l] += dot(q, head(lab.linear("key", lab.input(j)), h)) / 2 * pack(j, l) / count;
        Row u;
        for (const double x : scores) u.push_back(std::exp(x));
        u = divided(u, total(u));
        for (int64_t j = from; j <= t; ++j)
          for (size_t l = 0; l < 3; ++l)
            for (size_t d = 0; d < 4; ++d)
              y[d] += u[l] * pack(j, l) * head(lab.linear("value", lab.input(j)), h)[d] / count;
        mixed.insert(mixed.end(), y.begin(), y.end());
      }
      const Row want = lab.linear("output", mixed), got = lab.output(t);
      for (size_t d = 0; d < 8; ++d) ASSERT_NEAR(got[d], want[d], 5e-5);
    }
  }
}

}  // namespace
}  // namespace attune
