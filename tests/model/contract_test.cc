// What every attention mechanism must do, with every position scheme it can stand beside. The tests run over the
// registries: a new mechanism or scheme gets them unasked.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "autograd/gradcheck.h"
#include "checkpoint/tensors.h"
#include "checks.h"
#include "model/parts.h"
#include "model/tiny_model.h"
#include "run_program.h"
#include "train/learner.h"

namespace attune {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;

struct Pair {
  Choice attention, position;
};

/// The kinds with options under which something happens in short sentences; the defaults for all others.
std::vector<Choice> variants(const std::string& kind) {
  if (kind == "band")
    return {{kind, {{"width", int64_t{5}}}}, {kind, {{"width", int64_t{3}}, {"dilation", int64_t{2}}}}};
  if (kind == "persistent")
    return {{kind, {{"size", int64_t{7}}}}, {kind, {{"size", int64_t{130}}, {"feed_forward", true}}}};
  return {{kind}};
}

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const AttentionKind& kind : attention_kinds())
    for (const Choice& attention : variants(kind.name))
      for (const PositionKind& position : position_kinds()) {
        // Gaps hide the distance; other scores are tried beside a few schemes only.
        const bool gaps = attention.options.contains("dilation");
        const bool other = attention.kind == "softmax" && !attention.options.empty();
        const Relative takes = gaps || other ? Relative::turned : kind.relative;
        if (other && position.name != std::string("sinusoidal") && position.name != std::string("rope")) continue;
        if (position.relative <= takes) pairs.push_back({attention, {position.name}});
      }
  return pairs;
}

