// From a row of scores to a row of weights, and back. A row is whole packs; keys it does not see have the score -inf
// and get the weight 0. Include after kernels/simd.h; once per instruction set.
#if defined(ATTUNE_SCORE_ROWS_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_SCORE_ROWS_PER_TARGET
#undef ATTUNE_SCORE_ROWS_PER_TARGET
#else
#define ATTUNE_SCORE_ROWS_PER_TARGET
#endif

#include <limits>

#include "kernels/attention/attention_tiles.h"
#include "kernels/attention/score_attention.h"

KERNELS_BEGIN

// Not-a-number goes through all of them: a diverged run must show.

/// Scores are kept without this factor. Of l2 what is the same for all keys of a query is left out, for no normaliser
/// would see it: -scale |q - k|^2 = 2 scale (q . k - |k|^2 / 2) - scale |q|^2.
HWY_INLINE float score_factor(const ScoreRule& rule, float scale) {
  return rule.score == ScoreKind::l2 ? 2 * scale : scale;
}

HWY_INLINE float largest_of(const float* s, int64_t padded) {
  auto most = splat(-INFINITY);
  for (int64_t c = 0; c < padded; c += 16) most = max(most, load(s + c));
  return max_of(most);
}

/// p = exp(factor s) / sum, in place.
HWY_INLINE void soften_scores(float* s, int64_t padded, float factor) {
  // a row that sees no key needs a maximum that can be subtracted from -inf
  const auto by = splat(factor * kLog2E), top = splat(std::max(-1e30f, largest_of(s, padded)));
  auto total = zero<float>();
  for (int64_t c = 0; c < padded; c += 16) {
    const auto p = exp2_weights((load(s + c) - top) * by);
    total = total + p;
    store(p, s + c);
  }
  const float sum_of_row = sum(total);
  if (sum_of_row == 0) return;
  const auto each_weight = splat(1.0f / sum_of_row);
  for (int64_t c = 0; c < padded; c += 16) store(load(s + c) * each_weight, s + c);
}

/// What a threshold does to a row.
struct Cut {
  float count;         // how many are not below it
  float least, below;  // the least of those, and the largest that is below it
};
HWY_INLINE Cut cut_at(const float* s, int64_t padded, float threshold) {
  const auto at = splat(threshold), one = splat(1.0f), none = zero<float>();
  const auto high = splat(INFINITY), low = splat(-INFINITY);
  auto count = none, least = high, below = low;
  for (int64_t c = 0; c < padded; c += 16) {
    const auto v = load(s + c);
    const auto kept = where_greater(at, v, high, v), rest = where_greater(at, v, v, low);
    count = count + where_greater(at, v, none, one);
    least = where_greater(least, kept, kept, least);  // comparisons rather than min: they pass over not-a-number
    below = where_greater(rest, below, rest, below);
  }
  return {sum(count), -max_of(none - least), max_of(below)};
}

/// Hides all but the k largest; of equal ones the first stay. Halves the interval the k-th largest lies in: both ends
/// are always scores of the row, so it ends, with equal scores too.
HWY_INLINE void keep_largest(float* s, int64_t padded, int64_t k) {
  const auto low = splat(-INFINITY);
  const Cut all = cut_at(s, padded, std::numeric_limits<float>::lowest());
  const auto wanted = static_cast<float>(k);
  if (all.count <= wanted) return;
  float least = all.least, most = largest_of(s, padded), above = 0;  // above: how many are larger than most
  float threshold = least;
  while (least < most) {
    threshold = 0.5f * least + 0.5f * most;
    if (!(threshold > least)) threshold = most;
    const Cut cut = cut_at(s, padded, threshold);
    if (cut.count == wanted) break;
    if (cut.count > wanted) {
      least = threshold = cut.least;
    } else {
      most = cut.below;
      above = cut.count;
      threshold = least;
    }
  }
  const auto at = splat(threshold);
  for (int64_t c = 0; c < padded; c += 16) {
    const auto v = load(s + c);
    store(where_greater(at, v, low, v), s + c);
  }
  if (least < most) return;  // the threshold leaves k
  float room = wanted - above;
  for (int64_t c = 0; c < padded; ++c)
    if (s[c] == threshold && room-- <= 0) s[c] = -INFINITY;
}

/// z = factor (s minus the largest), in place, so that the largest is 0; false for a row that sees no key, which
/// becomes 0 everywhere.
HWY_INLINE bool from_the_largest(float* s, int64_t padded, float factor) {
  const float most = largest_of(s, padded);
  const auto none = zero<float>(), by = splat(factor), top = splat(most);
  const bool seen = most != -INFINITY;
  for (int64_t c = 0; c < padded; c += 16) store(seen ? (load(s + c) - top) * by : none, s + c);
  return seen;
}

