// What every family of models must do. The tests run over the registry: a new family gets them unasked, for each side
// that it says it has.
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/tensors.h"
#include "checks.h"
#include "model/contract.h"
#include "model/int8_of.h"
#include "run_program.h"
#include "train/learner.h"

namespace attune {
namespace {

class Family : public testing::TestWithParam<Choice> {
 protected:
  static const ModelKind& kind() {
    for (const ModelKind& k : model_kinds())
      if (GetParam().kind == k.name) return k;
    throw std::logic_error("no such family");
  }
  /// Both sides where the family has them; else an encoder and a label.
  static ModelOptions options(int64_t d_model = 32, int64_t layers = 2) {
    ModelOptions o;
    o.kind = GetParam();
    o.encoder_layers = o.decoder_layers = layers;
    o.d_model = d_model;
    o.dropout = 0;
    if (kind().decodes) return o;
    o.shape = ModelShape::encoder;
    o.head = {"label"};
    return o;
  }
  static std::unique_ptr<Model> model(const ModelOptions& o, float scale = 1.5f) {
    auto m = std::make_unique<Model>(o, ModelSizes{.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
    m->initialize(3);
    float* p = m->parameters().data();
    for (int64_t i = 0; i < m->parameters().size(); ++i) {
      p[i] *= scale;
      // What begins with zeros would hide mistakes.
      if (i % 3 == 0 && i < m->parameters().trained()) p[i] += 0.01f * static_cast<float>(i % 7 - 3);
    }
    m->parameters().repack();
    return m;
  }
  /// What the model makes of them: the decoder's rows, or the encoder's.
  static Var rows(const Model& m, Pass& pass, const Rows& x, const Rows& y) {
    return m.decoder() ? m.decode(pass, x, y) : m.encode(pass, x).x;
  }
  static std::vector<float> said(const Model& m, const IdLists& x, const IdLists& y, ThreadPool* pool = nullptr) {
    Arena arena;
    Ctx ctx(arena);
    ctx.pool = pool;
    Pass pass{ctx, m.parameters()};
    const TinyBatch a = TinyBatch::of(x), b = TinyBatch::of(y);
    return numbers(rows(m, pass, a, b));
  }
  static Batch batch(const ModelOptions& o, const IdLists& x) {
    Batch b = copies_of(x);
    if (has_decoder(o.shape)) return b;
    IdLists labels;
    for (const auto& s : x) labels.push_back({static_cast<int32_t>(s.size() % 20)});
    b.read = {};
    b.target().right = TinyBatch::of(labels);
    return b;
  }
};

TEST_P(Family, PackedIsOneByOne) {
  const auto m = model(options());
  const IdLists x = random_sentences(6, 40, 20, 1), y = random_sentences(6, 40, 20, 2);
  std::vector<float> apart;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto one = said(*m, {x[i]}, {y[i]});
    apart.insert(apart.end(), one.begin(), one.end());
  }
  for (const float v : apart) ASSERT_TRUE(std::isfinite(v));
  EXPECT_TRUE(same_bits(said(*m, x, y), apart));
}

TEST_P(Family, ThreadsAndInstructionSetsChangeNothing) {
  const auto m = model(options(64));
  const IdLists x = random_sentences(30, 60, 20, 3), y = random_sentences(30, 60, 20, 4);
  const auto want = said(*m, x, y);
  ThreadPool pool(3);
  EXPECT_TRUE(same_bits(said(*m, x, y, &pool), want));
  if (!isa_has_fma(chosen_isa())) return;
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa)) continue;
    const IsaScope scope(isa);
    m->parameters().repack();
    EXPECT_TRUE(same_bits(said(*m, x, y), want)) << isa;
  }
}

TEST_P(Family, TheFutureCannotChangeThePast) {
  if (!kind().decodes) return;
  const auto m = model(options());
  const IdLists x = random_sentences(1, 20, 20, 5);
  std::vector<int32_t> y{1};
  for (int i = 0; i < 40; ++i) y.push_back(4 + i * 7 % 16);
  const auto before = said(*m, x, {y});
  for (const size_t at : {1u, 17u, 40u}) {
    auto other = y;
    for (size_t i = at; i < other.size(); ++i) other[i] = 4 + (other[i] - 3) % 16;
    const auto after = said(*m, x, {other});
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(at * 32), after.begin())) << at;
    EXPECT_FALSE(same_bits(before, after)) << at;
  }
}

