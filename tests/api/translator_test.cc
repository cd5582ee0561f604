#include "attune/translator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <sstream>
#include <thread>

#include "api/model_maker.h"
#include "checks.h"
#include "data/files.h"
#include "text/piece_words.h"

namespace attune {
namespace {

using test::make_model;
using test::TempFolder;

bool same(const Translation& a, const Translation& b) {
  return a.text == b.text && a.score == b.score && a.tokens == b.tokens && a.alignment == b.alignment &&
         std::equal(a.others.begin(), a.others.end(), b.others.begin(), b.others.end(), same);
}
bool same(const std::vector<Translation>& a, const std::vector<Translation>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Translation& x, const Translation& y) { return same(x, y); });
}

const std::vector<std::string> kLines{"a dog runs",
                                      "",
                                      "the cat sees a dog in the park .",
                                      "   \t ",
                                      "zwei hunde",
                                      "\xff\xfe broken \xc3",
                                      "two",
                                      "dogs run to the lake to the lake to the lake",
                                      "the dog",
                                      "a",
                                      "日本語"};

TEST(Translator, ALineGivesALineWhateverItsMates) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const Translator one(model, 1), three(model, 3);
  const TranslateOptions options{.beam = 4, .n_best = 2, .alignment = true};
  const auto all = one.translate(kLines, options);
  ASSERT_EQ(all.size(), kLines.size());
  for (size_t i = 0; i < kLines.size(); ++i) EXPECT_TRUE(same(one.translate(kLines[i], options), all[i])) << kLines[i];
  EXPECT_TRUE(same(three.translate(kLines, options), all));
  for (const int64_t batch_tokens : {1, 30, 100}) {
    TranslateOptions small = options;
    small.batch_tokens = batch_tokens;
    EXPECT_TRUE(same(three.translate(kLines, small), all)) << batch_tokens;
  }
  for (const size_t blank : {1, 3}) {
    EXPECT_EQ(all[blank].text, "");
    EXPECT_EQ(all[blank].score, 0);
    EXPECT_TRUE(all[blank].tokens.empty() && all[blank].alignment.empty() && all[blank].others.empty());
  }
  EXPECT_FALSE(all[0].tokens.empty());
  EXPECT_LT(all[0].score, 0);
  ASSERT_EQ(all[0].others.size(), 1u);
  EXPECT_LE(all[0].others[0].score, all[0].score);
}

TEST(Translator, IsSharedBetweenThreads) {
  const TempFolder dir;
  const Translator t(make_model(dir), 2);
  const auto want = t.translate(kLines);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 3; ++n) right += same(t.translate(kLines), want);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 9);
}

TEST(Translator, CropsWhatTheModelCannotRead) {
  const TempFolder dir;
  const Translator t(make_model(dir, {.position = "learned", .max_length = 12}), 1);
  EXPECT_EQ(t.longest(), 12);
  std::string line = "the cat sees a dog in the park . the cat sees a dog in the park .";
  const auto all = t.translate({line, "a dog", line + " " + line}, {.cut = false, .alignment = true});
  EXPECT_TRUE(all[0].cropped);
  EXPECT_FALSE(all[1].cropped);
  EXPECT_TRUE(all[2].cropped);
  EXPECT_EQ(all[0].text, all[2].text);  // both are the same twelve tokens
  EXPECT_EQ(all[0].alignment, all[2].alignment);
  for (const auto& r : all) EXPECT_LE(r.tokens.size(), 13u);
  EXPECT_LE(t.translate("a dog", {.max_length = 2}).tokens.size(), 2u);
}

