// Models that say something about texts, put to use: classifiers, taggers, comparisons of them.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "attune/classifier.h"
#include "attune/compare.h"
#include "attune/look.h"
#include "attune/tagger.h"
#include "checks.h"
#include "run/answer_run.h"

namespace attune::test {
namespace {

TEST(Answers, AClassifierSaysWhatTheTestSaw) {
  const AnswerRun run("classify", first_label);
  const double accuracy = run.test("m").at("accuracy");
  const Classifier one(run.folder / "m", 1), three(run.folder / "m", 3);
  EXPECT_EQ(one.labels().size(), 2u);
  const auto texts = column(run.folder / "test.txt", 1), labels = column(run.folder / "test.txt", 0);
  const auto all = three.classify(texts);
  int right = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    right += all[i].label == labels[i];
    const Classification alone = one.classify(texts[i], {.batch_tokens = 1});
    EXPECT_EQ(alone.label, all[i].label);
    EXPECT_EQ(alone.scores, all[i].scores);
    EXPECT_NEAR(all[i].scores[0] + all[i].scores[1], 1, 1e-12);
    EXPECT_EQ(all[i].score, std::max(all[i].scores[0], all[i].scores[1]));
    EXPECT_FALSE(all[i].cropped);
  }
  EXPECT_NEAR(100.0 * right / static_cast<double>(texts.size()), accuracy, 1e-9);
  for (const std::string& odd : {std::string(), std::string("\0\xff\t\t", 4), std::string(5000, 'a')})
    EXPECT_FALSE(one.classify(odd).label.empty());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "b ";
  EXPECT_TRUE(one.classify(many).cropped);
  EXPECT_FALSE(one.classify(many, {.windows = true}).cropped);
  EXPECT_TRUE(one.classify(std::vector<std::string>{}).empty());
  EXPECT_NE(error_of([&] { Tagger(run.folder / "m"); }, ErrorKind::model).find("fix: use `attune classify`"),
            std::string::npos);
}

/// What windows say counts alike: the mean of their scores.
TEST(Answers, LongTextsInWindows) {
  const AnswerRun run("classify", first_label);
  run.test("m", {"data.max_length=8"});
  const Classifier c(run.folder / "m", 2);
  ASSERT_EQ(c.longest(), 8);
  const auto odds = [&](const std::string& text, bool windows = false) {
    const Classification r = c.classify(text, {.windows = windows});
    return std::log(r.scores[1] / r.scores[0]);
  };
  const std::vector<std::string> halves{"b c b c", "c c d a", "b b b b", "d c"};
  const auto window = [&](size_t i) { return halves[i] + " " + halves[i + 1]; };
  EXPECT_NEAR(odds(window(0) + " " + window(2), true), (odds(window(0)) + odds(window(1)) + odds(window(2))) / 3, 1e-4);
  EXPECT_EQ(odds(window(0), true), odds(window(0)));
  EXPECT_TRUE(c.classify(window(0) + " " + window(2) + "\tb", {.windows = true}).cropped);
}

/// One object, many threads: the same bytes as one thread gets.
TEST(Answers, AreSharedByThreads) {
  const AnswerRun run("classify", first_label);
  run.test("m");
  const Classifier shared(run.folder / "m", 2);
  const auto texts = column(run.folder / "test.txt", 1);
  const auto scores_of = [&](const Classifier& c) {
    std::vector<std::vector<double>> all;
    for (const Classification& r : c.classify(texts)) all.push_back(r.scores);
    return all;
  };
  const auto right = scores_of(Classifier(run.folder / "m", 1));
  std::vector<std::vector<std::vector<double>>> found(8);
  std::vector<std::thread> threads;
  for (auto& f : found) threads.emplace_back([&] { f = scores_of(shared); });
  for (std::thread& t : threads) t.join();
  for (const auto& f : found) EXPECT_EQ(f, right);
}

/// Classifiers are compared with words without order, asked or not.
TEST(Answers, AComparisonHasABag) {
  const AnswerRun run("classify", first_label);
  const auto compare = [](const std::string& out, const std::string& over, const AnswerRun& of) {
    return Comparer({.recipe = of.folder / "recipe.toml",
                     .over = {over},
                     .out = of.folder / out,
                     .sets = {"train.stop=20u"},
                     .threads = 1})
        .run();
  };
  const Comparison c = compare("pools", "model.pool=mean,max", run);
  ASSERT_EQ(c.variants.size(), 3u);
  EXPECT_EQ(c.variants[2].name, "bag");
  for (const ComparedVariant& v : c.variants) {
    EXPECT_EQ(v.state, ComparedVariant::State::finished) << v.name << ": " << v.reason;
    EXPECT_EQ(v.figures.pictures.size(), v.name == "bag" ? 0u : 1u) << v.name;
    EXPECT_EQ(v.figures.decode_lines, 60) << v.name;
    EXPECT_GT(v.figures.decode_tokens_per_s, 0) << v.name;
    EXPECT_EQ(v.figures.test.at(0).first, "accuracy") << v.name;
  }
  EXPECT_EQ(compare("shapes", "model.shape=bag", run).variants.size(), 1u);
  const AnswerRun words("classify", first_label, "head = { kind = \"label\", ngrams = 2 }");
  for (const ComparedVariant& v : compare("ngrams", "model.pool=mean", words).variants)
    EXPECT_EQ(v.state, ComparedVariant::State::finished) << v.name << ": " << v.reason;
}

/// Letters from d on make spans.
std::string spans_of_letters(const std::string& letters) {
  std::string text;
  bool inside = false;
  for (const char c : letters) {
    if (c == ' ') continue;
    text += std::string(1, c) + "\t" + (c >= 'd' ? inside ? "I-X" : "B-X" : "O") + "\n";
    inside = c >= 'd';
  }
  return text + "\n";
}

TEST(Answers, WordsThatAreCroppedHaveALabelToo) {
  const AnswerRun run("tag", spans_of_letters);
  const auto scores = run.test("m", {"data.columns=[1,2]", "data.max_length=3", "data.overlong=\"crop\""});
  EXPECT_GT(scores.at("accuracy"), 60) << "most words are read, and half of the others are O";
  EXPECT_LT(scores.at("accuracy"), 95) << "what is not read can't be right";
}

TEST(Answers, ATaggerLabelsEveryWord) {
  const AnswerRun run("tag", spans_of_letters);
  run.test("m", {"data.columns=[1,2]", "data.max_length=16"});
  const Tagger one(run.folder / "m", 1), three(run.folder / "m", 3);
  std::mt19937 random(9);
  std::vector<std::string> lines{"", "a", "  d  e\tf a ", "unseen"};
  for (int i = 0; i < 20; ++i) {
    std::string line;
    for (unsigned n = random() % 60; n > 0; --n) line += std::string(1, static_cast<char>('a' + random() % 6)) + " ";
    lines.push_back(line);
  }
  const auto all = three.tag(lines);
  ASSERT_EQ(all.size(), lines.size());
  EXPECT_TRUE(all[0].words.empty());
  ASSERT_EQ(all[2].words.size(), 4u);
  EXPECT_EQ(all[2].words[2].word, "f");
  int64_t right = 0, words = 0, spans = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const TaggedText alone = one.tag(lines[i], {.batch_tokens = 1});
    ASSERT_EQ(alone.words.size(), all[i].words.size());
    std::string before = "O";
    for (size_t w = 0; w < alone.words.size(); ++w) {
      const TaggedWord& word = all[i].words[w];
      EXPECT_EQ(alone.words[w].label, word.label);
      EXPECT_EQ(alone.words[w].score, word.score);
      EXPECT_GT(word.score, 0);
      right += (word.label != "O") == (word.word >= "d");
      ++words;
      spans += word.label == "B-X";
      before = word.label;
    }
    spans -= std::ssize(all[i].spans);
  }
  EXPECT_EQ(spans, 0);
  EXPECT_GT(static_cast<double>(right), 0.95 * static_cast<double>(words));
}

}  // namespace
}  // namespace attune::test
