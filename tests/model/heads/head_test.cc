#include "model/heads/head.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "autograd/op_checks.h"
#include "base/ngrams.h"
#include "checks.h"
#include "model/heads/word_features.h"
#include "model/pooling/pooling.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

/// A head over rows of its own, as an operation of the rows and of all its parameters.
struct Trial {
  static constexpr int64_t kWords = 10;
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  std::unique_ptr<Head> head;
  TinyBatch rows = TinyBatch::of({{1, 7, 2, 8}, {9}, {1, 6, 2, 5, 4, 2}});  // two texts, one, two and an end mark
  Wanted wanted;
  std::vector<CheckInput> inputs;

  Trial(const Choice& kind, const Choice& pool, const std::vector<std::vector<int32_t>>& given, int64_t labels = 3,
        std::vector<int64_t> groups = {}, Letters letters = {}) {
    HeadSetup setup{.d_model = 6, .labels = labels};
    setup.letters = std::move(letters);
    setup.vocabulary = kWords;
    setup.pool = pool;
    setup.groups = std::move(groups);
    head = make_head(kind, setup, Blueprint(shared, "head"), "model.head");
    parameters.allocate();
    Edges& links = wanted.right.edges;
    links.start.push_back(0);
    for (const auto& text : given) {
      wanted.right.segments.add(std::ssize(text));
      wanted.right.ids.append(text);
      for (size_t i = 0; i < text.size(); ++i) {  // every other row begins a word, of two rows
        links.to.push_back(static_cast<int32_t>(2 * i));
        if (2 * i + 1 < 4) links.to.push_back(static_cast<int32_t>(2 * i + 1));
        links.start.push_back(static_cast<int32_t>(links.to.size()));
      }
    }
    inputs.push_back(random_input({rows.rows(), 6}, 1));
    for (int i = 0; i < std::ssize(parameters.named()); ++i)
      inputs.push_back(random_input(parameters.named()[static_cast<size_t>(i)].shape, 10 + static_cast<uint64_t>(i)));
  }
  HeadInput input(const Var& x) const { return {{x, &rows}, &wanted}; }
  template <class F>
  CheckedOp op(F f) const {
    return [this, f](Ctx& ctx, const std::vector<Var>& v) {
      Pass pass{ctx, parameters};
      pass.substitutes = std::span(v).subspan(1);
      return f(pass, input(v[0]));
    };
  }
  CheckedOp loss(const LossOptions& options = {.scale = 0.5f}) const {
    return op([this, options](const Pass& p, const HeadInput& in) { return head->loss(p, in, options); });
  }
  std::vector<double> scores() const {
    return run_checked(op([this](const Pass& p, const HeadInput& in) { return head->scores(p, in); }), inputs,
                       DType::f64)
        .value;
  }
};

const std::vector<Choice> kPools{
    {"mean"}, {"first"}, {"max"}, {"attention"}, {"attention", {{"hops", int64_t{2}}, {"inner", int64_t{4}}}},
    {"pair"}};

double log_softmax_of(const std::vector<double>& x, size_t from, size_t n, size_t which) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(x[from + i]);
  return x[from + which] - std::log(sum);
}

TEST(Heads, OneLabelForEachText) {
  for (const Choice& pool : kPools) {
    const Trial t({"label"}, pool, {{2}, {0}, {1}});
    const std::vector<double> s = t.scores();
    ASSERT_EQ(s.size(), 9u);
    const double expected =
        -0.5 * (log_softmax_of(s, 0, 3, 2) + log_softmax_of(s, 3, 3, 0) + log_softmax_of(s, 6, 3, 1));
    EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], expected, 1e-9) << pool.text();
    EXPECT_LT(gradient_error(t.loss(), t.inputs), 1e-6) << pool.text();
  }
}

