// The recurrent family beside what model/family_contract_test.cc asks of all: the paper's formula, its other shapes,
// and what a recipe may not say.
#include "model/rnn/rnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "checks.h"
#include "model/contract.h"
#include "model/unused.h"
#include "train/learner.h"

namespace attune {
namespace {

ModelOptions recurrent(int64_t d_model = 8) {
  ModelOptions o;
  o.kind = {"rnn"};
  o.encoder_layers = o.decoder_layers = 1;
  o.d_model = d_model;
  o.dropout = 0;
  return o;
}

std::unique_ptr<Model> model_of(const ModelOptions& o) {
  auto m = std::make_unique<Model>(o, ModelSizes{.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
  m->initialize(5);
  for (int64_t i = 0; i < m->parameters().trained(); ++i)
    m->parameters().data()[i] += 0.05f * static_cast<float>(i % 5 - 2);
  m->parameters().repack();
  return m;
}

using Vec = std::vector<double>;

/// The paper in double, one sentence, letter by letter: section 3.1, 3.2 and appendix A, with the gates of
/// autograd/gru.h.
struct Naive {
  std::map<std::string, Vec> p;
  size_t d;

  explicit Naive(const Model& m) : d(static_cast<size_t>(m.options().d_model)) {
    for (const NamedParameter& n : m.parameters().named()) {
      const float* from = m.parameters().data() + n.offset;
      p[n.name].assign(from, from + n.shape.size());
    }
  }
  Vec times(const std::string& name, const Vec& x, bool bias = true) const {
    const Vec& w = p.at(name + ".weight");
    Vec y = bias ? p.at(name + ".bias") : Vec(w.size() / x.size());
    for (size_t i = 0; i < y.size(); ++i)
      for (size_t j = 0; j < x.size(); ++j) y[i] += w[i * x.size() + j] * x[j];
    return y;
  }
  Vec embedding(int32_t id) const {
    const Vec& table = p.at("embedding.weight");
    Vec e(table.begin() + id * static_cast<int64_t>(d), table.begin() + (id + 1) * static_cast<int64_t>(d));
    for (double& x : e) x *= std::sqrt(static_cast<double>(d));
    return e;
  }
  Vec gru(const std::string& name, Vec x, const Vec& h, const Vec& more) const {
    x = times(name + ".input", x);
    for (size_t i = 0; i < more.size(); ++i) x[i] += more[i];
    const Vec g = times(name + ".hidden", h);
    Vec next(d);
    for (size_t j = 0; j < d; ++j) {
      const double r = 1 / (1 + std::exp(-x[j] - g[j])), z = 1 / (1 + std::exp(-x[d + j] - g[d + j]));
      next[j] = (1 - z) * std::tanh(x[2 * d + j] + r * g[2 * d + j]) + z * h[j];
    }
    return next;
  }
  std::vector<Vec> encoded(const std::vector<int32_t>& source) const {
    std::vector<Vec> all(source.size(), Vec(2 * d));
    Vec h(d), back(d);
    for (size_t i = 0; i < source.size(); ++i) {
      const size_t last = source.size() - 1 - i;
      h = gru("encoder.0.forward", embedding(source[i]), h, {});
      back = gru("encoder.0.backward", embedding(source[last]), back, {});
      std::copy(h.begin(), h.end(), all[i].begin());
      std::copy(back.begin(), back.end(), all[last].begin() + static_cast<std::ptrdiff_t>(d));
    }
    return all;
  }
  Vec decoded(const std::vector<int32_t>& source, const std::vector<int32_t>& read) const {
    const std::vector<Vec> h = encoded(source);
    Vec mean(2 * d), out;
    for (const Vec& x : h)
      for (size_t j = 0; j < mean.size(); ++j) mean[j] += x[j] / static_cast<double>(h.size());
    Vec s = times("decoder.0.first", mean);
    for (double& x : s) x = std::tanh(x);
    for (const int32_t id : read) {
      const Vec q = times("decoder.0.cross.query", s, false);
      Vec weights;
      double total = 0;
      for (const Vec& x : h) {
        const Vec k = times("decoder.0.cross.key", x);
        double e = 0;
        for (size_t j = 0; j < d; ++j) e += p.at("decoder.0.cross.score.vector")[j] * std::tanh(q[j] + k[j]);
        weights.push_back(std::exp(e));
        total += weights.back();
      }
      Vec c(2 * d);
      for (size_t i = 0; i < h.size(); ++i)
        for (size_t j = 0; j < c.size(); ++j) c[j] += weights[i] / total * h[i][j];
      s = gru("decoder.0", embedding(id), s, times("decoder.0.context", c, false));
      Vec all = s;
      const Vec y = embedding(id);
      all.insert(all.end(), y.begin(), y.end());
      all.insert(all.end(), c.begin(), c.end());
      for (const double x : times("decoder.readout", all)) out.push_back(std::tanh(x));
    }
    return out;
  }
};

TEST(Rnn, IsThePapersFormula) {
  const auto m = model_of(recurrent());
  const Naive naive(*m);
  const IdLists x = random_sentences(5, 12, 20, 1), y = random_sentences(5, 12, 20, 2);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m->parameters()};
  const TinyBatch a = TinyBatch::of(x), b = TinyBatch::of(y);
  const auto got = numbers(m->decode(pass, a, b));
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    for (const double right : naive.decoded(x[i], y[i])) ASSERT_NEAR(got[at++], right, 2e-5) << i;
  EXPECT_EQ(at, got.size());
}

TEST(Rnn, ALanguageModelAloneStepsAsItIsTrained) {
  ModelOptions o = recurrent(16);
  o.shape = ModelShape::decoder;
  o.decoder_layers = 2;
  const auto m = model_of(o);
  EXPECT_EQ(m->decoder()->cross_layers(), 0);
  const IdLists y = random_sentences(1, 30, 20, 3);
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m->parameters()};
  const TinyBatch read = TinyBatch::of(y), nothing = TinyBatch::of({{}});
  const auto whole = numbers(m->decode(pass, {}, read));
  const auto state = m->start(pass, nothing, 100);
  for (size_t t = 0; t < y[0].size(); ++t) {
    const auto row = numbers(m->step(pass, *state, std::vector<int32_t>{y[0][t]}));
    for (size_t j = 0; j < 16; ++j) ASSERT_NEAR(row[j], whole[t * 16 + j], 1e-5);
  }
}

TEST(Rnn, SidesMixWithOtherFamilies) {
  for (const bool reads : {false, true}) {
    ModelOptions o = recurrent(16);
    o.kind = {"transformer"};
    o.heads = 2;
    (reads ? o.encoder : o.decoder) = {"rnn"};
    const auto m = model_of(o);
    const IdLists x = random_sentences(3, 12, 20, 1);
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, m->parameters()};
    const TinyBatch a = TinyBatch::of(x);
    for (const float v : numbers(m->decode(pass, a, a))) ASSERT_TRUE(std::isfinite(v));
    EXPECT_EQ(m->decoder()->cross_layers(), 1);
  }
}

TEST(Rnn, CostsWhatItsProductsCost) {
  const auto m = model_of(recurrent(8));
  const MultipliedWeights w = m->multiplied_weights();
  const double d = 8, gru = 3 * d;
  EXPECT_EQ(w.source, 2 * gru * (d + d) + d * 2 * d);  // both ways; keys
  EXPECT_EQ(w.target,
            gru * (d + d) + gru * 2 * d + d * d + d * (d + d + 2 * d) + d * 20);  // and context, query, readout
  const Segments x = Segments::of_lengths({3, 5}), y = Segments::of_lengths({2, 4});
  EXPECT_EQ(m->mixing_operations({&x, y}), (3 * 2 + 5 * 4) * (4 * d + 2 * 2 * d));
}

TEST(Rnn, RefusesWhatItHasNoUseFor) {
  const auto said = [](const std::string& key, const std::string& value) {
    ModelOptions o = recurrent();
    set_field(o, key, std::string_view(value));
    return without_fix(error_of(
        [&] {
          Recipe r;
          r.model = o;
          refuse_unused(r);
          model_of(o);
        },
        ErrorKind::recipe));
  };
  const std::string no_use = ": model.kind = \"rnn\" has no use for it";
  EXPECT_EQ(said("heads", "8"), "model.heads = 8" + no_use);
  EXPECT_EQ(said("norm", "post"), "model.norm = \"post\"" + no_use);
  EXPECT_EQ(said("position", "learned"), "model.position = \"learned\"" + no_use);
  EXPECT_EQ(said("position", "none"), "no error");
  EXPECT_EQ(said("attention_dropout", "0.1"), "model.attention_dropout = 0.1" + no_use);
  EXPECT_EQ(said("cross_attention", "softmax"),
            "model.cross_attention = \"softmax\" is not known. There are: additive");
  EXPECT_EQ(said("kind", "rnn(cell=lstm)").substr(0, 10), "model.kind");
  EXPECT_NE(said("shape", "prefix").find("prefix"), std::string::npos);
  ModelOptions o = recurrent();
  o.cross_attention = {{"additive", {{"size", int64_t{5}}}}};
  const auto m = model_of(o);
  for (const NamedParameter& n : m->parameters().named())
    if (n.name.ends_with("query.weight")) { EXPECT_EQ(n.shape.rows(), 5); }
}

}  // namespace
}  // namespace attune