std::string name_of_pair(const testing::TestParamInfo<Pair>& info) {
  std::string name = info.param.attention.text() + "_" + info.param.position.kind;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

const AttentionKind& kind_of(const Pair& pair) {
  for (const AttentionKind& k : attention_kinds())
    if (pair.attention.kind == k.name) return k;
  throw std::logic_error("no such kind");
}

class Contract : public testing::TestWithParam<Pair> {
 protected:
  /// Where a mechanism can't stand in a decoder, softmax stands there for it.
  ModelOptions options(int64_t d_model = 32, int64_t layers = 2) const {
    ModelOptions o = tiny_options({.d_model = d_model});
    o.encoder_layers = o.decoder_layers = layers;
    o.dropout = 0;
    o.position = GetParam().position;
    o.encoder_attention = {GetParam().attention};
    o.decoder_attention = {kind_of(GetParam()).causal ? GetParam().attention : Choice{"softmax"}};
    o.cross_attention = {kind_of(GetParam()).cross ? GetParam().attention : Choice{"softmax"}};
    return o;
  }
  static std::unique_ptr<Transformer> model(const ModelOptions& o, float scale = 1.5f) {
    auto m = std::make_unique<Transformer>(
        o, Vocabularies{.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
    m->initialize(3);
    for (int64_t i = 0; i < m->parameters().size(); ++i) m->parameters().data()[i] *= scale;
    m->parameters().repack();
    return m;
  }
};

std::vector<float> numbers(const Var& x) {
  std::vector<float> out;
  for (int64_t i = 0; i < x.rows(); ++i)
    out.insert(out.end(), x.value().row<float>(i), x.value().row<float>(i) + x.cols());
  return out;
}

std::vector<float> encoded(const Transformer& model, const Sentences& sentences, ThreadPool* pool = nullptr) {
  Arena arena;
  Ctx ctx(arena);
  ctx.pool = pool;
  Pass pass{ctx, model.parameters()};
  const TinyBatch b = TinyBatch::of(sentences);
  return numbers(model.encode(pass, b.tokens()));
}

std::vector<float> decoded(const Transformer& model, const Sentences& sources, const Sentences& targets,
                           ThreadPool* pool = nullptr) {
  Arena arena;
  Ctx ctx(arena);
  ctx.pool = pool;
  Pass pass{ctx, model.parameters()};
  const TinyBatch x = TinyBatch::of(sources), y = TinyBatch::of(targets);
  return numbers(model.decode(pass, y.tokens(), model.encode(pass, x.tokens()), &x.segments));
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double d = 0, size = 0;
  if (a.size() != b.size()) return INFINITY;
  for (size_t i = 0; i < a.size(); ++i) {
    d += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    size += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(d / size);
}

TEST_P(Contract, PackedIsOneByOne) {
  const auto m = model(options());
  const Sentences x = random_sentences(6, 40, 20, 1), y = random_sentences(6, 40, 20, 2);
  std::vector<float> apart, decoded_apart;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto one = encoded(*m, {x[i]}), two = decoded(*m, {x[i]}, {y[i]});
    apart.insert(apart.end(), one.begin(), one.end());
    decoded_apart.insert(decoded_apart.end(), two.begin(), two.end());
  }
  for (const float v : apart) ASSERT_TRUE(std::isfinite(v));
  EXPECT_TRUE(same_bits(encoded(*m, x), apart));
  EXPECT_TRUE(same_bits(decoded(*m, x, y), decoded_apart));
}

TEST_P(Contract, ThreadsChangeNothing) {
  const auto m = model(options(64));
  const Sentences x = random_sentences(30, 60, 20, 3), y = random_sentences(30, 60, 20, 4);
  ThreadPool pool(3);
  EXPECT_TRUE(same_bits(encoded(*m, x, &pool), encoded(*m, x)));
  EXPECT_TRUE(same_bits(decoded(*m, x, y, &pool), decoded(*m, x, y)));
}

TEST_P(Contract, TheFutureCannotChangeThePast) {
  const auto m = model(options());
  const Sentences x = random_sentences(1, 20, 20, 5);
  std::vector<int32_t> y{1};
  for (int i = 0; i < 60; ++i) y.push_back(4 + i * 7 % 16);
  const auto before = decoded(*m, x, {y});
  for (const size_t at : {1u, 17u, 50u, 60u}) {
    auto other = y;
    for (size_t i = at; i < other.size(); ++i) other[i] = 4 + (other[i] - 3) % 16;
    const auto after = decoded(*m, x, {other});
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(at * 32), after.begin())) << at;
    EXPECT_FALSE(same_bits(before, after)) << at;
  }
}

/// Row i of the steps is said by itself; rows part and die on the way.
TEST_P(Contract, StepsSayWhatAllAtOnceSays) {
  const auto m = model(options(), 1.2f);
  const Sentences x = random_sentences(3, 20, 20, 6);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m->parameters()};
  const TinyBatch batch = TinyBatch::of(x);
  const Var memory = m->encode(pass, batch.tokens());
  DecoderState state = m->start(pass, memory, batch.segments, {0, 1, 2}, 100);
  Sentences said(3);
  std::vector<int32_t> source_of{0, 1, 2};
  std::mt19937 random(7);
  const std::vector<std::vector<int32_t>> orders{{0, 0, 1, 2, 2, 2}, {5, 0, 3, 1}, {0, 1, 2, 3}, {2, 2, 0}};
  for (size_t round = 0; round <= orders.size(); ++round)
    for (int t = 0; t < 13; ++t) {
      if (t == 0 && round > 0) {
        Sentences next;
        std::vector<int32_t> next_source;
        for (const int32_t p : orders[round - 1]) {
          next.push_back(said[static_cast<size_t>(p)]);
          next_source.push_back(source_of[static_cast<size_t>(p)]);
        }
        state.reorder(orders[round - 1]);
        said = next;
        source_of = next_source;
      }
      std::vector<int32_t> ids;
      for (auto& s : said) ids.push_back(s.emplace_back(s.empty() ? 1 : 4 + static_cast<int32_t>(random() % 16)));
      const auto rows = numbers(m->step(pass, state, ids));
      if (t % 4 != 3) continue;
      for (size_t i = 0; i < said.size(); ++i) {
        const auto whole = decoded(*m, {x[static_cast<size_t>(source_of[i])]}, {said[i]});
        const std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(i * 32),
                                     rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * 32));
        ASSERT_LT(distance(row, {whole.end() - 32, whole.end()}), 1e-4) << "round " << round << ", step " << t;
      }
    }
}

/// The tape's gradients in f64 against differences along random directions, one per parameter; and the f32 form, which
/// is what runs, against it.
TEST_P(Contract, GradientsAreThoseOfTheFormula) {
  ModelOptions o = options(8, 1);
  o.heads = 2;
  o.d_ff = 8;
  o.activation = "gelu";  // no kinks for a difference to step over
  const auto m = model(o);
  const TinyBatch x = TinyBatch::of(random_sentences(3, 9, 20, 8)), y = TinyBatch::of(random_sentences(3, 12, 20, 9));
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& weights) {
    Pass pass{ctx, m->parameters()};
    pass.instead = weights;
    return m->decode(pass, y.tokens(), m->encode(pass, x.tokens()), &x.segments);
  };
  std::vector<CheckInput> inputs;
  const Parameters& p = m->parameters();
  for (int i = 0; i < p.count(); ++i) {
    const Tensor t = p.value(i);
    inputs.push_back({t.shape, {t.as<float>(), t.as<float>() + t.size()}, !p.is_buffer(i)});
  }
  const CheckRun exact = run_checked(op, inputs, DType::f64), fast = run_checked(op, inputs, DType::f32);
  EXPECT_LT(row_error(fast, exact, inputs), 2e-4);

  const CheckInput cotangent = random_input(exact.shape, 77);  // what run_checked sends back
  const auto value = [&](const std::vector<CheckInput>& at) {
    const CheckRun run = run_checked(op, at, DType::f64);
    double sum = 0;
    for (size_t i = 0; i < run.value.size(); ++i) sum += run.value[i] * cotangent.values[i];
    return sum;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].differentiable) continue;
    const CheckInput direction = random_input(inputs[i].shape, 100 + i);
    double along = 0, size = 0;
    for (size_t j = 0; j < direction.values.size(); ++j) {
      along += direction.values[j] * exact.grads[i][j];
      size += exact.grads[i][j] * exact.grads[i][j];
    }
    const double step = 1e-5;
    std::vector<CheckInput> up = inputs, down = inputs;
    for (size_t j = 0; j < direction.values.size(); ++j) {
      up[i].values[j] += step * direction.values[j];
      down[i].values[j] -= step * direction.values[j];
    }
    const double difference = (value(up) - value(down)) / (2 * step);
    EXPECT_NEAR(along, difference, 1e-6 * std::max(1.0, std::sqrt(size))) << p.name(static_cast<int>(i));
  }
}

