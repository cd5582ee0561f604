// Optimisers as recipes choose them: torch.optim's numbers, the papers' formulas, what they remember and what they
// refuse.
#include "train/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "base/thread_pool.h"
#include "checks.h"
#include "places.h"

namespace attune {
namespace {

using Json = nlohmann::json;

TrainOptions options_of(const std::string& optimizer, double weight_decay = 0) {
  TrainOptions o;
  EXPECT_TRUE(Choice::parse(optimizer, o.optimizer)) << optimizer;
  o.weight_decay = weight_decay;
  return o;
}

/// A matrix and a vector, which padding separates.
struct Weights {
  Parameters parameters;
  Weights() {
    parameters.add("matrix", {5, 3});
    parameters.add("vector", {7});
    parameters.allocate();
  }
  void put(float* block, const Json& numbers) const {
    for (const NamedParameter& p : parameters.named())
      for (size_t i = 0; i < numbers[p.name].size(); ++i)
        block[p.offset + static_cast<int64_t>(i)] = numbers[p.name][i];
  }
};

class GoldenOptimizer : public testing::TestWithParam<int> {};

TEST_P(GoldenOptimizer, IsTorchs) {
  std::ifstream file(test::source_dir() + "/tests/golden/optimizers.json");
  const Json golden = Json::parse(file);
  ASSERT_EQ(golden["cases"].size(), 8u);
  const Json& c = golden["cases"][static_cast<size_t>(GetParam())];
  Weights w;
  w.put(w.parameters.data(), golden["weights"]);
  const auto optimizer = make_optimizer(options_of(c["optimizer"], c["weight_decay"]), w.parameters);
  Aligned<float> gradients(w.parameters.size());
  int64_t step = 0;
  for (const Json& g : golden["gradients"]) {
    w.put(gradients.data(), g);
    optimizer->step({++step, golden["rate"].get<double>()}, gradients.data(), nullptr);
  }
  for (const NamedParameter& p : w.parameters.named())
    for (int64_t i = 0; i < p.shape.size(); ++i) {
      const double after = c["after"][p.name][static_cast<size_t>(i)];
      EXPECT_NEAR(w.parameters.data()[p.offset + i], after, 2e-6 * std::max(1.0, std::abs(after)))
          << c["optimizer"] << " " << p.name << " " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenOptimizer, testing::Range(0, 8));

// --- the papers' formulas, written out in double on one weight after another
// ------------------------------------------

/// f(p, g, t) moves one number; 40 updates of it against the optimiser's.
template <class Rule>
void expect_rule(const std::string& optimizer, double decay, Rule rule) {
  Weights w;
  Random random(7);
  for (int64_t i = 0; i < w.parameters.size(); ++i) w.parameters.data()[i] = static_cast<float>(random.normal());
  std::vector<double> exact(w.parameters.data(), w.parameters.data() + w.parameters.size());
  const auto made = make_optimizer(options_of(optimizer, decay), w.parameters);
  std::vector<float> g(exact.size());
  for (int64_t t = 1; t <= 40; ++t) {
    for (float& x : g) x = static_cast<float>(random.normal() * std::exp2(random.uniform(-6, 3)));
    made->step({t, 0.01, 0.5}, g.data(), nullptr);
    for (size_t i = 0; i < exact.size(); ++i)
      exact[i] = rule(i, exact[i], 0.5 * static_cast<double>(g[i]), static_cast<double>(t));
  }
  for (const NamedParameter& p : w.parameters.named())
    for (int64_t i = p.offset; i < p.offset + p.shape.size(); ++i)
      EXPECT_NEAR(w.parameters.data()[i], exact[static_cast<size_t>(i)], 1e-5) << optimizer << " " << i;
}

/// Kingma, Ba 2015, algorithm 1; Loshchilov, Hutter 2019, algorithm 2, line 12.
TEST(Optimizer, AdamAndAdamWAreTheirPapers) {
  for (const bool w : {false, true}) {
    std::map<size_t, std::pair<double, double>> moments;
    expect_rule(w ? "adamw" : "adam", 0.2, [&](size_t i, double p, double g, double t) {
      auto& [m, v] = moments[i];
      m = 0.9 * m + 0.1 * g;
      v = 0.98 * v + 0.02 * g * g;
      const double m_hat = m / (1 - std::pow(0.9, t)), v_hat = v / (1 - std::pow(0.98, t));
      const double decay = w && i >= 16 ? 0 : 0.2;  // the vector begins there
      return p - 0.01 * (m_hat / (std::sqrt(v_hat) + 1e-9) + decay * p);
    });
  }
}

/// Sutskever et al. 2013, equations 1 and 2; Loshchilov, Hutter 2019, algorithm 1.
TEST(Optimizer, SgdIsItsPaper) {
  std::map<size_t, double> velocity;
  expect_rule("sgd(momentum=0.7)", 0.2, [&](size_t i, double p, double g, double) {
    double& v = velocity[i];
    v = 0.7 * v - 0.01 * g;
    return p - 0.01 * 0.2 * p + v;
  });
  expect_rule("sgd(momentum=0)", 0, [&](size_t, double p, double g, double) { return p - 0.01 * g; });
}

/// Shazeer, Stern 2018, algorithm 5: a vector, whose steps are not relative.
TEST(Optimizer, AdafactorOfAVectorIsItsPaper) {
  Parameters one;
  one.add("vector", {3});
  one.allocate();
  const auto made = make_optimizer(options_of("adafactor(relative_step=false)"), one);
  double v[3] = {}, x[3] = {};
  Random random(5);
  for (int t = 1; t <= 30; ++t) {
    float g[16] = {};
    double u[3], squares = 0;
    const double beta2 = 1 - std::pow(t, -0.8);
    for (int i = 0; i < 3; ++i) {
      g[i] = static_cast<float>(random.normal() * (t > 20 ? 30 : 1));  // then updates are cut
      v[i] = beta2 * v[i] + (1 - beta2) * (static_cast<double>(g[i]) * static_cast<double>(g[i]) + 1e-30);
      u[i] = static_cast<double>(g[i]) / std::sqrt(v[i]);
      squares += u[i] * u[i];
    }
    for (int i = 0; i < 3; ++i) x[i] -= 0.02 * u[i] / std::max(1.0, std::sqrt(squares / 3));
    made->step({t, 0.02}, g, nullptr);
  }
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(one.data()[i], x[i], 1e-5) << i;
}

// --- what they remember ----------------------------------------------------------------------------------------------

std::vector<std::string> names_of(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const Remembered& r : optimizer.remembered()) names.push_back(r.name + " " + r.shape.text());
  return names;
}

TEST(Optimizer, WhatIsRememberedHasNames) {
  Weights w;
  using Names = std::vector<std::string>;
  const auto names = [&](const char* kind) { return names_of(*make_optimizer(options_of(kind), w.parameters)); };
  EXPECT_EQ(names("adamw"),
            (Names{"matrix.first [5, 3]", "vector.first [7]", "matrix.second [5, 3]", "vector.second [7]"}));
  EXPECT_EQ(names("sgd"), (Names{"matrix.velocity [5, 3]", "vector.velocity [7]"}));
  EXPECT_EQ(names("sgd(momentum=0)"), Names{});
  EXPECT_EQ(names("adafactor"), (Names{"matrix.rows [5]", "matrix.columns [3]", "vector.second [7]"}));
}

TEST(Optimizer, AdafactorRemembersNextToNothing) {
  Parameters p;
  p.add("embedding", {8000, 512});
  p.add("bias", {512});
  p.allocate();
  const int64_t adam = make_optimizer(options_of("adam"), p)->bytes();
  const int64_t adafactor = make_optimizer(options_of("adafactor"), p)->bytes();
  EXPECT_EQ(adam, 2 * 4 * (8000 * 512 + 512));
  EXPECT_EQ(adafactor, 4 * (8000 + 512 + 512));
}

TEST(Optimizer, AdafactorTakesJoinedMatricesApart) {
  Parameters joined, apart;
  joined.add_joined({{"query", 4}, {"key", 4}}, 16);
  apart.add("query", {4, 16});
  apart.add("key", {4, 16});
  joined.allocate();
  apart.allocate();
  const auto a = make_optimizer(options_of("adafactor"), joined), b = make_optimizer(options_of("adafactor"), apart);
  EXPECT_EQ(names_of(*a), names_of(*b));
  Random random(3);
  for (int t = 1; t <= 3; ++t) {
    std::vector<float> g(128);
    for (float& x : g) x = static_cast<float>(random.normal());
    a->step({t, 0.1}, g.data(), nullptr);
    b->step({t, 0.1}, g.data(), nullptr);
  }
  for (int64_t i = 0; i < 128; ++i) EXPECT_EQ(joined.data()[i], apart.data()[i]) << i;
}

/// Whatever is remembered, written to another optimiser of the kind, makes it go on with the same bits; on any threads.
TEST(Optimizer, GoesOnFromWhatItRemembers) {
  for (const OptimizerKind& kind : optimizer_kinds()) {
    Parameters one, other;
    for (Parameters* p : {&one, &other}) {
      p->add("matrix", {300, 200});
      p->add("vector", {77});
      p->add_buffer("buffer", {3, 5});
      p->allocate();
      for (int64_t i = 0; i < p->size(); ++i) p->data()[i] = static_cast<float>(i % 7) * 0.1f;
    }
    const auto a = make_optimizer(options_of(kind.name, 0.1), one);
    std::vector<float> g(static_cast<size_t>(one.size()));
    const auto step = [&](Optimizer& o, int t, ThreadPool* pool) {
      Random random(static_cast<uint64_t>(t));
      for (const NamedParameter& p : one.named())  // between them are zeros
        for (int64_t i = 0; i < p.shape.size(); ++i)
          g[static_cast<size_t>(p.offset + i)] = static_cast<float>(random.normal());
      o.step({t, 0.1, 0.3}, g.data(), pool);
    };
    for (int t = 1; t <= 3; ++t) step(*a, t, nullptr);
    std::copy_n(one.data(), one.size(), other.data());
    const auto b = make_optimizer(options_of(kind.name, 0.1), other);
    const auto from = a->remembered(), to = b->remembered();
    for (size_t i = 0; i < from.size(); ++i) std::copy_n(from[i].data, from[i].shape.size(), to[i].data);
    ThreadPool pool(3);
    for (int t = 4; t <= 6; ++t) {
      step(*a, t, nullptr);
      step(*b, t, &pool);
    }
    EXPECT_EQ(std::memcmp(one.data(), other.data(), static_cast<size_t>(one.size()) * sizeof(float)), 0) << kind.name;
    for (int64_t i = one.trained(); i < one.size(); ++i)
      EXPECT_EQ(one.data()[i], static_cast<float>(i % 7) * 0.1f) << "no gradient changes a buffer";
  }
}

TEST(Optimizer, SaysWhatIsWrong) {
  const auto trouble = [](const std::string& optimizer) {
    return error_of([&] { check_optimizer(options_of(optimizer).optimizer); }, ErrorKind::recipe);
  };
  EXPECT_EQ(trouble("adafacter"), "train.optimizer = \"adafacter\" is not known. Did you mean \"adafactor\"?");
  EXPECT_EQ(trouble("lion"), "train.optimizer = \"lion\" is not known. There are: adam, adamw, adafactor, sgd");
  EXPECT_EQ(trouble("sgd(momentum=1)"),
            "train.optimizer = { kind = \"sgd\", momentum = 1 }: momentum = 1 is out of range: 0 to below 1\n  fix: "
            "for example momentum = 0.9");
  EXPECT_EQ(trouble("sgd(momentun=0.5)"),
            "train.optimizer = { kind = \"sgd\", momentun = 0.5 }: unknown key 'momentun'. Did you mean 'momentum'?");
}

}  // namespace
}  // namespace attune
