// Recurrence from window to window against its paper's equation, and against the same text read in one go.
#include "model/attention/transformer_xl.h"

#include "autograd/gradcheck.h"
#include "checks.h"
#include "model/attention/lab.h"
#include "model/attention/multi_head.h"
#include "model/stream_memory.h"
#include "model/tiny_model.h"
#include "train/learner.h"

namespace attune {
namespace {

TEST(StreamMemory, TheOldestRowsFallOut) {
  StreamMemory memory({{"layer", 3, 2}});
  memory.begin(2, true);
  std::vector<float> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(static_cast<float>(i));
  const auto of = [&](int64_t from, int64_t n) { return Tensor(rows.data() + 2 * from, Shape{n, 2}); };
  const auto recalled = [&](int32_t stream) {
    std::vector<float> out(static_cast<size_t>(2 * memory.count(0, stream)));
    memory.recall(0, stream, Tensor(out.data(), Shape{memory.count(0, stream), 2}));
    return out;
  };
  memory.remember(0, 1, of(0, 2));
  EXPECT_EQ(recalled(1), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(memory.count(0, 0), 0);
  memory.begin(2, false);
  memory.remember(0, 1, of(2, 2));
  EXPECT_EQ(recalled(1), (std::vector<float>{2, 3, 4, 5, 6, 7}));
  memory.remember(0, 0, of(0, 5));
  EXPECT_EQ(recalled(0), (std::vector<float>{4, 5, 6, 7, 8, 9}));
  memory.begin(3, false);
  EXPECT_EQ(memory.count(0, 0), 3);
  EXPECT_EQ(memory.count(0, 2), 0);
  memory.begin(2, true);
  EXPECT_EQ(memory.count(0, 0), 0);
}

/// One layer on its own, its input given.
struct Layer {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  std::unique_ptr<SelfAttention> attention;

  explicit Layer(int64_t memory) {
    AttentionSetup setup;
    setup.heads = setup.heads_kv = 2;
    setup.dim = 4;
    setup.causal = true;
    const Blueprint place(shared, "decoder.0.self");
    attention = std::make_unique<SelfAttention>(
        place, setup, make_attention({"transformer-xl", {{"memory", memory}}}, setup, place, "model.attention"),
        nullptr);
    parameters.allocate();
    initialize(parameters, shared.inits, 5);
    std::mt19937 random(3);
    for (int64_t i = 0; i < parameters.size(); ++i)
      parameters.data()[i] = std::normal_distribution<float>(0, 0.5f)(random);
    parameters.repack();
  }
  /// Rows `x` times the matrix, plus the bias.
  std::vector<Row> projected(const std::vector<Row>& x, const std::string& name) const {
    const Row w = numbers(name + ".weight"), b = numbers(name + ".bias");
    std::vector<Row> y;
    for (const Row& r : x) {
      y.push_back(b);
      for (size_t o = 0; o < 8; ++o)
        for (size_t i = 0; i < 8; ++i) y.back()[o] += w[o * 8 + i] * r[i];
    }
    return y;
  }
  Row numbers(const std::string& name) const {
    for (const NamedParameter& p : parameters.named())
      if (p.name == "decoder.0.self." + name)
        return {parameters.data() + p.offset, parameters.data() + p.offset + p.shape.size()};
    throw std::logic_error(name);
  }
};

/// Dai et al. 2019, section 3.2: h~ = [SG(m); h]; q, k, v = h W_q^T, h~ W_k^T, h~ W_v^T, where m are the last rows that
/// came into the layer.
TEST(TransformerXlMemory, IsItsFormula) {
  const int64_t memory = 5;
  const Layer layer(memory);
  StreamMemory streams(layer.shared.memories);
  std::mt19937 random(9);
  std::vector<std::vector<Row>> text(2);  // of each stream, all rows so far
  for (int window = 0; window < 4; ++window) {
    const std::vector<int32_t> lengths{3, 1 + 3 * window};
    const Segments segments = Segments::of_lengths(lengths);
    std::vector<float> x(static_cast<size_t>(segments.rows() * 8));
    for (float& v : x) v = std::normal_distribution<float>()(random);
    streams.begin(2, window == 0);
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, layer.parameters};
    const std::vector<int32_t> order{1, 0};  // of the streams in this batch
    pass.memory = &streams;
    Rows at_hand;
    at_hand.streams = order;
    pass.rows = &at_hand;
    Carried carried;
    const Var got = (*layer.attention)(pass, ctx.input(Tensor(x.data(), Shape{segments.rows(), 8})), segments, carried);
    for (size_t s = 0; s < 2; ++s) {
      std::vector<Row>& all = text[static_cast<size_t>(order[s])];
      std::vector<Row> h, past(all.end() - std::min<std::ptrdiff_t>(memory, std::ssize(all)), all.end());
      for (int64_t i = segments.begin(static_cast<int64_t>(s)); i < segments.begin(static_cast<int64_t>(s) + 1); ++i)
        h.emplace_back(x.begin() + i * 8, x.begin() + i * 8 + 8);
      const size_t m = past.size();
      past.insert(past.end(), h.begin(), h.end());
      const auto q = layer.projected(h, "query"), k = layer.projected(past, "key"), v = layer.projected(past, "value");
      std::vector<Row> mixed;
      for (size_t i = 0; i < h.size(); ++i) {
        Row& o = mixed.emplace_back(8, 0.0);
        for (size_t head_at = 0; head_at < 2; ++head_at) {
          Row e;
          for (size_t j = 0; j <= m + i; ++j) e.push_back(std::exp(dot(head(q[i], head_at), head(k[j], head_at)) / 2));
          for (size_t j = 0; j < e.size(); ++j)
            for (size_t d = 0; d < 4; ++d) o[head_at * 4 + d] += e[j] / total(e) * v[j][head_at * 4 + d];
        }
      }
      const auto want = layer.projected(mixed, "output");
      for (size_t i = 0; i < want.size(); ++i)
        for (size_t d = 0; d < 8; ++d)
          ASSERT_NEAR(got.value().row<float>(segments.begin(static_cast<int64_t>(s)) + static_cast<int64_t>(i))[d],
                      want[i][d], 2e-5)
              << "window " << window << ", stream " << s;
      all.insert(all.end(), h.begin(), h.end());
    }
  }
}

/// A pass that only looks (sampling what the model would say) recalls what is remembered and leaves it as it is.
TEST(TransformerXlMemory, APassThatOnlyRecallsLeavesTheMemoryAsItWas) {
  const Layer layer(5);
  StreamMemory streams(layer.shared.memories);
  const Segments window = Segments::single(3);
  std::vector<float> first(3 * 8), second(3 * 8);
  for (size_t i = 0; i < first.size(); ++i) {
    first[i] = std::sin(static_cast<float>(i));
    second[i] = std::cos(static_cast<float>(i));
  }
  const auto read = [&](std::vector<float>& x, bool remembers) {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, layer.parameters};
    Rows at_hand;
    at_hand.streams = {0};
    pass.memory = &streams;
    pass.rows = &at_hand;
    pass.remembers = remembers;
    Carried carried;
    const Var y = (*layer.attention)(pass, ctx.input(Tensor(x.data(), Shape{3, 8})), window, carried);
    return std::vector<float>(y.value().as<float>(), y.value().as<float>() + y.value().size());
  };
  const auto remembered = [&] {
    std::vector<float> rows(static_cast<size_t>(8 * streams.count(0, 0)));
    streams.recall(0, 0, Tensor(rows.data(), Shape{streams.count(0, 0), 8}));
    return rows;
  };
  streams.begin(1, true);
  const auto alone = read(second, false);
  EXPECT_EQ(streams.count(0, 0), 0);
  read(first, true);
  EXPECT_EQ(remembered(), first);
  const auto sampled = read(second, false);
  EXPECT_EQ(remembered(), first);
  EXPECT_NE(sampled, alone) << "it does recall";
  EXPECT_EQ(read(second, true), sampled);
  EXPECT_EQ(streams.count(0, 0), 5);
}

ModelOptions reader(const std::string& position, int64_t memory) {
  ModelOptions o = tiny_options();
  o.shape = ModelShape::decoder;
  o.dropout = 0;
  o.position = {position};
  o.attention = {{"transformer-xl", {{"memory", memory}}}};
  return o;
}

std::unique_ptr<Model> model_of(const ModelOptions& o) {
  auto m = std::make_unique<Model>(o, ModelSizes{.target_vocabulary = 20, .longest = 20});
  m->initialize(3);
  return m;
}

std::vector<float> decoded(const Model& m, const TinyBatch& batch, StreamMemory* memory = nullptr,
                           std::span<const int32_t> streams = {}) {
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m.parameters()};
  pass.memory = memory;
  Rows rows = batch;
  rows.streams = Column<int32_t>::view(streams);
  const Var y = m.decode(pass, Rows(), rows);
  return {y.value().as<float>(), y.value().as<float>() + y.value().size()};
}

