// Relative positions where a mechanism rearranges its rows: a band with gaps and routed clusters against their formulas
// in double, the distance of any two rows being that of the places where they stood.
#include "model/attention/lab.h"
#include "model/position/t5.h"

namespace attune {
namespace {

/// What a scheme does to one pair of rows of a lab, in double.
struct Pairs {
  const Lab& lab;
  std::string scheme;

  double bias(int64_t h, int64_t distance) const {
    if (scheme == "alibi") return -std::pow(2.0, h == 0 ? -4.0 : -8.0) * static_cast<double>(std::abs(distance));
    if (scheme != "t5") return 0;
    const int64_t bucket = t5_bucket(-distance, {.causal = lab.setup.causal});
    return lab.parameter("encoder.position.weight")[static_cast<size_t>(bucket * 2 + h)];
  }
  /// What is added to the key.
  Row vector(int64_t h, int64_t distance) const {
    if (scheme != "music") return Row(4, 0.0);
    const int64_t low = lab.setup.causal ? 0 : -99, row = 99 - std::clamp<int64_t>(distance, low, 99);
    const Row table = lab.parameter("position.weight");
    return {table.begin() + row * 8 + h * 4, table.begin() + row * 8 + h * 4 + 4};
  }
  Row turned(const Row& x, int64_t place) const {
    if (scheme != "rope") return x;
    Row y = x;
    for (size_t j = 0; j < 4; j += 2) {
      const double angle = static_cast<double>(place) * std::pow(10000.0, -static_cast<double>(j) / 4);
      y[j] = x[j] * std::cos(angle) - x[j + 1] * std::sin(angle);
      y[j + 1] = x[j + 1] * std::cos(angle) + x[j] * std::sin(angle);
    }
    return y;
  }
  double score(const Row& q, const Row& k, int64_t h, int64_t i, int64_t j, double scale) const {
    const int64_t distance = lab.place(i) - lab.place(j);
    const double product = dot(turned(q, lab.place(i)), turned(k, lab.place(j))) + dot(q, vector(h, distance));
    return scale * product + bias(h, distance);
  }
};

/// Calls f(lab, pairs) for every scheme, causal or not, with places told or not.
template <class F>
void for_schemes(const Choice& choice, F f) {
  for (const char* scheme : {"alibi", "t5", "music", "rope"})
    for (const bool causal : {false, true})
      for (const bool told : {false, true}) {
        SCOPED_TRACE(std::string(scheme) + (causal ? ", causal" : "") + (told ? ", told" : ""));
        Lab lab(choice, causal, {scheme});
        std::vector<int32_t> told_places;
        for (int64_t i = 0; told && i < lab.segments.rows(); ++i)
          told_places.push_back(static_cast<int32_t>(2 * (i % 31) + i % 3));
        lab.places = told_places;
        f(lab, Pairs{lab, scheme});
      }
}

TEST(Placed, ABandWithGapsIsItsFormula) {
  for_schemes({"band", {{"width", int64_t{5}}, {"dilation", int64_t{3}}}}, [](Lab& lab, const Pairs& pairs) {
    lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
      Row a;
      for (int64_t j = from; j < to; ++j) {
        const int64_t steps = std::abs(i - j) / 3;
        const bool seen = (i - j) % 3 == 0 && (lab.setup.causal ? j <= i && steps < 5 : steps <= 2);
        a.push_back(seen ? std::exp(pairs.score(lab.row(0, i, h), lab.row(1, j, h), h, i, j, 0.5)) : 0);
      }
      return divided(a, total(a));
    });
  });
}

/// Rows go where they would without positions.
TEST(Placed, RoutingIsItsFormula) {
  for_schemes({"routing", {{"clusters", int64_t{3}}, {"window", int64_t{4}}}}, [](Lab& lab, const Pairs& pairs) {
    const Row mu = lab.parameter("centroids");
    const bool causal = lab.setup.causal;
    const auto unit = [](const Row& x) { return divided(x, std::sqrt(dot(x, x))); };
    const auto cluster = [&](const Row& x, int64_t h) {
      int64_t best = 0;
      double most = -1e9;
      for (int64_t c = 0; c < 3; ++c) {
        const auto m = mu.begin() + (h * 3 + c) * 5;
        const double s = dot(x, Row(m, m + 4));
        if (s > most) most = s, best = c;
      }
      return best;
    };
    lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
      const Row q = unit(lab.row(0, i, h));
      Row a(static_cast<size_t>(to - from), 0.0);
      int64_t seen = 0;
      for (int64_t j = causal ? i : to - 1; j >= from; --j) {
        const Row k = unit(lab.row(causal ? 0 : 1, j, h));
        if (cluster(k, h) != cluster(q, h) || (causal && seen++ >= 4)) continue;
        a[static_cast<size_t>(j - from)] = std::exp(pairs.score(q, k, h, i, j, 2));
      }
      return total(a) > 0 ? divided(a, total(a)) : a;
    });
  });
}

/// What people see, times the values, is the result.
TEST(Placed, WeightsAreThoseUsed) {
  for (const Choice& choice : {Choice{"band", {{"width", int64_t{5}}, {"dilation", int64_t{3}}}},
                               Choice{"routing", {{"clusters", int64_t{3}}, {"window", int64_t{4}}}}})
    for_schemes(choice, [](Lab& lab, const Pairs&) {
      std::vector<std::vector<float>> of;
      for (int64_t s = 0; s < lab.segments.count(); ++s) of.push_back(lab.weights(s));
      lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
        const int64_t n = to - from, s = from == 0 ? 0 : from == 23 ? 1 : 2;
        const auto row = of[static_cast<size_t>(s)].begin() + (h * n + i - from) * n;
        return Row(row, row + n);
      });
    });
}

}  // namespace
}  // namespace attune