/// Row i of the steps is said by itself; rows part and die on the way, and two states step together.
TEST_P(Family, StepsSayWhatAllAtOnceSays) {
  if (!kind().decodes) return;
  const auto m = model(options(), 1.2f);
  const IdLists x = random_sentences(3, 20, 20, 6), z = random_sentences(2, 20, 20, 7);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m->parameters()};
  const TinyBatch first = TinyBatch::of(x), second = TinyBatch::of(z);
  const auto one = m->start(pass, first, 100), two = m->start(pass, second, 100);
  EXPECT_GT(one->bytes(), 0);
  DecoderState* states[] = {one.get(), two.get()};
  IdLists sources = x, words(5);
  sources.insert(sources.end(), z.begin(), z.end());
  std::mt19937 random(7);
  const std::vector<std::vector<int32_t>> orders{{0, 0, 1, 2, 2, 2}, {5, 0, 3, 1}, {2, 2, 0}};
  for (size_t round = 0; round <= orders.size(); ++round) {
    for (int t = 0; t < 5; ++t) {
      std::vector<int32_t> ids;
      for (auto& s : words) ids.push_back(s.emplace_back(s.empty() ? 1 : 4 + static_cast<int32_t>(random() % 16)));
      const auto rows = numbers(m->step(pass, states, ids));
      for (size_t i = 0; t % 2 == 0 && i < words.size(); ++i) {
        const auto whole = said(*m, {sources[i]}, {words[i]});
        const std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(i * 32),
                                     rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * 32));
        ASSERT_LT(relative_error(row, {whole.end() - 32, whole.end()}), 1e-5) << "round " << round << ", step " << t;
      }
    }
    if (round == orders.size()) break;
    const auto rows = static_cast<size_t>(one->rows());
    IdLists next, next_sources;
    for (const int32_t p : orders[round]) {
      next.push_back(words[static_cast<size_t>(p)]);
      next_sources.push_back(sources[static_cast<size_t>(p)]);
    }
    next.insert(next.end(), words.begin() + static_cast<std::ptrdiff_t>(rows), words.end());
    next_sources.insert(next_sources.end(), sources.begin() + static_cast<std::ptrdiff_t>(rows), sources.end());
    one->reorder(orders[round]);
    words = next;
    sources = next_sources;
  }
  EXPECT_NE(error_of([&] { one->reorder(std::vector<int32_t>{7}); }).find("can't be a parent"), std::string::npos);
}

TEST_P(Family, GradientsAreThoseOfTheFormula) {
  ModelOptions o = options(8, 2);
  if (GetParam().kind == "transformer") {
    o.d_ff = 8;
    o.activation = "gelu";  // no kinks for a difference to step over
  }
  const auto m = model(o);
  const TinyBatch x = TinyBatch::of(random_sentences(3, 9, 20, 8)), y = TinyBatch::of(random_sentences(3, 12, 20, 9));
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& weights) {
    Pass pass{ctx, m->parameters()};
    pass.substitutes = weights;
    return rows(*m, pass, x, y);
  };
  expect_gradients_of_formula(*m, op);
}

/// Three updates of batches of different shapes: the same bits for 1 and 3 threads; the loss falls; saved and loaded it
/// says the same.
TEST_P(Family, LearnsTheSameForAnyThreadsAndIsSavedWhole) {
  ModelOptions o = options();
  o.dropout = 0.1;
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 4;
  train.schedule = Schedule::constant;
  train.learning_rate = 5e-3;
  train.warmup = 0;
  const Batch batches[] = {batch(o, random_sentences(60, 20, 20, 10)), batch(o, random_sentences(90, 8, 20, 11)),
                           batch(o, random_sentences(40, 20, 20, 12))};
  std::vector<std::vector<float>> weights;
  std::unique_ptr<Model> last;
  for (const int threads : {1, 3}) {
    last = model(o, 1);
    const std::vector<float> before(last->parameters().data(), last->parameters().data() + last->parameters().size());
    ThreadPool pool(threads);
    Learner learner(*last, train, 21, pool);
    double first = 0, loss = 0;
    for (int i = 0; i < 6; ++i) {
      const Batch* one = &batches[i % 3];
      const UpdateResult r = learner.update({&one, 1});
      EXPECT_FALSE(r.skipped());
      EXPECT_GE(r.flops, 0);
      if (i == 0) first = r.loss;
      if (i == 3) loss = r.loss;
    }
    EXPECT_LT(loss, first);
    EXPECT_EQ(learner.overflows(), 0);
    const Parameters& p = last->parameters();
    weights.emplace_back(p.data(), p.data() + p.size());
    for (int i = 0; i < p.count(); ++i) {
      const auto from = p.offset(i), to = from + p.value(i).size();
      EXPECT_FALSE(std::equal(before.begin() + from, before.begin() + to, weights.back().begin() + from))
          << p.name(i) << " does not learn";
    }
  }
  EXPECT_TRUE(same_bits(weights[0], weights[1]));

  const test::TempFolder dir;
  const std::string path = dir / "model.safetensors";
  write_safetensors(path, tensors_of(last->parameters()), {});
  const auto again = model(o, 1);
  load_parameters(path, again->parameters());
  const IdLists x = random_sentences(3, 20, 20, 11);
  EXPECT_TRUE(same_bits(said(*again, x, x), said(*last, x, x)));
}