TEST(Heads, AnyNumberOfLabels) {
  const Trial t({"labels"}, {"mean"}, {{2, 0}, {}, {1}});
  const std::vector<double> s = t.scores();
  double expected = 0;
  const std::vector<bool> yes{true, false, true, false, false, false, false, true, false};
  for (size_t i = 0; i < 9; ++i) expected += 0.5 / 3 * std::log1p(std::exp(yes[i] ? -s[i] : s[i]));
  EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], expected, 1e-9);
  expect_right(t.loss(), t.inputs);
}

TEST(Heads, ANumber) {
  const auto bits = [](float x) { return std::bit_cast<int32_t>(x); };
  const Trial t({"number"}, {"mean"}, {{bits(1)}, {bits(-2.5f)}, {bits(0)}}, 1);
  const std::vector<double> s = t.scores();
  ASSERT_EQ(s.size(), 3u);
  const double expected = 0.5 * ((s[0] - 1) * (s[0] - 1) + (s[1] + 2.5) * (s[1] + 2.5) + s[2] * s[2]);
  EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], expected, 1e-6);
  expect_right(t.loss(), t.inputs);
}

TEST(Heads, AVectorForEachRow) {
  for (const char* loss : {"l1", "l2"}) {
    Parameters parameters;
    Blueprint::Shared shared{parameters};
    HeadSetup setup{.d_model = 6};
    setup.width = 2;
    const auto head =
        make_head({"vectors", {{"loss", std::string(loss)}}}, setup, Blueprint(shared, "head"), "model.head");
    parameters.allocate();
    Rows rows;
    rows.segments = Segments::of_lengths({3, 1});
    Wanted wanted;
    wanted.right.segments = rows.segments;
    wanted.right.width = 2;
    wanted.right.values = Column<float>{1, -1, 0.5f, 0, 2, 2, -3, 0.25f};
    wanted.weights = Column<float>{1, 0, 2, 1};
    std::vector<CheckInput> inputs{random_input({4, 6}, 1), random_input({2, 6}, 2), random_input({2}, 3)};
    const auto op = [&](bool scores) {
      return CheckedOp([&, scores](Ctx& ctx, const std::vector<Var>& v) {
        Pass pass{ctx, parameters};
        pass.substitutes = std::span(v).subspan(1);
        const HeadInput in{{v[0], &rows}, &wanted};
        return scores ? head->scores(pass, in) : head->loss(pass, in, {.scale = 0.5f});
      });
    };
    const std::vector<double> s = run_checked(op(true), inputs, DType::f64).value;
    double expected = 0;
    for (size_t i = 0; i < 8; ++i) {
      const double far = std::abs(s[i] - static_cast<double>(wanted.right.values[i]));
      expected += 0.5 * static_cast<double>(wanted.weights[i / 2]) / 2 * (loss == std::string("l1") ? far : far * far);
    }
    EXPECT_NEAR(run_checked(op(false), inputs, DType::f64).value[0], expected, 1e-9) << loss;
    expect_right(op(false), inputs, loss);
  }
}

