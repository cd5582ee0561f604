#include "attune/generator.h"

#include <gtest/gtest.h>

#include "attune/scorer.h"
#include "checks.h"
#include "inference/model_files.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

using attune::error_of;
using Prompts = std::vector<std::string>;

bool same(const GeneratedText& a, const GeneratedText& b) {
  return a.text == b.text && a.score == b.score && a.tokens == b.tokens && a.token_scores == b.token_scores &&
         std::equal(a.others.begin(), a.others.end(), b.others.begin(), b.others.end(), same);
}

/// Models trained once for all tests of a run: of whole texts, in windows of 32 characters, and of lines.
std::string trained(const char* stream) {
  static LanguageRun run;
  static std::map<std::string, bool> done;
  if (!std::exchange(done[stream], true))
    run.train(stream, {std::string("data.stream=") + stream, "train.stop=150u", "train.validate=1000u",
                       "train.average=1", "train.save=1000u"});
  return run.folder / stream;
}
std::string texts() { return trained("true"); }
std::string lines() { return trained("false"); }

const Prompts kPrompts{"one two", "", "knock", "three four knock one", "\xff", "my shoe"};

/// The tokens a model says after `ids` when all is computed anew for each, and how probable it finds them.
struct Anew {
  std::vector<std::string> tokens;
  std::vector<double> scores;
};
Anew anew(const std::string& folder, const std::string& prompt, int64_t length) {
  const OpenedModel m = open_model_files(folder);
  const text::Tokenizer& tokenizer = *m.tokenizers.target;
  const bool goes_on = m.recipe.data.stream;
  std::vector<int32_t> ids{goes_on ? text::kEnd : text::kBegin};
  for (const int32_t id : tokenizer.encode(prompt)) ids.push_back(id);
  Anew out;
  Arena arena;
  for (int64_t n = 0; n < length; ++n) {
    Ctx ctx(arena);
    Pass pass{ctx, m.model->parameters()};
    const Var rows = m.model->decode(pass, Rows(), rows_of(ids, Segments::single(std::ssize(ids))));
    const Var logits = m.model->logits(pass, ctx.input(rows.value().row_range(rows.rows() - 1, 1)));
    const float* x = logits.value().row<float>(0);
    int32_t best = text::kEnd;
    double sum = 0;
    for (int32_t id = 0; id < tokenizer.size(); ++id) {
      sum += std::exp(static_cast<double>(x[id]));
      if (id >= text::kMarks && x[id] > x[best]) best = id;
    }
    out.scores.push_back(static_cast<double>(x[best]) - std::log(sum));
    if (best == text::kEnd && !goes_on) break;
    out.tokens.push_back(tokenizer.piece(best));
    ids.push_back(best);
  }
  return out;
}

TEST(Generator, CachedIsComputedAnew) {
  for (const std::string& model : {texts(), lines()}) {
    const Generator g(model, 2);
    for (const Prompts& prompts : {Prompts{"one two", "", "kn"}})
      for (const auto& prompt : prompts) {
        const GeneratedText t = g.generate(prompt, {.sample = false, .max_length = 20});
        const Anew want = anew(model, prompt, 20);
        EXPECT_EQ(t.tokens, want.tokens) << prompt;
        ASSERT_EQ(t.token_scores.size(), want.scores.size());
        for (size_t i = 0; i < want.scores.size(); ++i) EXPECT_NEAR(t.token_scores[i], want.scores[i], 1e-4) << i;
      }
  }
}

TEST(Generator, ATextDoesNotDependOnItsBatch) {
  for (const std::string& model : {texts(), lines()}) {
    const Generator one(model, 1), three(model, 3);
    for (GenerateOptions o : {GenerateOptions{.top_p = 0.9, .n_best = 3, .max_length = 70},
                              GenerateOptions{.sample = false, .beam = 3, .n_best = 2, .max_length = 25},
                              GenerateOptions{.sample = false, .max_length = 50}}) {
      const auto all = one.generate(kPrompts, o);
      ASSERT_EQ(all.size(), kPrompts.size());
      for (const int64_t batch_tokens : {1, 100, 4096}) {
        o.batch_tokens = batch_tokens;
        const auto again = three.generate(kPrompts, o);
        for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same(again[i], all[i])) << kPrompts[i] << batch_tokens;
      }
      for (size_t i = 0; i < all.size(); ++i) {
        o.first_line = i;
        EXPECT_TRUE(same(three.generate(kPrompts[i], o), all[i])) << kPrompts[i];
        EXPECT_EQ(std::ssize(all[i].others), o.n_best - 1);
      }
    }
  }
}