/// A memory of all that was read makes windows one text: with every scheme that goes by distance.
TEST(TransformerXlMemory, WindowsWithAllOfThePastAreOneText) {
  for (const PositionKind& kind : position_kinds()) {
    if (kind.relative == Relative::none && kind.name != std::string("none")) continue;
    const auto m = model_of(reader(kind.name, 64));
    std::vector<int32_t> text{1};
    for (int i = 1; i < 60; ++i) text.push_back(4 + i * i % 16);
    const std::vector<float> whole = decoded(*m, TinyBatch::of({text}));
    StreamMemory memory(m->memories());
    ASSERT_EQ(memory.slots().size(), 2u);
    const std::vector<int32_t> streams{0};
    std::vector<float> apart;
    for (size_t from = 0, n = 11; from < text.size(); from += n, n = std::min<size_t>(n + 5, text.size() - from)) {
      memory.begin(1, from == 0);
      const TinyBatch window = TinyBatch::of({{text.begin() + static_cast<long>(from),
                                               text.begin() + static_cast<long>(std::min(from + n, text.size()))}});
      const auto rows = decoded(*m, window, &memory, streams);
      apart.insert(apart.end(), rows.begin(), rows.end());
    }
    ASSERT_EQ(apart.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(apart[i], whole[i], 2e-4) << kind.name << " " << i;
  }
}

/// What is remembered is a constant: gradients are those of the window's own rows.
TEST(TransformerXlMemory, NoGradientFlowsIntoTheMemory) {
  ModelOptions o = reader("transformer-xl", 6);
  o.d_model = 8;
  o.heads = 2;
  o.d_ff = 8;
  o.activation = "gelu";
  const auto m = model_of(o);
  StreamMemory before(m->memories());
  before.begin(2, true);
  const std::vector<int32_t> streams{0, 1};
  decoded(*m, TinyBatch::of(random_sentences(2, 9, 20, 4)), &before, streams);
  TinyBatch window = TinyBatch::of(random_sentences(2, 9, 20, 5));
  window.streams = {0, 1};
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& weights) {
    StreamMemory memory = before;
    Pass pass{ctx, m->parameters()};
    pass.substitutes = weights;
    pass.memory = &memory;
    return m->decode(pass, Rows(), window);
  };
  std::vector<CheckInput> inputs;
  for (int i = 0; i < m->parameters().count(); ++i) {
    const Tensor t = m->parameters().value(i);
    inputs.push_back({t.shape, {t.as<float>(), t.as<float>() + t.size()}, true});
  }
  const CheckRun exact = run_checked(op, inputs, DType::f64), fast = run_checked(op, inputs, DType::f32);
  EXPECT_LT(row_error(fast, exact, inputs), 2e-4);
  const CheckInput cotangent = random_input(exact.shape, 77);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const CheckInput direction = random_input(inputs[i].shape, 100 + i);
    double along = 0, difference = 0;
    for (size_t j = 0; j < direction.values.size(); ++j) along += direction.values[j] * exact.grads[i][j];
    for (const double sign : {1.0, -1.0}) {
      std::vector<CheckInput> moved = inputs;
      for (size_t j = 0; j < direction.values.size(); ++j) moved[i].values[j] += sign * 1e-5 * direction.values[j];
      const CheckRun run = run_checked(op, moved, DType::f64);
      for (size_t j = 0; j < run.value.size(); ++j) difference += sign * run.value[j] * cotangent.values[j] / 2e-5;
    }
    EXPECT_NEAR(along, difference, 1e-5 * std::max(1.0, std::abs(difference)))
        << m->parameters().name(static_cast<int>(i));
  }
}

TEST(TransformerXlMemory, AccumulatedBatchesAreRefused) {
  const auto m = model_of(reader("none", 8));
  ThreadPool pool(1);
  TrainOptions options;
  options.accumulate = 2;
  EXPECT_EQ(error_of([&] { Learner(*m, options, 20, pool); }, ErrorKind::recipe),
            "train.accumulate = 2: a model that remembers the text before reads one batch after another\n"
            "  fix: train.accumulate = 1, with larger train.batch_tokens");
}

/// Work is counted with what is remembered, where texts are read.
TEST(TransformerXlMemory, OperationsCountTheMemory) {
  const auto m = model_of(reader("none", 8));
  const Segments windows = Segments::of_lengths({10, 4});
  const double alone = m->mixing_operations({nullptr, windows}),
               remembering = m->mixing_operations({nullptr, windows, true});
  EXPECT_EQ(remembering - alone, 2 * 4 * 32 * 14.0 * 8);
}

}  // namespace
}  // namespace attune