/// Words, and words in a row, that have a say of their own: scores by the plain formula.
TEST(Heads, WordsBesideTheEncoder) {
  for (const int64_t n : {1, 2, 3}) {
    const Trial t({"label", {{"ngrams", n}}}, {"mean"}, {{2}, {0}, {1}});
    ASSERT_EQ(t.parameters.named()[2].name, "head.ngrams.weight");
    const auto &rows = t.inputs[0].values, &w = t.inputs[1].values, &b = t.inputs[2].values, &said = t.inputs[3].values;
    ASSERT_EQ(std::ssize(said), 3 * (Trial::kWords + (n > 1 ? kNgramIds : 0)));
    const std::vector<double> s = t.scores();
    for (int64_t text = 0; text < 3; ++text)
      for (size_t l = 0; l < 3; ++l) {
        const int64_t from = t.rows.segments.begin(text), length = t.rows.segments.length(text);
        double pooled = 0, sum = 0;
        for (int64_t i = from; i < from + length; ++i)
          for (size_t j = 0; j < 6; ++j)
            pooled += w[l * 6 + j] * rows[static_cast<size_t>(i) * 6 + j] / static_cast<double>(length);
        std::vector<int32_t> ids(t.rows.ids.begin() + from, t.rows.ids.begin() + from + length);
        add_ngrams(Trial::kWords, n, ids);
        for (const int32_t id : ids) sum += said[static_cast<size_t>(id) * 3 + l];
        const double expected = pooled + b[l] + std::sqrt(6.0) * sum / std::sqrt(static_cast<double>(ids.size()));
        EXPECT_NEAR(s[static_cast<size_t>(text) * 3 + l], expected, 1e-6) << n;
      }
    const double loss = -0.5 * (log_softmax_of(s, 0, 3, 2) + log_softmax_of(s, 3, 3, 0) + log_softmax_of(s, 6, 3, 1));
    EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], loss, 1e-9);
    if (n > 1) continue;  // the table is too large for finite differences
    EXPECT_LT(gradient_error(t.loss(), t.inputs), 1e-6);
  }
  const auto bits = [](float x) { return std::bit_cast<int32_t>(x); };
  const Trial sets({"labels", {{"ngrams", int64_t{1}}}}, {"mean"}, {{2, 0}, {}, {1}});
  expect_right(sets.loss(), sets.inputs);
  const Trial numbers({"number", {{"ngrams", int64_t{1}}}}, {"mean"}, {{bits(1)}, {bits(-2.5f)}, {bits(0)}}, 1);
  expect_right(numbers.loss(), numbers.inputs);
}

TEST(Heads, SeveralAtOnce) {
  const auto bits = [](float x) { return std::bit_cast<int32_t>(x); };
  const Choice kind{"several", {{"heads", std::string("label number label")}, {"weights", std::string("1 0.25 2")}}};
  const Trial t(kind, {"mean"}, {{2, bits(1), 0}, {0, bits(-2.5f), 1}, {1, bits(0), 1}}, 5, {3, 0, 2});
  const std::vector<double> s = t.scores();  // 3 labels, a number, 2 labels
  ASSERT_EQ(s.size(), 18u);
  double expected = 0;
  const std::vector<size_t> first{2, 0, 1}, last{0, 1, 1};
  const std::vector<double> numbers{1, -2.5, 0};
  for (size_t i = 0; i < 3; ++i) {
    const double away = s[6 * i + 3] - numbers[i];
    expected += 0.5 * (-log_softmax_of(s, 6 * i, 3, first[i]) + 0.25 * away * away -
                       2 * log_softmax_of(s, 6 * i + 4, 2, last[i]));
  }
  EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], expected, 1e-6);
  EXPECT_LT(gradient_error(t.loss(), t.inputs), 1e-6);
}

TEST(Heads, ALabelForEachWord) {
  for (const bool crf : {false, true}) {
    const Trial t({"tags", {{"crf", crf}}}, {"mean"}, {{2, 1}, {0}, {1, 1, 0}});
    const std::vector<double> s = t.scores();
    ASSERT_EQ(s.size(), 18u);
    // The row of a word is that of its first piece.
    const std::vector<size_t> rows{0, 2, 4, 5, 7, 9};
    const auto& w = t.inputs[1].values;
    const auto& b = t.inputs[2].values;
    for (size_t i = 0; i < 6; ++i)
      for (size_t l = 0; l < 3; ++l) {
        double sum = b[l];
        for (size_t j = 0; j < 6; ++j) sum += w[l * 6 + j] * t.inputs[0].values[rows[i] * 6 + j];
        EXPECT_NEAR(s[i * 3 + l], sum, 1e-9);
      }
    if (!crf) {
      double expected = 0;
      for (size_t i = 0; i < 6; ++i)
        expected -= 0.5 * log_softmax_of(s, 3 * i, 3, static_cast<size_t>(t.wanted.right.ids[i]));
      EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], expected, 1e-9);
    }
    EXPECT_LT(gradient_error(t.loss(), t.inputs), 1e-6) << crf;
  }
}