/// p = max(z - tau, 0) with z = factor s, tau so that the sum is 1, in place. Newton's method from the left: the sum of
/// what exceeds tau is convex and piecewise linear in it, so tau rises until no score falls below it any more.
HWY_INLINE void project_scores(float* s, int64_t padded, float factor) {
  const auto none = zero<float>(), one = splat(1.0f);
  if (!from_the_largest(s, padded, factor)) return;
  float tau = -1, before = INFINITY;
  for (;;) {
    const auto at = splat(tau);
    auto count = none, total = none;
    for (int64_t c = 0; c < padded; c += 16) {
      const auto z = load(s + c);
      count = count + where_greater(z, at, one, none);
      total = total + where_greater(z, at, z, none);
    }
    const float support = sum(count);
    if (!(support < before)) break;
    before = support;
    tau = (sum(total) - 1) / support;
  }
  const auto at = splat(tau);
  for (int64_t c = 0; c < padded; c += 16) {
    const auto p = load(s + c) - at;
    store(where_greater(none, p, none, p), s + c);
  }
}

/// p = max(z / 2 - tau, 0)^2, tau so that the sum is 1, in place. Newton's method from the left again: the sum is
/// convex in tau, so tau rises until rounding ends it.
HWY_INLINE void entmax_scores(float* s, int64_t padded, float factor) {
  constexpr int kMostSteps = 64;
  const auto none = zero<float>();
  if (!from_the_largest(s, padded, 0.5f * factor)) return;
  float tau = -1;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto at = splat(tau);
    auto excess = none, squares = none;
    for (int64_t c = 0; c < padded; c += 16) {
      const auto z = load(s + c) - at;
      const auto e = where_greater(none, z, none, z);
      excess = excess + e;
      squares = fma(e, e, squares);
    }
    const float next = tau + (sum(squares) - 1) / (2 * sum(excess));
    if (!(next > tau)) break;
    tau = next;
  }
  const auto at = splat(tau);
  for (int64_t c = 0; c < padded; c += 16) {
    const auto z = load(s + c) - at;
    const auto e = where_greater(none, z, none, z);
    store(e * e, s + c);
  }
}

/// Scores, times factor, become weights in place.
HWY_INLINE void normalise_row(const Normaliser& by, float factor, float* s, int64_t padded) {
  if (by.kind == NormaliserKind::sparsemax) return project_scores(s, padded, factor);
  if (by.kind == NormaliserKind::entmax15) return entmax_scores(s, padded, factor);
  if (by.kind == NormaliserKind::top_k) keep_largest(s, padded, by.k);
  soften_scores(s, padded, factor);
}

/// From the weights and their gradient that of the scores, times factor, in place of the weights' gradient. Softmax:
/// p (dp - p . dp), which is right for the largest k too, as the others have no weight; sparsemax: dp minus its mean
/// over the weights that are not 0; entmax 1.5: sqrt(p) (dp - its mean, weighed by sqrt(p)).
HWY_INLINE void normalise_row_backward(const Normaliser& by, float factor, const float* weights, float* d,
                                       int64_t padded) {
  const auto none = zero<float>(), one = splat(1.0f), times = splat(factor);
  auto total = none, count = none;
  if (by.kind == NormaliserKind::sparsemax) {
    for (int64_t c = 0; c < padded; c += 16) {
      const auto p = load(weights + c);
      total = total + where_greater(p, none, load(d + c), none);
      count = count + where_greater(p, none, one, none);
    }
    const auto mean = splat(sum(total) / std::max(1.0f, sum(count)));
    for (int64_t c = 0; c < padded; c += 16)
      store(where_greater(load(weights + c), none, (load(d + c) - mean) * times, none), d + c);
    return;
  }
  if (by.kind == NormaliserKind::entmax15) {
    for (int64_t c = 0; c < padded; c += 16) {
      const auto root = sqrt(load(weights + c));
      total = fma(root, load(d + c), total);
      count = count + root;
    }
    const float roots = sum(count);
    const auto mean = splat(roots > 0 ? sum(total) / roots : roots);  // a row that sees no key has no roots
    for (int64_t c = 0; c < padded; c += 16) store(sqrt(load(weights + c)) * (load(d + c) - mean) * times, d + c);
    return;
  }
  for (int64_t c = 0; c < padded; c += 16) total = fma(load(weights + c), load(d + c), total);
  const auto dot = splat(sum(total));
  for (int64_t c = 0; c < padded; c += 16) store(load(weights + c) * (load(d + c) - dot) * times, d + c);
}

KERNELS_END

#endif
