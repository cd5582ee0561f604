#include "attune/scorer.h"

#include <gtest/gtest.h>

#include "api/model_maker.h"
#include "attune/translator.h"
#include "checks.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

using attune::error_of;

const std::vector<std::string> kSources{"a dog runs", "", "the cat \xff sees", "", "zwei hunde am see", "two"};
const std::vector<std::string> kTargets{"ein hund", "", "", "die katze", "日本 the dogs run to the lake", "\xc3 zwei"};

bool same(const std::vector<LineScore>& a, const std::vector<LineScore>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const LineScore& x, const LineScore& y) {
    return x.log_prob == y.log_prob && x.score == y.score && x.tokens == y.tokens && x.token_scores == y.token_scores;
  });
}

/// What a beam found has the very probability that it told, whatever the penalty.
void expect_scores_of_n_best(const std::string& model, const std::vector<std::string>& lines) {
  const Translator translator(model, 2);
  const Scorer scorer(model, 2);
  int compared = 0;
  for (const double penalty : {0.6, 0.0})
    for (const std::string& line : lines) {
      const Translation best = translator.translate(line, {.length_penalty = penalty, .n_best = 5});
      std::vector<const Translation*> all{&best};
      for (const Translation& t : best.others) all.push_back(&t);
      for (const Translation* t : all) {
        const LineScore s = scorer.score({line}, {t->text}, {.length_penalty = penalty}).front();
        if (t->cut_off || s.tokens != t->tokens) continue;  // another way to write the same text
        ++compared;
        EXPECT_NEAR(s.score, t->score, 1e-4 * (1 + std::abs(t->score))) << line << " -> " << t->text;
        ASSERT_EQ(s.token_scores.size(), t->token_scores.size());
        for (size_t i = 0; i < s.token_scores.size(); ++i)
          EXPECT_NEAR(s.token_scores[i], t->token_scores[i], 1e-4 * (1 + std::abs(t->token_scores[i])));
      }
    }
  EXPECT_GE(compared, 5 * std::ssize(lines));
}

TEST(Scorer, FindsNBestTranslationsAsProbableAsTheSearchDid) {
  SmallRun run;
  run.train("model", {"train.stop=40u", "train.validate=100u", "train.average=1"});
  expect_scores_of_n_best(run.folder / "model", {"a b c", "h g f e", "a", "d d d d d d"});
}

TEST(Scorer, AnEnsembleIsTheMeanOfWhatItsModelsFindProbable) {
  const TempFolder one, two;
  const std::string model = make_model(one), other = make_model(two, {.seed = 4});
  const auto all = Scorer(model + "," + other).score(kSources, kTargets), a = Scorer(model).score(kSources, kTargets),
             b = Scorer(other).score(kSources, kTargets);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t t = 0; t < all[i].token_scores.size(); ++t)
      EXPECT_NEAR(std::exp(all[i].token_scores[t]),
                  (std::exp(a[i].token_scores[t]) + std::exp(b[i].token_scores[t])) / 2, 1e-9);
}

TEST(Scorer, ALineDoesNotSeeTheOthers) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const Scorer one(model, 1), three(model, 3);
  const auto all = one.score(kSources, kTargets, {.length_penalty = 0.6});
  ASSERT_EQ(all.size(), kSources.size());
  for (const int64_t batch_tokens : {1, 7, 4096}) {
    const ScoreOptions o{.length_penalty = 0.6, .batch_tokens = batch_tokens};
    EXPECT_TRUE(same(one.score(kSources, kTargets, o), all)) << batch_tokens;
    EXPECT_TRUE(same(three.score(kSources, kTargets, o), all)) << batch_tokens;
  }
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(same(three.score({kSources[i]}, {kTargets[i]}, {.length_penalty = 0.6}), {all[i]})) << i;
  EXPECT_EQ(all[1].log_prob, 0) << "nothing to translate";
  EXPECT_TRUE(all[1].token_scores.empty());
  EXPECT_EQ(all[2].token_scores.size(), 1u) << "the end at once";
  EXPECT_LT(all[3].log_prob, 0);
  for (const LineScore& s : all) {
    EXPECT_TRUE(s.tokens.empty() || s.token_scores.size() == s.tokens.size() + 1);
    double sum = 0;
    for (const double x : s.token_scores) sum += x;
    EXPECT_DOUBLE_EQ(s.log_prob, sum);
  }
}

TEST(Scorer, CropsWhatItCannotRead) {
  const TempFolder dir;
  const Scorer scorer(make_model(dir, {.position = "learned", .max_length = 5}));
  EXPECT_EQ(scorer.longest(), 5);
  const std::string text = "the cat sees a dog in the park";
  const LineScore s = scorer.score({"a"}, {text}).front();
  EXPECT_TRUE(s.cropped);
  EXPECT_EQ(s.token_scores.size(), 5u) << "and no end, which is not there";
  EXPECT_LT(s.characters, std::ssize(text));
  EXPECT_TRUE(scorer.score({text}, {"a"}).front().cropped);
}

TEST(Scorer, LanguageModelsScoreLines) {
  LanguageRun run;
  run.train("texts", {"train.stop=60u", "train.validate=100u", "train.average=1"});
  run.train("lines", {"data.stream=false", "train.stop=40u", "train.validate=100u", "train.average=1"});
  const std::vector<std::string> lines{"one two buckle my shoe", "", "eow eno tw", "three four knock"};
  for (const char* name : {"texts", "lines"}) {
    const Scorer one(run.folder / name, 1), three(run.folder / name, 3);
    EXPECT_FALSE(one.wants_sources());
    const auto all = one.score_lines(lines);
    EXPECT_TRUE(same(three.score_lines(lines, {.batch_tokens = 10}), all));
    ScoreTotals totals;
    for (const LineScore& s : all) totals.add(s);
    EXPECT_EQ(totals.lines, 4);
    EXPECT_EQ(totals.tokens, totals.characters) << "each character is a token, the line end too";
    EXPECT_DOUBLE_EQ(totals.bits_per_character(), std::log2(totals.perplexity()));
    EXPECT_GT(all[0].log_prob / 23, all[2].log_prob / 11) << "what was learned is more probable than letters";
    EXPECT_NE(error_of([&] { one.score(lines, lines); }, ErrorKind::usage).find("language model"), std::string::npos);
  }
}

TEST(Scorer, Messages) {
  const TempFolder dir;
  const Scorer scorer(make_model(dir));
  EXPECT_TRUE(error_of([&] { scorer.score({"a"}, {"b", "c"}); }, ErrorKind::usage).starts_with("1 sources, 2 targets"));
  EXPECT_NE(error_of([&] { scorer.score_lines({"a"}); }, ErrorKind::usage).find("needs a source"), std::string::npos);
  EXPECT_EQ(ScoreTotals().perplexity(), 0);
}

}  // namespace
}  // namespace attune::test