TEST(Heads, HowWordsAreWrittenHasASay) {
  const auto letters = std::make_shared<const std::vector<Spelled>>(std::vector<Spelled>{{},
                                                                                         {},
                                                                                         {},
                                                                                         {U"?", U"?"},
                                                                                         {U"a", U"a"},
                                                                                         {U"Bc", U"bc"},
                                                                                         {U"d", U"d"},
                                                                                         {U"9", U"9"},
                                                                                         {U"\u00c9f", U"\u00e9f"},
                                                                                         {U"g", U"g"}});
  // Of ids {1, 7, 2, 8}, {9}, {1, 6, 2, 5, 4, 2}, of which every other begins a word; marks spell nothing.
  const std::vector<std::vector<Spelled>> texts{
      {(*letters)[7], (*letters)[8]}, {(*letters)[9]}, {(*letters)[6], (*letters)[5], (*letters)[4]}};
  for (const int64_t most : {1, 2, 3})
    for (const bool crf : {false, true}) {
      const Trial t({"tags", {{"crf", crf}, {"ngrams", most}}}, {"mean"}, {{2, 1}, {0}, {1, 1, 0}}, 3, {}, letters);
      const auto &w = t.inputs[1].values, &b = t.inputs[2].values, &said = t.inputs[crf ? 4 : 3].values;
      ASSERT_EQ(std::ssize(said), 3 * kWordFeatureIds);
      const std::vector<double> s = t.scores();
      const std::vector<size_t> rows{0, 2, 4, 5, 7, 9};
      const auto count = static_cast<size_t>(word_features_of(most));
      std::vector<int32_t> ids(6 * count);
      for (size_t i = 0, first = 0; i < 3; first += texts[i++].size())
        word_feature_ids(texts[i], most, ids.data() + first * count);
      for (size_t i = 0; i < 6; ++i)
        for (size_t l = 0; l < 3; ++l) {
          double sum = b[l], own = 0;
          for (size_t j = 0; j < 6; ++j) sum += w[l * 6 + j] * t.inputs[0].values[rows[i] * 6 + j];
          for (size_t f = 0; f < count; ++f) own += said[static_cast<size_t>(ids[i * count + f]) * 3 + l];
          EXPECT_NEAR(s[i * 3 + l], sum + std::sqrt(6.0 / static_cast<double>(count)) * own, 1e-6) << most;
        }
      double expected = 0;
      for (size_t i = 0; i < 6; ++i)
        expected -= 0.5 * log_softmax_of(s, 3 * i, 3, static_cast<size_t>(t.wanted.right.ids[i]));
      if (crf) continue;
      EXPECT_NEAR(run_checked(t.loss(), t.inputs, DType::f64).value[0], expected, 1e-9);
    }
}

TEST(Heads, WhatHasNoWordsHasNoneThatSaySomething) {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  const HeadSetup rows{.d_model = 6, .labels = 3};
  EXPECT_EQ(error_of(
                [&] {
                  make_head({"tags", {{"ngrams", int64_t{2}}}}, rows, Blueprint(shared, "head"), "");
                },
                ErrorKind::recipe),
            "model.head: ngrams = 2, but what is read has no words that could have a say of their own\n"
            "  fix: leave ngrams out");
}