/// What is too long is its sentences, each as it is alone.
TEST(Translator, CutsWhatIsLongerThanTheModelLearnedToRead) {
  const TempFolder dir;
  const Translator t(make_model(dir, {.max_length = 14}), 2);
  EXPECT_EQ(t.longest_whole(), 14);
  const std::vector<std::string> sentences{"the cat sees a dog.", "Two dogs run to the lake.", "A dog runs."};
  const std::string line = sentences[0] + " " + sentences[1] + "  " + sentences[2];
  const TranslateOptions options{.n_best = 2, .alignment = true, .attention = true};
  const auto alone = t.translate(sentences, options), all = t.translate({"a dog", line, ""}, options);
  const Translation& r = all[1];
  ASSERT_EQ(r.cut, 3);
  EXPECT_FALSE(r.cropped);
  EXPECT_TRUE(r.attention.empty());
  EXPECT_EQ(r.text, alone[0].text + " " + alone[1].text + " " + alone[2].text);
  double sum = 0;
  size_t tokens = 0, pairs = 0;
  for (const Translation& s : alone) {
    for (const double x : s.token_scores) sum += x;
    tokens += s.token_scores.size();
    pairs += s.alignment.size();
  }
  EXPECT_EQ(r.token_scores.size(), tokens);
  EXPECT_NEAR(r.score, sum / std::pow((5.0 + static_cast<double>(tokens)) / 6, 0.6), 1e-9);
  EXPECT_EQ(r.alignment.size(), pairs);
  for (const auto& [source, target] : alone[2].alignment)
    EXPECT_EQ(std::count(r.alignment.begin(), r.alignment.end(),
                         std::pair(source + 11, target + text::count_words(alone[0].text + " " + alone[1].text))),
              1);
  ASSERT_EQ(r.others.size(), 1u);
  EXPECT_EQ(r.others[0].cut, 3);
  EXPECT_EQ(all[0].cut, 0);
  EXPECT_FALSE(all[0].attention.empty());
  // Whatever else is translated, in whatever order: draws, too.
  const TranslateOptions draw{.sample = true, .seed = 7};
  const auto drawn = t.translate({line, line}, draw);
  EXPECT_EQ(drawn[0].text, t.translate(line, draw).text);
  EXPECT_EQ(Translator(dir / "model", 1).translate({line, line}, draw)[1].text, drawn[1].text);
  // Its first piece begins as it is told to.
  EXPECT_TRUE(t.translate(line, {.prefixes = {"ein hund"}}).text.starts_with("ein hund"));
  int64_t told = 0;
  t.translate({line, "a", ""}, {.on_lines = [&](int64_t lines) { told += lines; }});
  EXPECT_EQ(told, 3);
}

int words_in(const std::string& text) {
  std::istringstream in(text);
  int n = 0;
  for (std::string word; in >> word;) ++n;
  return n;
}

TEST(Translator, AlignsWords) {
  const TempFolder dir;
  for (const bool joint : {true, false}) {
    const Translator t(make_model(dir, {.joint = joint}), 1);
    size_t pairs = 0;
    for (const std::string line : {"the  cat sees a dog", " a dog runs to", "zwei hunde", "two dogs in the park ."}) {
      const auto r = t.translate(line, {.max_length = 20, .alignment = true});
      const int words = words_in(line), said = words_in(r.text);
      pairs += r.alignment.size();
      for (const auto& [source, target] : r.alignment) {
        EXPECT_TRUE(source >= 0 && source < words) << source;
        EXPECT_TRUE(target >= 0 && target < said) << target;
      }
    }
    EXPECT_GT(pairs, 4u);
  }
}

