// Mechanisms, scores, normalisers and positions against public implementations of them: tests/golden/public/*.json,
// made once by tools/golden, each of which says by what, how, and where that differs from ours.
#include <fstream>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "golden/transformer.h"
#include "model/attention/multi_head.h"
#include "model/position/alibi.h"
#include "model/position/t5.h"
#include "model/stream_memory.h"
#include "places.h"

namespace attune {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Of a row's norm; ours and theirs are within 5e-7 of it. Any other formula is off by far more.
constexpr double kBound = 2e-6;

/// The cases of a file; there are some.
OrderedJson cases_of(const std::string& name) {
  std::ifstream in(fmt::format("{}/tests/golden/public/{}.json", test::source_dir(), name));
  OrderedJson cases = in ? OrderedJson::parse(in).at("cases") : OrderedJson();
  if (cases.empty()) throw std::runtime_error("no numbers for " + name);
  return cases;
}

/// A matrix of rows.
struct GoldenMatrix {
  std::vector<float> numbers;
  int64_t rows = 0, columns = 0;

  explicit GoldenMatrix(const OrderedJson& json) : rows(std::ssize(json)), columns(std::ssize(json.at(0))) {
    for (const OrderedJson& row : json)
      for (const OrderedJson& x : row) numbers.push_back(x.get<float>());
  }
  const float* row(int64_t i) const { return numbers.data() + i * columns; }
  Tensor tensor(int64_t from, int64_t count) const {
    return Tensor(numbers.data() + from * columns, Shape{count, columns});
  }
  Tensor tensor() const { return tensor(0, rows); }
};

Choice choice_of(const OrderedJson& json) {
  Choice c{json.at("kind")};
  for (const auto& [key, value] : json.items()) {
    if (key == "kind") continue;
    if (value.is_string())
      c.options[key] = value.get<std::string>();
    else if (value.is_number_integer())
      c.options[key] = value.get<int64_t>();
    else
      c.options[key] = value.get<double>();
  }
  return c;
}

void expect_rows(const Tensor& got, const GoldenMatrix& want, int64_t from, const std::string& what) {
  ASSERT_EQ(got.cols(), want.columns) << what;
  const auto d = static_cast<size_t>(want.columns);
  for (int64_t i = 0; i < got.rows(); ++i) {
    const float* row = want.row(from + i);
    EXPECT_LE(distance(got.row<float>(i), row, d), kBound * norm(row, d)) << what << ", row " << from + i;
  }
}

/// What a case describes: where a mechanism stands, and the numbers it is given.
struct Place {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  AttentionSetup setup;
  Arena arena;
  Ctx ctx{arena};
  Pass pass{ctx, parameters};

  explicit Place(const OrderedJson& c) {
    setup.heads = c.at("heads");
    setup.heads_kv = c.at("heads_kv");
    setup.dim = c.at("dim");
    setup.causal = c.at("causal");
  }
  Blueprint layer(int i = 0) { return Blueprint(shared, fmt::format("encoder.{}.self", i)); }
  void set(const std::string& name, const GoldenMatrix& m) {
    for (const NamedParameter& p : parameters.named())
      if (p.name == name) {
        ASSERT_EQ(p.shape.size(), std::ssize(m.numbers)) << name;
        std::copy(m.numbers.begin(), m.numbers.end(), parameters.data() + p.offset);
        return;
      }
    FAIL() << "no parameter " << name;
  }
  /// All parameters; names are those of `prefix` unless they begin with "encoder.".
  void begin(const OrderedJson& c, const std::string& prefix) {
    parameters.allocate();
    initialize(parameters, shared.inits, 5);
    if (c.contains("parameters"))
      for (const auto& [name, value] : c.at("parameters").items())
        set(name.starts_with("encoder.") ? name : prefix + name, GoldenMatrix(value));
    parameters.repack();
  }
};

/// A mechanism between queries, keys and values.
struct Between : Place {
  std::unique_ptr<AttentionMechanism> mechanism;
  std::unique_ptr<PositionScheme> scheme;
  std::unique_ptr<RelativePosition> position;
  GoldenMatrix q, k, v, out;

