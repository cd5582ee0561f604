// Every score and normaliser against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

/// Kitaev et al. 2020, section 2: with W^Q = W^K the keys are the queries.
TEST(Scores, SharedQueriesAreKeys) {
  for (const bool causal : {false, true}) {
    Lab lab({"softmax", {{"shared", true}}}, causal);
    lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
      Row a;
      for (int64_t j = from; j < to; ++j)
        a.push_back(causal && j > i ? 0 : std::exp(dot(lab.row(0, i, h), lab.row(0, j, h)) / 2));
      return divided(a, total(a));
    });
  }
}

/// softmax with each score and normaliser, chosen as a recipe does.
TEST(Scores, AreTheirFormulas) {
  for (const bool causal : {false, true})
    for (const std::string score : {"dot", "scaled-dot", "general", "additive", "normed-additive", "cosine", "l2"})
      for (const std::string normalizer : {"softmax", "top-k", "sparsemax", "entmax15"}) {
        SCOPED_TRACE(score + " " + normalizer);
        Lab lab({"softmax", {{"score", score}, {"normalizer", normalizer}, {"k", int64_t{3}}}}, causal);
        const auto s = [&](const Row& q, const Row& k, size_t h) {
          if (score == "dot") return dot(q, k);
          if (score == "scaled-dot") return dot(q, k) / 2;
          if (score == "cosine")  // g cos(q, k), g = sqrt(d) at first
            return 2 * dot(q, k) / std::sqrt(dot(q, q) * dot(k, k));
          if (score == "l2") {  // Kim et al. 2021: -|q - k|^2 / sqrt(d)
            double sum = 0;
            for (size_t d = 0; d < 4; ++d) sum += (q[d] - k[d]) * (q[d] - k[d]);
            return -sum / 2;
          }
          if (score == "general") {  // Luong et al. 2015, equation 8: q^T W k
            const Row w = lab.parameter("score.weight");
            double sum = 0;
            for (size_t a = 0; a < 4; ++a)
              for (size_t b = 0; b < 4; ++b) sum += q[a] * w[(h * 4 + a) * 4 + b] * k[b];
            return sum;
          }
          // Bahdanau et al. 2014, section A.1.2: v^T tanh(W s + U h); normed: g v / |v|, and a bias that begins at 0
          Row v = head(lab.parameter("score.vector"), h);
          if (score == "normed-additive") v = divided(v, std::sqrt(dot(v, v)) * 2);
          double sum = 0;
          for (size_t d = 0; d < 4; ++d) sum += v[d] * std::tanh(q[d] + k[d]);
          return sum;
        };
        lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
          Row scores;
          for (int64_t j = from; j < to; ++j)
            scores.push_back(causal && j > i ? -INFINITY
                                             : s(lab.row(0, i, h), lab.row(1, j, h), static_cast<size_t>(h)));
          Row sorted = scores;
          std::sort(sorted.rbegin(), sorted.rend());
          Row a;
          if (normalizer == "sparsemax") {  // Martins and Astudillo 2016, algorithm 1
            double sum = 0, tau = 0;
            for (size_t k = 0; k < sorted.size() && std::isfinite(sorted[k]); ++k) {
              sum += sorted[k];
              const double n = static_cast<double>(k + 1);
              if (1 + n * sorted[k] > sum) tau = (sum - 1) / n;
            }
            for (const double x : scores) a.push_back(std::max(x - tau, 0.0));
            return a;
          }
          if (normalizer == "entmax15") {  // tau by halving: the sum of what exceeds it falls
            double low = sorted[0] / 2 - 1, high = sorted[0] / 2;
            for (int step = 0; step < 100; ++step) {
              const double tau = (low + high) / 2;
              double sum = 0;
              for (const double x : scores) sum += x / 2 > tau ? (x / 2 - tau) * (x / 2 - tau) : 0;
              (sum > 1 ? low : high) = tau;
            }
            for (const double x : scores) a.push_back(x / 2 > low ? (x / 2 - low) * (x / 2 - low) : 0);
            return a;
          }
          for (const double x : scores)
            a.push_back(normalizer == "top-k" && sorted.size() > 3 && x < sorted[2] ? 0 : std::exp(x - sorted[0]));
          return divided(a, total(a));
        });
      }
}

}  // namespace
}  // namespace attune