/// Weights of 8 bits say nearly the same, in steps as all at once.
TEST_P(Family, Int8IsNear) {
  if (!kind().decodes) return;
  const auto m = model(options(64), 1);
  const auto small = int8_of(*m);
  const IdLists x = random_sentences(4, 20, 20, 13), y = random_sentences(4, 20, 20, 14);
  const auto exact = said(*m, x, y), cut = said(*small, x, y);
  const double error = relative_error(cut, exact);
  EXPECT_LT(error, 0.1);
  EXPECT_GT(error, 0);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, small->parameters()};
  const TinyBatch one = TinyBatch::of({x[0]});
  const auto state = small->start(pass, one, 100);
  std::vector<float> steps;
  for (const int32_t id : y[0]) {
    const auto row = numbers(small->step(pass, *state, std::vector<int32_t>{id}));
    steps.insert(steps.end(), row.begin(), row.end());
  }
  EXPECT_LT(relative_error(steps, {cut.begin(), cut.begin() + std::ssize(steps)}), 0.02);
}

/// What people look at is what a step shows too, and the weights of a row sum to 1.
TEST_P(Family, ShowsWhatItReads) {
  if (!kind().decodes) return;
  const auto m = model(options());
  const IdLists x = random_sentences(1, 20, 20, 15), y = random_sentences(1, 20, 20, 16);
  const TinyBatch a = TinyBatch::of(x), b = TinyBatch::of(y);
  for (int64_t l = 0; l < m->decoder()->cross_layers(); ++l) {
    Arena arena;
    Ctx ctx(arena);
    AttentionTap whole{.place = "decoder." + std::to_string(l) + ".cross"}, step = whole;
    Pass pass{ctx, m->parameters(), nullptr, &whole};
    m->decode(pass, a, b);
    ASSERT_EQ(whole.heads, m->decoder()->cross_heads());
    ASSERT_EQ(whole.queries, std::ssize(y[0]));
    ASSERT_EQ(whole.keys, std::ssize(x[0]));
    ASSERT_EQ(std::ssize(whole.weights), whole.heads * whole.queries * whole.keys);
    pass.tap = nullptr;
    const auto state = m->start(pass, a, 100);
    pass.tap = &step;
    for (int64_t t = 0; t < whole.queries; ++t) {
      m->step(pass, *state, std::vector<int32_t>{y[0][static_cast<size_t>(t)]});
      ASSERT_EQ(std::ssize(step.weights), whole.heads * whole.keys);
      for (int64_t h = 0; h < whole.heads; ++h) {
        double sum = 0;
        for (int64_t k = 0; k < whole.keys; ++k) {
          const float w = whole.weights[static_cast<size_t>((h * whole.queries + t) * whole.keys + k)];
          sum += w;
          EXPECT_NEAR(step.weights[static_cast<size_t>(h * whole.keys + k)], w, 1e-5);
        }
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST_P(Family, SaysWhatItCannotDo) {
  ModelOptions o = options();
  o.kind.options["nonsense"] = true;
  EXPECT_NE(error_of([&] { model(o); }, ErrorKind::recipe).find("nonsense"), std::string::npos);
  if (kind().decodes) return;
  o = options();
  o.shape = ModelShape::encoder_decoder;
  EXPECT_NE(error_of([&] { model(o); }, ErrorKind::recipe).find("writes none"), std::string::npos);
}

std::vector<Choice> families() {
  std::vector<Choice> all;
  for (const ModelKind& k : model_kinds()) all.push_back({k.name});
  all.push_back({"rnn", {{"bidirectional", false}}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Family, testing::ValuesIn(families()), [](const auto& info) {
  std::string name = info.param.kind;
  for (const auto& option : info.param.options) name += "_" + option.first;
  return name;
});

}  // namespace
}  // namespace attune