  explicit Between(const OrderedJson& c) : Place(c), q(c.at("q")), k(c.at("k")), v(c.at("v")), out(c.at("out")) {
    mechanism = make_attention(choice_of(c.at("attention")), setup, layer(), "model.attention");
    if (c.contains("position")) {
      scheme = make_position(choice_of(c.at("position")), {setup.width(), 16}, Blueprint(shared), "model.position");
      position = scheme->layer(layer().at("position"), setup);
    }
    begin(c, "encoder.0.self.");
  }
  Projected turned(Projected p, const RowPositions& where) const {
    if (!position) return p;
    p.hook = position->hook();
    p.tables = position->tables(pass, std::numeric_limits<int32_t>::max());
    return position->turn(pass, p, where, where);
  }
  void expect_whole() {
    const Segments queries = Segments::single(q.rows), keys = Segments::single(k.rows);
    const Projected p{ctx.input(q.tensor()), ctx.input(k.tensor()), ctx.input(v.tensor()), 0, 0, 0, &queries, &keys};
    expect_rows(mechanism->mix(pass, turned(p, {&queries})).value(), out, 0, "at once");
  }
  void expect_steps() {
    const auto state = mechanism->state(1);
    const Segments one = Segments::single(1);
    for (int64_t i = 0; i < q.rows; ++i) {
      const std::vector<int32_t> at{static_cast<int32_t>(i)};
      const Projected p{ctx.input(q.tensor(i, 1)), ctx.input(k.tensor(i, 1)), ctx.input(v.tensor(i, 1))};
      expect_rows(mechanism->step(pass, turned(p, {&one, at}), *state).value(), out, i, "step by step");
    }
  }
};

class Public : public testing::TestWithParam<const char*> {};

TEST_P(Public, GivesTheSameNumbers) {
  int compared = 0;
  for (const OrderedJson& c : cases_of(GetParam())) {
    if (!c.contains("q")) continue;
    SCOPED_TRACE(c.at("name").get<std::string>());
    Between between(c);
    between.expect_whole();
    if (between.setup.causal && between.q.rows == between.k.rows) between.expect_steps();
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Implementations, Public,
                         testing::Values("softmax", "scores", "additive", "cosine", "l2", "top_k", "sparsemax", "band",
                                         "linear", "routing", "adaptive_span", "persistent", "shaw", "music", "t5",
                                         "alibi", "rope", "xlnet", "transformer_xl", "longformer", "bigbird", "axial"),
                         [](const auto& info) { return std::string(info.param); });

/// Luna works on rows before their projection, and hands a stream from layer to layer.
TEST(PublicLuna, GivesTheSameNumbers) {
  for (const OrderedJson& c : cases_of("luna")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    Place place(c);
    std::vector<std::unique_ptr<SelfAttention>> layers;
    for (int i = 0; c.contains(fmt::format("out{}", i)); ++i)
      layers.push_back(std::make_unique<SelfAttention>(
          place.layer(i), place.setup,
          make_attention(choice_of(c.at("attention")), place.setup, place.layer(i), "model.attention"), nullptr));
    OrderedJson named = OrderedJson::object();
    for (const auto& [name, value] : c.at("parameters").items())
      named["encoder." + name.substr(0, 1) + ".self" + name.substr(1)] = value;
    named["encoder.luna.memory"] = c.at("memory");
    place.begin({{"parameters", named}}, "");

    const GoldenMatrix x(c.at("x"));
    const Segments segments = Segments::single(x.rows);
    Carried carried;
    for (size_t i = 0; i < layers.size(); ++i)
      expect_rows((*layers[i])(place.pass, place.ctx.input(x.tensor()), segments, carried).value(),
                  GoldenMatrix(c.at(fmt::format("out{}", i))), 0, fmt::format("layer {}", i));
    if (!place.setup.causal) continue;
    const auto state = layers[0]->mechanism->state(1);
    const StateShare share{state.get(), 1};
    for (int64_t i = 0; i < x.rows; ++i)
      expect_rows(layers[0]->step(place.pass, place.ctx.input(x.tensor(i, 1)), {}, {&share, 1}).value(),
                  GoldenMatrix(c.at("out0")), i, "step by step");
  }
}

/// A text in windows, each of which reads what the layer remembers of those before.
TEST(PublicTransformerXl, RemembersTheSame) {
  const OrderedJson cases = cases_of("transformer_xl"), &c = cases.back();
  Place place(c);
  const auto scheme =
      make_position(choice_of(c.at("position")), {place.setup.width(), 16}, Blueprint(place.shared), "model.position");
  SelfAttention layer(place.layer(), place.setup,
                      make_attention(choice_of(c.at("attention")), place.setup, place.layer(), "model.attention"),
                      scheme->layer(place.layer().at("position"), place.setup));
  place.begin(c, "encoder.0.self.");
  StreamMemory memory(place.shared.memories);
  Rows at_hand;
  at_hand.streams = {0};
  place.pass.memory = &memory;
  place.pass.rows = &at_hand;
  const GoldenMatrix x(c.at("x")), want(c.at("outs"));
  int64_t from = 0;
  for (const OrderedJson& length : c.at("lengths")) {
    const auto n = length.get<int64_t>();
    memory.begin(1, from == 0);
    const Segments window = Segments::single(n);
    Carried carried;
    expect_rows(layer(place.pass, place.ctx.input(x.tensor(from, n)), window, carried).value(), want, from, "window");
    from += n;
  }
  EXPECT_EQ(from, want.rows);
}

TEST(PublicAdaptiveSpan, CostsTheSame) {
  const OrderedJson c = cases_of("adaptive_span").at(0);
  Between between(c);
  Var loss;
  between.pass.loss_terms = &loss;
  between.expect_whole();
  EXPECT_NEAR(loss.value().as<float>()[0], c.at("loss").get<double>(), 1e-9);
}

TEST(PublicSinusoidal, IsTheSameTable) {
  for (const OrderedJson& c : cases_of("sinusoidal")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    const GoldenMatrix want(c.at("table"));
    Place place({{"heads", 1}, {"heads_kv", 1}, {"dim", want.columns}, {"causal", false}});
    const auto scheme = make_position({"sinusoidal"}, {want.columns, 1001}, Blueprint(place.shared), "model.position");
    place.begin(OrderedJson::object(), "");
    const Var table = scheme->table(place.pass, 1001);
    for (int64_t i = 0; i < want.rows; ++i)
      for (int64_t j = 0; j < want.columns; ++j)
        EXPECT_NEAR(table.value().row<float>(c.at("places").at(static_cast<size_t>(i)).get<int64_t>())[j],
                    want.row(i)[j], 2e-7);
  }
}

/// Every distance, at the borders too, where a rounded logarithm may fall to either side.
TEST(PublicT5, HasTheSameBuckets) {
  int compared = 0;
  for (const OrderedJson& c : cases_of("t5")) {
    if (!c.contains("buckets")) continue;
    const T5Buckets b{c.at("causal"), c.at("count"), c.at("farthest")};
    int64_t at = c.at("first");
    for (const OrderedJson& bucket : c.at("buckets"))
      EXPECT_EQ(t5_bucket(at++, b), bucket.get<int64_t>()) << c.at("name") << ", key - query = " << at - 1;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(PublicAlibi, HasTheSameSlopes) {
  int compared = 0;
  for (const OrderedJson& c : cases_of("alibi")) {
    if (!c.contains("slopes")) continue;
    const GoldenMatrix want(c.at("slopes"));
    const std::vector<double> got = alibi_slopes(c.at("heads"));
    ASSERT_EQ(std::ssize(got), want.columns);
    for (size_t h = 0; h < got.size(); ++h) EXPECT_NEAR(got[h], want.numbers[h], 1e-6 * got[h]) << c.at("name");
    ++compared;
  }
  EXPECT_EQ(compared, 24);
}

}  // namespace
}  // namespace attune