Batch copies_of(const Sentences& sentences) {
  Batch batch;
  std::vector<int32_t> lengths;
  for (const auto& s : sentences) {
    batch.source.insert(batch.source.end(), s.begin(), s.end());
    batch.target_out.insert(batch.target_out.end(), s.begin(), s.end());
    batch.target_in.push_back(1);
    batch.target_in.insert(batch.target_in.end(), s.begin(), s.end() - 1);
    lengths.push_back(static_cast<int32_t>(s.size()));
  }
  batch.source_segments = batch.target_segments = Segments::of_lengths(lengths);
  batch.examples.resize(lengths.size());
  return batch;
}

/// Gradient checkpointing: two updates of the same bits, buffers and all, in the memory that was foreseen.
TEST_P(Contract, ComputingLayersTwiceChangesNothing) {
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
    ModelOptions o = options();
    o.dropout = o.attention_dropout = o.activation_dropout = 0.1;
    o.norm = norm;
    TrainOptions train;
    train.batch_tokens = TokenBudget{1024};
    train.shards = 4;
    const Batch batch = copies_of(random_sentences(40, 20, 20, 12));
    const Batch* one = &batch;
    ThreadPool pool(2);
    std::vector<float> weights[2];
    double losses[2];
    int64_t activations[2];
    for (const bool twice : {false, true}) {
      train.recompute = twice;
      const auto m = model(o, 1);
      Learner learner(*m, train, 21, pool);
      learner.update({&one, 1});
      losses[twice] = learner.update({&one, 1}).loss;
      weights[twice].assign(m->parameters().data(), m->parameters().data() + m->parameters().size());
      activations[twice] = learner.memory().activations;
      EXPECT_EQ(learner.overflows(), 0) << twice;
    }
    EXPECT_EQ(losses[0], losses[1]);
    EXPECT_TRUE(same_bits(weights[0], weights[1]));
    if (GetParam().attention.kind == "transformer-xl")  // a text's memory can't be read twice
      EXPECT_LE(activations[1], activations[0]);
    else
      EXPECT_LT(activations[1], activations[0]);
  }
}

/// An update with a part of it frozen: that part keeps its bits, all others get those they get anyway.
TEST_P(Contract, FreezingAPartChangesNothingElse) {
  ModelOptions o = options();
  o.dropout = 0.1;
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 4;
  train.weight_decay = 0.1;
  train.ema = 0.9;
  const Batch batch = copies_of(random_sentences(40, 20, 20, 11));
  const Batch* one = &batch;
  ThreadPool pool(2);
  using ByName = std::map<std::string, std::vector<float>>;
  const auto by_name = [](const Parameters& p, const float* data) {
    ByName all;
    for (const NamedParameter& n : p.named()) all[n.name].assign(data + n.offset, data + n.offset + n.shape.size());
    return all;
  };
  const auto learned = [&](const std::vector<std::string>& frozen, ByName* before) {
    Transformer m(o, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100}, frozen);
    m.initialize(3);
    *before = by_name(m.parameters(), m.parameters().data());
    Learner learner(m, train, 21, pool);
    EXPECT_FALSE(learner.update({&one, 1}).skipped());
    EXPECT_EQ(learner.overflows(), 0);
    ByName after = by_name(m.parameters(), m.parameters().data());
    for (const auto& [name, values] : by_name(m.parameters(), learner.kept_weights())) after["kept " + name] = values;
    return after;
  };
  ByName first;
  const ByName whole = learned({}, &first);
  const std::vector<std::vector<std::string>> all{{"encoder", "embedding"}, {"decoder.0", "encoder.1"}, {"decoder"}};
  for (const std::vector<std::string>& frozen : all) {
    ByName before;
    for (const auto& [name, values] : learned(frozen, &before)) {
      const std::string bare = name.starts_with("kept ") ? name.substr(5) : name;
      const bool stays = in_any_part(bare, frozen);
      EXPECT_TRUE(same_bits(values, stays ? first.at(bare) : whole.at(name))) << name << (stays ? " moved" : "");
    }
    EXPECT_TRUE(before == first);
  }
}