TEST(Generator, TextsGoOnBeyondTheWindow) {
  const Generator g(texts());
  EXPECT_TRUE(g.says_lines());
  const GeneratedText t = g.generate("one", {.sample = false, .max_length = 100});
  EXPECT_EQ(t.tokens.size(), 100u);
  EXPECT_EQ(t.token_scores.size(), 100u);
  EXPECT_TRUE(t.cut_off);
  EXPECT_NE(g.generate("one", {.max_length = 200}).text.find('\n'), std::string::npos) << "it learned lines";
  EXPECT_TRUE(t.text.starts_with("one"));
  EXPECT_EQ(t.text, "one" + t.continuation);
  const std::string prompt(50, 'o');
  EXPECT_TRUE(g.generate(prompt, {.max_length = 3}).cropped);
  EXPECT_FALSE(g.generate("o", {.max_length = 3}).cropped);
  EXPECT_EQ(g.generate("one", {.max_length = 3}).unknown, 0);
  EXPECT_EQ(g.generate("one \u03a9", {.max_length = 3}).unknown, 1);
  const GeneratedText two = g.generate("one two\nthree", {.max_length = 5});
  EXPECT_TRUE(two.text.starts_with("one two\nthree")) << two.text;
}

TEST(Generator, LinesEnd) {
  const Generator g(lines());
  EXPECT_FALSE(g.says_lines());
  const GeneratedText t = g.generate("one two", {.sample = false, .max_length = 60});
  EXPECT_FALSE(t.cut_off);
  EXPECT_EQ(t.token_scores.size(), t.tokens.size() + 1);
  EXPECT_EQ(t.text.find('\n'), std::string::npos);
  const GeneratedText longer = g.generate("one two", {.sample = false, .min_length = 40, .max_length = 60});
  EXPECT_GE(longer.tokens.size(), 40u) << "after the prompt";
  // What was said is as probable as a scorer finds it, once the prompt is taken off.
  const Scorer scorer(lines());
  const LineScore all = scorer.score_lines({t.text}).front();
  double sum = 0, want = 0;
  for (const double x : t.token_scores) sum += x;
  for (size_t i = all.token_scores.size() - t.token_scores.size(); i < all.token_scores.size(); ++i)
    want += all.token_scores[i];
  EXPECT_NEAR(sum, want, 1e-4 * (1 + std::abs(want)));
}

TEST(Generator, StopsAndSeeds) {
  const Generator g(texts());
  const GenerateOptions o{.seed = 3, .max_length = 200};
  const GeneratedText whole = g.generate("one", o);
  GenerateOptions until = o;
  until.stop = "\n";
  const GeneratedText line = g.generate("one", until);
  EXPECT_EQ(line.text, whole.text.substr(0, whole.text.find('\n')));
  EXPECT_FALSE(line.cut_off);
  EXPECT_LT(line.tokens.size(), whole.tokens.size()) << "it does not go on for nothing";
  GenerateOptions other = o;
  other.seed = 4;
  EXPECT_NE(g.generate("one", other).text, whole.text);
  EXPECT_TRUE(same(g.generate("one", o), whole));
  const GeneratedText cold = g.generate("one", {.temperature = 0.001, .max_length = 20});
  EXPECT_EQ(cold.text, g.generate("one", {.sample = false, .max_length = 20}).text);
}

TEST(Generator, TokensAreToldAsTheyAreSaid) {
  for (const std::string& model : {texts(), lines()}) {
    const Generator g(model, 2);
    for (GenerateOptions o :
         {GenerateOptions{.n_best = 2, .max_length = 60}, GenerateOptions{.sample = false, .max_length = 60},
          GenerateOptions{.sample = false, .beam = 4, .max_length = 20}}) {
      std::map<std::pair<size_t, int>, GeneratedText> told;
      o.on_token = [&](const StreamedToken& t) {
        GeneratedText& to = told[{t.line, t.number}];
        to.continuation += t.text;
        to.tokens.push_back(t.token);
        return true;
      };
      const auto all = g.generate(kPrompts, o);
      for (size_t i = 0; i < all.size(); ++i)
        for (size_t n = 0; n < (o.sample ? 2u : 1u); ++n) {
          const GeneratedText& want = n == 0 ? all[i] : all[i].others[0];
          const GeneratedText& got = told[{i, static_cast<int>(n)}];
          EXPECT_EQ(got.tokens, want.tokens);
          EXPECT_EQ(got.continuation, want.continuation);
        }
    }
    int calls = 0;
    const GeneratedText few =
        g.generate("one", {.min_length = 10, .max_length = 60, .on_token = [&](const auto&) { return ++calls < 5; }});
    EXPECT_EQ(few.tokens.size(), 5u);
  }
}

TEST(Generator, Messages) {
  SmallRun translation;
  translation.train("out", {"train.stop=1u", "train.average=1"});
  const std::string model = translation.folder / "out";
  EXPECT_TRUE(error_of([&] { Generator g(model); }, ErrorKind::model).starts_with(model + " translates"));
  const Generator g(lines());
  EXPECT_NE(error_of([&] { g.generate("a", {.sample = false, .n_best = 2}); }, ErrorKind::usage).find("make the beam"),
            std::string::npos);
  EXPECT_NE(error_of([&] { g.generate("a", {.suppressed = {"nope"}}); }, ErrorKind::usage).find("no piece"),
            std::string::npos);
  EXPECT_TRUE(g.generate(Prompts{}).empty());
}

}  // namespace
}  // namespace attune::test