TEST(Translator, ShowsItsAttention) {
  const TempFolder dir;
  const Translator t(make_model(dir), 1);
  const auto own = t.attention("the cat sees");
  EXPECT_EQ(own.layer, 0);  // the last but one of two
  EXPECT_EQ(own.layers, 2);
  EXPECT_EQ(own.heads, 4);
  EXPECT_EQ(own.rows.back(), "</s>");
  EXPECT_EQ(own.columns.back(), "</s>");
  ASSERT_EQ(own.weights.size(), own.rows.size() * own.columns.size());
  for (size_t i = 0; i < own.rows.size(); ++i) {
    double total = 0;
    for (size_t j = 0; j < own.columns.size(); ++j) total += own.weights[i * own.columns.size() + j];
    EXPECT_NEAR(total, 1, 1e-5);
  }
  // the mean is the mean, and a given translation is explained as it is
  std::vector<double> mean;
  for (int head = 0; head < 4; ++head) {
    const auto one = t.attention("the cat sees", {.target = "ein hund", .layer = 1, .head = head});
    EXPECT_EQ(one.layer, 1);
    EXPECT_EQ(one.head, head);
    mean.resize(one.weights.size());
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(one.weights[i]) / 4;
  }
  const auto forced = t.attention("the cat sees", {.target = "ein hund", .layer = 1});
  for (size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(forced.weights[i], mean[i], 1e-6);
  EXPECT_NE(error_of([&] { t.attention("a", {.layer = 2}); }, ErrorKind::usage).find("layers 0 to 1"),
            std::string::npos);
  EXPECT_NE(error_of([&] { t.attention("a", {.head = 4}); }, ErrorKind::usage).find("heads 0 to 3"), std::string::npos);
  EXPECT_NE(error_of([&] { t.attention(" "); }, ErrorKind::usage).find("empty"), std::string::npos);
}

TEST(Translator, NamesItsLanguages) {
  const TempFolder dir;
  const Translator t(make_model(dir));
  EXPECT_EQ(t.languages(), (std::pair<std::string, std::string>("en", "de")));
}

TEST(Translator, SamplesAreALinesOwn) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const Translator one(model, 1), three(model, 3);
  TranslateOptions options{.n_best = 3, .sample = true, .top_p = 0.95, .seed = 5};
  const auto all = one.translate(kLines, options);
  options.batch_tokens = 30;
  EXPECT_TRUE(same(three.translate(kLines, options), all));
  options.first_line = 4;
  EXPECT_TRUE(same(one.translate(std::vector<std::string>(kLines.begin() + 4, kLines.end()), options),
                   std::vector<Translation>(all.begin() + 4, all.end())))
      << "translated in parts";
  ASSERT_EQ(all[0].others.size(), 2u);
  EXPECT_NE(all[0].text, all[0].others[0].text);
  options.seed = 6;
  options.first_line = 0;
  EXPECT_FALSE(same(one.translate(kLines, options), all));
}

TEST(Translator, PrefixesAndRulesHold) {
  const TempFolder dir;
  const Translator t(make_model(dir), 1);
  const std::vector<std::string> lines{"a dog", "the cat", "two"};
  const auto begun = t.translate(lines, {.prefixes = {"ein hund", "", "zwei"}});
  EXPECT_TRUE(begun[0].text.starts_with("ein hund")) << begun[0].text;
  EXPECT_TRUE(begun[2].text.starts_with("zwei")) << begun[2].text;
  EXPECT_TRUE(same(begun[1], t.translate(lines[1])));
  for (const Translation& x : t.translate(lines, {.min_length = 7, .max_length = 9})) EXPECT_GE(x.tokens.size(), 7u);
  for (const Translation& x : t.translate(lines, {.no_repeat_ngram = 1})) {
    std::vector<std::string> tokens = x.tokens;
    std::sort(tokens.begin(), tokens.end());
    EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end()), tokens.end());
  }
  const Translation plain = t.translate(lines[0]), without = t.translate(lines[0], {.suppressed = {plain.tokens[0]}});
  EXPECT_EQ(std::count(without.tokens.begin(), without.tokens.end(), plain.tokens[0]), 0);
  double total = 0;
  for (const double x : plain.token_scores) total += x;
  EXPECT_EQ(plain.token_scores.size(), plain.tokens.size() + !plain.cut_off);
  EXPECT_NEAR(total / std::pow((5.0 + static_cast<double>(plain.token_scores.size())) / 6, 0.6), plain.score, 1e-9);
}

TEST(Translator, EnsemblesShareAVocabulary) {
  const TempFolder dir, second, third;
  const std::string one = make_model(dir), other = make_model(second), alien = make_model(third, {.joint = false});
  const Translator alone(one, 1), twice(one + "," + other, 1);
  EXPECT_EQ(alone.translate(kLines[2]).text, twice.translate(kLines[2]).text) << "the same weights";
  EXPECT_NE(error_of([&] { Translator t(one + "," + alien); }, ErrorKind::model).find("do not share a vocabulary"),
            std::string::npos);
}

TEST(Translator, RefusesWhatCannotBe) {
  const TempFolder dir;
  EXPECT_NE(error_of([&] { Translator t(dir / "nothing"); }, ErrorKind::model).find("nothing"), std::string::npos);
  const Translator t(make_model(dir), 1);
  EXPECT_NE(error_of([&] { t.translate("a", {.beam = 0}); }, ErrorKind::usage).find("beam = 0"), std::string::npos);
  EXPECT_NE(error_of([&] { t.translate("a", {.beam = 2, .n_best = 3}); }, ErrorKind::usage).find("at least 3"),
            std::string::npos);
  const struct {
    TranslateOptions options;
    const char* says;
  } wrong[] = {{{.min_length = 9, .max_length = 9}, "lower min_length"},
               {{.sample = true, .temperature = 0}, "temperature = 0"},
               {{.sample = true, .top_p = -1}, "top_p = -1"},
               {{.repetition_penalty = 0}, "repetition_penalty = 0"},
               {{.suppressed = {"nothing of the kind"}}, "is no piece"},
               {{.prefixes = {"a", "b"}}, "2 prefixes for 1 lines"}};
  for (const auto& [options, says] : wrong)
    EXPECT_NE(error_of([&] { t.translate("a", options); }, ErrorKind::usage).find(says), std::string::npos) << says;
}

