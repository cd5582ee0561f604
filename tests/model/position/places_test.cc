// Every scheme of relative positions where rows tell their places: against the papers' formulas in double, with the
// distance of any two rows being the difference of what they tell.
#include <map>

#include "model/position/alibi.h"
#include "model/position/hook_checks.h"
#include "model/position/music.h"
#include "model/position/shaw.h"
#include "model/position/t5.h"
#include "model/position/transformer_xl.h"

namespace attune {
namespace {

constexpr int64_t kPlaceHeads = 2;

struct Scheme {
  HookCase hook;
  /// What it adds to the score of one pair, before and after the scale, from the inputs q, k, v and the tables.
  std::function<double(const std::vector<CheckInput>&in, int64_t head, int64_t i, int64_t distance)> scaled, bias;
  /// What it adds to column d of a value.
  std::function<double(const std::vector<CheckInput>& in, int64_t distance, int64_t d)> value;
};

double none(const std::vector<CheckInput>&, int64_t, int64_t, int64_t) { return 0; }
double nothing(const std::vector<CheckInput>&, int64_t, int64_t) { return 0; }

std::map<std::string, Scheme> schemes(int64_t dim) {
  constexpr int64_t clip = 6, longest = 40;
  const int64_t wide = kPlaceHeads * dim;
  // Key minus query, clipped, is what rows of tables go by.
  const auto row = [](int64_t distance, int64_t low, int64_t high) { return std::clamp(-distance, low, high) - low; };
  std::map<std::string, Scheme> all;
  all["alibi"] = {{std::make_shared<AlibiScores>(kPlaceHeads), kPlaceHeads, dim},
                  none,
                  [](const auto&, int64_t h, int64_t, int64_t distance) {
                    return -std::pow(2.0, h == 0 ? -4.0 : -8.0) * static_cast<double>(std::abs(distance));
                  },
                  nothing};
  const T5Buckets buckets{.causal = false, .count = 8, .farthest = 20};
  all["t5"] = {
      {std::make_shared<T5Scores>(buckets), kPlaceHeads, dim, {random_input({8, kPlaceHeads}, 11)}},
      none,
      [=](const auto& in, int64_t h, int64_t, int64_t distance) { return at(in[3], t5_bucket(-distance, buckets), h); },
      nothing};
  all["shaw"] = {{std::make_shared<ShawScores>(clip),
                  kPlaceHeads,
                  dim,
                  {random_input({2 * clip + 1, dim}, 11), random_input({2 * clip + 1, dim}, 12)},
                  true},
                 [=](const auto& in, int64_t h, int64_t i, int64_t distance) {
                   return dot(in[0], i, h * dim, in[3], row(distance, -clip, clip), 0, dim);
                 },
                 none,
                 [=](const auto& in, int64_t distance, int64_t d) { return at(in[4], row(distance, -clip, clip), d); }};
  all["music"] = {
      {std::make_shared<MusicScores>(longest, false), kPlaceHeads, dim, {random_input({2 * longest - 1, wide}, 11)}},
      [=](const auto& in, int64_t h, int64_t i, int64_t distance) {
        return dot(in[0], i, h * dim, in[3], row(distance, 1 - longest, longest - 1), h * dim, dim);
      },
      none,
      nothing};
  all["transformer_xl"] = {{std::make_shared<TransformerXlScores>(DistanceRange{-longest, longest}),
                            kPlaceHeads,
                            dim,
                            {random_input({2 * longest + 1, wide}, 11), random_input({1, wide}, 12)}},
                           [=](const auto& in, int64_t h, int64_t i, int64_t distance) {
                             const int64_t r = row(distance, -longest, longest);
                             return dot(in[0], i, h * dim, in[3], r, h * dim, dim) +
                                    dot(in[4], 0, h * dim, in[3], r, h * dim, dim);
                           },
                           none,
                           nothing};
  return all;
}

template <class F>
std::vector<int32_t> numbered(int64_t n, F f) {
  std::vector<int32_t> p;
  for (int64_t i = 0; i < n; ++i) p.push_back(static_cast<int32_t>(f(i)));
  return p;
}

/// One sequence each: rows of a dilated band, of a cluster, pooled keys, two axes, no order at all.
std::vector<Sequences> one_by_one(int64_t n) {
  const auto m = static_cast<int32_t>((n + 2) / 3), rows = static_cast<int32_t>(n);
  const auto gaps = numbered(n, [](int64_t i) { return 2 + 3 * i; });
  const auto cluster = numbered(n, [](int64_t i) { return 2 * i + i * i % 3; });
  const auto anywhere = numbered(n, [](int64_t i) { return i * 31 % 29 - 11; });
  const auto pooled = numbered(m, [](int64_t i) { return 3 * i + 2; });
  std::vector<Sequences> all;
  const auto add = [&](std::vector<int32_t> q, std::vector<int32_t> k, const Mask& mask) {
    Sequences s{{rows}, {static_cast<int32_t>(k.size())}, mask};
    s.query_places = std::move(q);
    s.key_places = std::move(k);
    all.push_back(s);
  };
  for (const Mask& mask : {Mask::none(), Mask::past(), Mask::band(5, true)}) {
    add(gaps, gaps, mask);
    add(cluster, cluster, mask);
    add(anywhere, cluster, mask);
  }
  add(numbered(n, [](int64_t i) { return i; }), pooled, Mask::none());
  Sequences grid{{rows}, {rows}};
  for (int64_t i = 0; i < n; ++i)
    for (const int64_t place : {i / 4, i % 4}) grid.query_places.push_back(static_cast<int32_t>(place));
  grid.key_places = grid.query_places;
  grid.axes = 2;  // what counts along one axis takes the first
  all.push_back(grid);
  return all;
}

TEST(PlacesTold, AreThePapersFormulas) {
  for (const int64_t dim : {4, 16})
    for (const auto& [name, scheme] : schemes(dim))
      for (const Sequences& s : one_by_one(19)) {
        SCOPED_TRACE(name);
        const auto in = hooked_inputs(scheme.hook, s);
        const auto distance = [&](int64_t i, int64_t j) {
          return s.query_places[static_cast<size_t>(i * s.axes)] - s.key_places[static_cast<size_t>(j * s.axes)];
        };
        const Formula formula{[&](int64_t h, int64_t i, int64_t j) {
                                const double product = dot(in[0], i, h * dim, in[1], j, h * dim, dim);
                                return (product + scheme.scaled(in, h, i, distance(i, j))) /
                                           std::sqrt(static_cast<double>(dim)) +
                                       scheme.bias(in, h, i, distance(i, j));
                              },
                              [&](int64_t h, int64_t i, int64_t j, int64_t d) {
                                return at(in[2], j, h * dim + d) + scheme.value(in, distance(i, j), d);
                              }};
        expect_formula(scheme.hook, s, in, formula);
      }
}

/// Several sequences, across the borders of tiles, with dropout and shared heads.
std::vector<Sequences> batches() {
  const std::vector<int32_t> lengths{1, 5, 0, 47, 101};
  const int64_t n = Segments::of_lengths(lengths).rows();
  const auto gaps = numbered(n, [](int64_t i) { return 3 * i; });
  const auto cluster = numbered(n, [](int64_t i) { return 2 * i + i * i % 5; });
  std::vector<Sequences> all;
  for (const Mask& mask : {Mask::past(), Mask::band(9, false)})
    for (const auto& places : {gaps, cluster}) {
      Sequences s{lengths, lengths, mask, 0.2f};
      s.query_places = s.key_places = places;
      all.push_back(s);
    }
  Sequences pooled{{20, 133}, {7, 45}, Mask::none(), 0.2f, 1};
  pooled.query_places = numbered(153, [](int64_t i) { return i < 20 ? i : i - 20; });
  pooled.key_places = numbered(52, [](int64_t i) { return 3 * (i < 7 ? i : i - 7) + 2; });
  all.push_back(pooled);
  return all;
}

TEST(PlacesTold, HooksAreTheirReferences) {
  for (const int64_t dim : {16, 7})
    for (const auto& [name, scheme] : schemes(dim))
      for (const Sequences& s : batches())
        EXPECT_LT(
            precision_error(hooked_op(scheme.hook, s), hooked_op(scheme.hook, s, true), hooked_inputs(scheme.hook, s)),
            tolerance(scheme.hook))
            << name << ", " << dim << " columns, " << s.heads_kv << " shared heads, band " << s.mask.before;
}

TEST(PlacesTold, ReferencesHaveRightGradients) {
  for (const auto& [name, scheme] : schemes(3)) {
    Sequences s{{4, 0, 1, 6}, {4, 0, 1, 6}, Mask::past(), 0.3f};
    s.query_places = s.key_places = {0, 3, 4, 9, 2, 0, 2, 5, 6, 7, 11};
    EXPECT_LT(gradient_error(hooked_op(scheme.hook, s, true), hooked_inputs(scheme.hook, s)), 1e-6) << name;
  }
}

TEST(PlacesTold, TheSameBitsEverywhere) {
  for (const auto& [name, scheme] : schemes(16))
    for (const Sequences& s : batches()) {
      SCOPED_TRACE(name);
      expect_fixed_bits(hooked_op(scheme.hook, s), hooked_inputs(scheme.hook, s));
    }
}

/// Told what they would be anyway, rows are where they were.
TEST(PlacesTold, TheDefaultMayBeToldToo) {
  for (const auto& [name, scheme] : schemes(16)) {
    const Sequences s{{30, 140}, {50, 140}, Mask::past()};
    Sequences told = s;
    told.query_places = numbered(170, [](int64_t i) { return i < 30 ? i + 20 : i - 30; });
    told.key_places = numbered(190, [](int64_t i) { return i < 50 ? i : i - 50; });
    const auto in = hooked_inputs(scheme.hook, s);
    const CheckRun a = run_checked(hooked_op(scheme.hook, s), in, DType::f32);
    const CheckRun b = run_checked(hooked_op(scheme.hook, told), in, DType::f32);
    EXPECT_LT(row_error(b, a, in), tolerance(scheme.hook)) << name;
  }
}

/// Heads that have segments of their own are the heads of one.
TEST(PlacesTold, HeadsMayHaveSegments) {
  constexpr int64_t dim = 8, n = 21;
  for (const auto& [name, scheme] : schemes(dim)) {
    const Sequences together{{n}, {n}, Mask::past()};
    const auto in = hooked_inputs(scheme.hook, together);
    const CheckRun want = run_checked(hooked_op(scheme.hook, together), in, DType::f32);
    std::vector<CheckInput> apart = in;  // head by head
    for (size_t k = 0; k < 3; ++k) {
      apart[k] = {{kPlaceHeads * n, dim}, {}, true};
      for (int64_t h = 0; h < kPlaceHeads; ++h)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t d = 0; d < dim; ++d) apart[k].values.push_back(at(in[k], i, h * dim + d));
    }
    const std::vector<int32_t> heads{0, 1};
    const Segments segments = Segments::of_lengths({n, n});
    const auto op = [&](bool reference) {
      return [&, reference](Ctx& ctx, const std::vector<Var>& v) {
        Attention a{v[0], v[1], v[2]};
        a.queries = a.keys = &segments;
        a.dim = dim;
        a.mask = Mask::past();
        a.hook = scheme.hook.hook.get();
        a.tables = tables_from(v, 3);
        a.segment_heads = heads;
        a.hook_heads = kPlaceHeads;
        return reference ? attention_reference(ctx, a) : attention(ctx, a);
      };
    };
    const CheckRun got = run_checked(op(false), apart, DType::f32);
    for (int64_t h = 0; h < kPlaceHeads; ++h)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t d = 0; d < dim; ++d)
          ASSERT_NEAR(got.value[static_cast<size_t>((h * n + i) * dim + d)],
                      want.value[static_cast<size_t>(i * kPlaceHeads * dim + h * dim + d)], 1e-5)
              << name;
    EXPECT_LT(precision_error(op(false), op(true), apart), tolerance(scheme.hook)) << name;
  }
}

TEST(PlacesTold, SaysWhatDoesNotFit) {
  const HookCase c = schemes(8)["alibi"].hook;
  const auto say = [&](const Sequences& s) {
    return error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); });
  };
  Sequences s{{3}, {4}};
  s.query_places = {1, 2, 3};
  EXPECT_EQ(say(s), "[attention] places of queries and of keys come together");
  s.key_places = {1, 2, 3};
  EXPECT_EQ(say(s), "[attention] 3 places for 4 rows of keys");
}

}  // namespace
}  // namespace attune