TEST(Heads, WordsThatAreWrittenAlikeShareFeatures) {
  const auto word = [](const std::u32string& letters) {
    Spelled w{letters, letters};
    for (char32_t& c : w.lower) c += c >= 'A' && c <= 'Z' ? 32 : c == 0xc9 ? 32 : 0;
    return w;
  };
  const auto spelled = [&](const std::u32string& letters) { return spelling_of(word(letters)); };
  const Spelling a = spelled(U"Walking"), b = spelled(U"walking"), c = spelled(U"Talking");
  EXPECT_NE(a.word, b.word);
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_NE(a.shape, b.shape);
  EXPECT_EQ(a.shape, c.shape);
  EXPECT_EQ(a.ends, c.ends);
  EXPECT_NE(a.begins[0], c.begins[0]);
  EXPECT_EQ(spelled(U"B-52").shape, spelled(U"USS-1").shape);
  EXPECT_EQ(spelled(U"\u00c9t\u00e9").shape, spelled(U"Ete").shape);
  EXPECT_EQ(spelled(U"x").ends[3], spelled(U"X").ends[3]);  // shorter than four: all of it
  // What stands beside a word tells on which side, and in a row the order counts.
  const auto of = [&](const std::vector<std::u32string>& text) {
    std::vector<Spelled> words;
    for (const std::u32string& w : text) words.push_back(word(w));
    std::vector<int32_t> ids(words.size() * static_cast<size_t>(word_features_of(2)));
    word_feature_ids(words, 2, ids.data());
    return std::vector<int32_t>(ids.begin() + word_features_of(2), ids.begin() + 2 * word_features_of(2));
  };
  EXPECT_EQ(of({U"the", U"dog", U"ran"}), of({U"the", U"dog", U"ran", U"off"}));  // one word each way
  EXPECT_NE(of({U"the", U"dog", U"ran"}), of({U"ran", U"dog", U"the"}));
}

TEST(Heads, AnswersFromScores) {
  Arena arena;
  Ctx ctx(arena);
  const std::vector<float> scores{0.1f, 3, -2, 5, 4, 4};
  const Tensor two(scores.data(), Shape{2, 3}), one(scores.data(), Shape{1, 3}), number(scores.data(), Shape{1, 1});
  const auto answers = [&](const Choice& kind, const Tensor& s) {
    Trial t(kind, {"mean"}, {{0}, {0}, {0}});
    const Pass pass{ctx, t.parameters};
    return t.head->answers(pass, s);
  };
  EXPECT_EQ(answers({"label"}, one), (std::vector<int32_t>{1}));
  EXPECT_EQ(answers({"labels"}, one), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(answers({"labels", {{"threshold", 0.9}}}, one), (std::vector<int32_t>{1}));
  EXPECT_EQ(answers({"number"}, number), (std::vector<int32_t>{std::bit_cast<int32_t>(0.1f)}));
  EXPECT_EQ(answers({"tags"}, two), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(answers({"tags", {{"crf", true}}}, two), (std::vector<int32_t>{1, 0}));
}

TEST(Heads, HopsAreKeptApart) {
  const Trial t({"label"}, {"attention", {{"hops", int64_t{2}}, {"penalty", 0.7}}}, {{2}, {0}, {1}});
  const CheckedOp terms = t.op([&](Pass pass, const HeadInput& in) {
    Var added;
    pass.loss_terms = &added;
    t.head->scores(pass, in);
    return added;
  });
  expect_right(terms, t.inputs);
  EXPECT_GT(run_checked(terms, t.inputs, DType::f64).value[0], 0);
}

TEST(Heads, SayWhatIsWrong) {
  const Trial t({"label"}, {"mean"}, {{2, 1}, {0}, {1}});
  EXPECT_EQ(error_of([&] { run_checked(t.loss(), t.inputs, DType::f32); }), "[label] text 0 has 2 answers, not one");
  EXPECT_EQ(error_of([] { Trial({"lable"}, {"mean"}, {}); }, ErrorKind::recipe),
            "model.head = \"lable\" is not known. Did you mean \"label\"?");
  EXPECT_EQ(error_of([] { Trial({"label"}, {"mena"}, {}); }, ErrorKind::recipe),
            "model.pool = \"mena\" is not known. Did you mean \"mean\"?");
}

}  // namespace
}  // namespace attune