TEST(Translator, TokensAreToldAsSoonAsTheyAreCertain) {
  const TempFolder dir;
  const Translator t(make_model(dir), 2);
  for (TranslateOptions o :
       {TranslateOptions{.beam = 1}, TranslateOptions{.beam = 5, .max_length = 9},
        TranslateOptions{.beam = 3, .n_best = 2}, TranslateOptions{.n_best = 3, .max_length = 12, .sample = true}}) {
    std::map<std::pair<size_t, int>, std::pair<std::string, std::vector<std::string>>> told;
    int64_t lines = 0;
    o.on_token = [&](const StreamedToken& x) {
      auto& [text, tokens] = told[{x.line, x.number}];
      text += x.text;
      tokens.push_back(x.token);
      return true;
    };
    o.on_lines = [&](int64_t more) { lines += more; };
    const auto all = t.translate(kLines, o);
    EXPECT_EQ(lines, std::ssize(kLines));
    for (size_t i = 0; i < all.size(); ++i) {
      if (o.sample) continue;  // which are in the order of their scores in the end
      const auto& [text, tokens] = told[{i, 0}];
      EXPECT_EQ(tokens, all[i].tokens);
      EXPECT_TRUE(all[i].text.starts_with(text)) << text << " / " << all[i].text;
      EXPECT_GE(text.size() + 3, all[i].text.size()) << "but for the begin of a letter";
    }
    o.on_token = {};
    o.on_lines = {};
    const auto quiet = t.translate(kLines, o);
    EXPECT_TRUE(same(quiet, all)) << "whoever watches changes nothing";
  }
  int calls = 0;
  const Translation few =
      t.translate("the cat sees a dog",
                  {.beam = 1, .min_length = 9, .on_token = [&](const StreamedToken&) { return ++calls < 4; }});
  EXPECT_EQ(few.tokens.size(), 4u);
  EXPECT_TRUE(few.cut_off);
}

TEST(Translator, AttentionOfAChosenLayerAndHeads) {
  const TempFolder dir;
  const Translator t(make_model(dir));
  const auto of = [&](AlignmentChoice by) {
    return t.translate("the cat sees a dog", {.max_length = 8, .alignment = true, .attention = true, .align_by = by});
  };
  const Translation usual = of({}), last = of({.layer = 1}), first = of({.layer = 0}),
                    one = of({.layer = 0, .heads = {0}}), two = of({.layer = 0, .heads = {2}}),
                    both = of({.layer = 0, .heads = {0, 2}});
  const size_t columns = usual.source_tokens.size();
  ASSERT_EQ(usual.attention.size(), usual.tokens.size() * columns);
  EXPECT_EQ(usual.source_tokens.back(), "</s>");
  for (size_t r = 0; r < usual.tokens.size(); ++r) {
    float sum = 0;
    for (size_t c = 0; c < columns; ++c) sum += usual.attention[r * columns + c];
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  EXPECT_EQ(usual.attention, first.attention) << "the last but one of two";
  EXPECT_NE(last.attention, first.attention);
  for (size_t i = 0; i < both.attention.size(); ++i)
    EXPECT_NEAR(both.attention[i], (one.attention[i] + two.attention[i]) / 2, 1e-6);
  EXPECT_EQ(t.align({"the cat sees a dog"}, {usual.text}, {.layer = 1}).size(), 1u);
  EXPECT_NE(error_of([&] { of({.layer = 2}); }, ErrorKind::usage).find("layers 0 to 1"), std::string::npos);
  EXPECT_NE(error_of([&] { of({.layer = 0, .heads = {99}}); }, ErrorKind::usage).find("no head 99"), std::string::npos);
}

}  // namespace
}  // namespace attune