/// Two updates: the same bits for 1 and 3 threads, buffers and all; saved and loaded it says the same.
TEST_P(Contract, LearnsTheSameForAnyThreadsAndIsSavedWhole) {
  ModelOptions o = options();
  o.dropout = 0.1;
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 4;
  const Batch batch = copies_of(random_sentences(60, 20, 20, 10));
  const Batch* one = &batch;
  std::vector<std::vector<float>> weights;
  std::unique_ptr<Transformer> last;
  for (const int threads : {1, 3}) {
    last = model(o, 1);
    const std::vector<float> before(last->parameters().data(), last->parameters().data() + last->parameters().size());
    ThreadPool pool(threads);
    Learner learner(*last, train, 21, pool);
    for (int i = 0; i < 2; ++i) {
      const UpdateResult r = learner.update({&one, 1});
      EXPECT_FALSE(r.skipped());
      EXPECT_GT(r.flops, 0);
    }
    EXPECT_EQ(learner.overflows(), 0);
    const Parameters& p = last->parameters();
    weights.emplace_back(p.data(), p.data() + p.size());
    for (int i = 0; i < p.count(); ++i) {
      const auto from = static_cast<size_t>(p.offset(i)), n = static_cast<size_t>(p.value(i).size());
      EXPECT_FALSE(std::equal(before.begin() + static_cast<std::ptrdiff_t>(from),
                              before.begin() + static_cast<std::ptrdiff_t>(from + n),
                              weights.back().begin() + static_cast<std::ptrdiff_t>(from)))
          << p.name(i) << " does not learn";
    }
  }
  EXPECT_TRUE(same_bits(weights[0], weights[1]));

  const test::TempFolder dir;
  const std::string path = dir / "model.safetensors";
  write_safetensors(path, tensors_of(last->parameters()), {});
  const auto again = model(o, 1);
  load_parameters(path, again->parameters());
  const Sentences x = random_sentences(3, 20, 20, 11);
  EXPECT_TRUE(same_bits(encoded(*again, x), encoded(*last, x)));
}

TEST_P(Contract, WeightsAreWhatItAttendedTo) {
  const auto m = model(options());
  const TinyBatch x = TinyBatch::of(random_sentences(1, 30, 20, 12));
  Arena arena;
  Ctx ctx(arena);
  AttentionTap tap{.place = "encoder.1.self"};
  Pass pass{ctx, m->parameters(), nullptr, &tap};
  m->encode(pass, x.tokens());
  if (tap.weights.empty()) return;  // it has none
  ASSERT_EQ(tap.queries, x.segments.rows());
  for (int64_t row = 0; row < tap.heads * tap.queries; ++row) {
    double sum = 0;
    for (int64_t j = 0; j < tap.keys; ++j) {
      const float w = tap.weights[static_cast<size_t>(row * tap.keys + j)];
      EXPECT_GE(w, 0);
      sum += static_cast<double>(w);
    }
    if (GetParam().attention.kind == "routing" && sum == 0) continue;  // its cluster has no keys
    if (GetParam().attention.kind == "persistent")                     // some went to its memory
      EXPECT_TRUE(sum > 0 && sum < 1) << sum;
    else
      EXPECT_NEAR(sum, 1, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Contract, testing::ValuesIn(all_pairs()), name_of_pair);

/// Section 3.5's reason to be: without positions the encoder does not know the order of its rows.
TEST(Positions, WithoutThemTheEncoderIsPermutationEquivariant) {
  ModelOptions o = tiny_options();
  o.position = {"none"};
  Transformer m(o, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
  m.initialize(1);
  const auto straight = encoded(m, {{4, 5, 6, 7, 8, 2}}), turned = encoded(m, {{8, 2, 6, 5, 7, 4}});
  const int from[] = {4, 5, 2, 1, 3, 0};
  for (size_t i = 0; i < 6; ++i)
    for (size_t j = 0; j < 32; ++j)
      EXPECT_NEAR(turned[i * 32 + j], straight[static_cast<size_t>(from[i]) * 32 + j], 1e-5);
}

}  // namespace
}  // namespace attune
