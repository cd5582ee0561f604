// Models that say something about texts, from files to scores: labels, several labels, numbers, a label for each word.
#include <gtest/gtest.h>

#include "attune/bench.h"
#include "attune/classifier.h"
#include "attune/embedder.h"
#include "attune/generator.h"
#include "attune/look.h"
#include "attune/scorer.h"
#include "attune/show.h"
#include "attune/tagger.h"
#include "attune/translator.h"
#include "checks.h"
#include "run/answer_run.h"
#include "show/well_formed.h"

namespace attune::test {
namespace {

TEST(Answers, LabelsAreLearned) {
  const AnswerRun run("classify", first_label);
  for (const char* pool : {"mean", "first", "last", "max", "attention"}) {
    const auto scores = run.test(pool, {std::string("model.pool=") + pool});
    EXPECT_GE(scores.at("accuracy"), 95) << pool;
    EXPECT_GE(scores.at("f1"), 90) << pool;
  }
}

TEST(Answers, TagsAreLearned) {
  const Sets kTags{"data.columns=[1,2]", "model.encoder_position=rope", "train.stop=250u"};
  // The label of a letter depends on the one before it.
  const AnswerRun run(
      "tag",
      [](const std::string& letters) {
        std::string text, before = "none";
        for (const char c : letters) {
          if (c == ' ') continue;
          text += std::string(1, c) + "\t" + (before == "a" ? "B-after" : "O") + "\n";
          before = std::string(1, c);
        }
        return text + "\n";
      },
      "head = { kind = \"tags\", crf = true }");
  const auto scores = run.test("crf", kTags);
  EXPECT_GE(scores.at("accuracy"), 97);
  EXPECT_GE(scores.at("span-f1"), 95);
  EXPECT_GE(run.test("plain", {kTags[0], kTags[1], kTags[2], "model.head=tags"}).at("accuracy"), 97);
  for (const char* kind : {"char", "byte"}) {  // a word is a blank and its letters
    const auto of_letters = run.test(kind, {kTags[0], kTags[1], kTags[2], std::string("tokenizer.kind=") + kind});
    EXPECT_GE(of_letters.at("accuracy"), 97) << kind;
  }
}

TEST(Answers, SetsAndNumbersAreLearned) {
  const AnswerRun sets(
      "classify",
      [](const std::string& letters) {
        std::string labels;
        for (const char c : {'a', 'b', 'c'})
          if (letters.find(c) != letters.npos) labels += std::string(labels.empty() ? "" : " ") + "has_" + c;
        return labels + "\t" + letters + "\n";
      },
      "head = \"labels\"");
  EXPECT_GE(sets.test("m").at("set-f1"), 95);
  const TestReport report = test_model(sets.folder / "m", {}, {}, 1);
  EXPECT_EQ(report.lines, 60);  // those without a label, too
  const Classification none = Classifier(sets.folder / "m", 1).classify("d e f");
  EXPECT_EQ(none.label, "");
  EXPECT_EQ(none.score, 1 - *std::max_element(none.scores.begin(), none.scores.end()));
  const AnswerRun numbers(
      "classify",
      [](const std::string& letters) {
        return fmt::format("{:.1f}\t{}\n",
                           0.5 * static_cast<double>(std::count(letters.begin(), letters.end(), 'a')) - 1, letters);
      },
      "head = \"number\"");
  const auto scores = numbers.test("m", {"train.stop=300u"});
  EXPECT_GE(scores.at("pearson"), 90);
  EXPECT_LE(scores.at("mse"), 0.05);
  const Classifier c(numbers.folder / "m", 1);
  EXPECT_TRUE(c.labels().empty());
  EXPECT_EQ(std::stof(c.classify("a a b").label), static_cast<float>(c.classify("a a b").score));
}

/// A label, a number and another label, by heads side by side.
TEST(Answers, SeveralHeadsAnswerAtOnce) {
  const AnswerRun run(
      "classify",
      [](const std::string& letters) {
        const auto a = std::count(letters.begin(), letters.end(), 'a');
        return fmt::format("{}\t{:.2f}\t{}\t{}\n", a ? "with a" : "without",
                           4 * static_cast<double>(a) / static_cast<double>(letters.size() + 1) - 1,
                           letters.find('b') == letters.npos ? "with a" : "with b", letters);
      },
      "head = { kind = \"several\", heads = \"label number label\", weights = \"1 2 0.5\" }");
  const auto scores = run.test("m", {"train.stop=300u"});
  EXPECT_GE(scores.at("accuracy"), 95);
  EXPECT_GE(scores.at("2:pearson"), 95);
  EXPECT_GE(scores.at("3:accuracy"), 95);
  const Classifier c(run.folder / "m", 1);
  EXPECT_EQ(c.labels(0).size(), 2u);
  EXPECT_TRUE(c.labels(1).empty());
  EXPECT_EQ(c.labels(2).size(), 2u);
  const Classification said = c.classify("a b a c");
  ASSERT_EQ(said.parts.size(), 3u);
  EXPECT_EQ(said.parts[0].label, "with a");
  EXPECT_GT(c.classify("a a a b").parts[1].score, said.parts[1].score + 0.2);
  EXPECT_EQ(said.parts[2].label, "with b");
  EXPECT_EQ(said.label, "with a\t" + said.parts[1].label + "\twith b");
  EXPECT_NEAR(said.parts[0].scores[0] + said.parts[0].scores[1], 1, 1e-6);
  const auto error = [&](const Sets& sets, ErrorKind kind) {
    return error_of(
        [&] { Trainer({.recipe = run.folder / "recipe.toml", .out = run.folder / "x", .sets = sets}).run(); }, kind);
  };
  EXPECT_NE(error({"data.answers=2"}, ErrorKind::recipe).find("data.answers = 2 columns, and model.head = "),
            std::string::npos);
  const std::string tags = error({"model.head={kind=\"several\",heads=\"label tags number\"}"}, ErrorKind::recipe);
  EXPECT_NE(tags.find("\"tags\" can't stand beside others\n  fix: "), std::string::npos) << tags;
  put(run.folder / "valid.txt", "with a\tmany\twith b\ta b\n");
  EXPECT_NE(error({}, ErrorKind::data).find("valid.txt:1: \"many\" is not a number\n  fix: "), std::string::npos);
}

/// Words in any order, two in a row: a bag that is one line of training.
TEST(Answers, ABagOfWords) {
  const AnswerRun run("classify", [](const std::string& letters) {
    return std::string(letters.find("a b") == letters.npos ? "no" : "yes") + "\t" + letters + "\n";
  });
  const Sets bag{"model.shape=bag", "train.learning_rate=0.1"};
  EXPECT_GE(run.test("bag", bag).at("accuracy"), 97);
  EXPECT_LT(run.test("words", {bag[0], bag[1], "model.ngrams=1"}).at("accuracy"), 97);  // the order is not there
  const Classifier c(run.folder / "bag", 1);
  EXPECT_EQ(c.classify("c a b").label, "yes");
  EXPECT_EQ(c.classify("c b a").label, "no");
  EXPECT_NE(error_of([&] { Embedder(run.folder / "bag"); }, ErrorKind::model)
                .find("is a bag of words: it has no vectors of texts\n  fix: "),
            std::string::npos);
  EXPECT_NE(error_of([&] { look_at(run.folder / "bag", "a b", {}); }, ErrorKind::usage)
                .find("a bag of words attends to nothing\n  fix: "),
            std::string::npos);
}

/// The same beside an encoder that knows no order by itself.
TEST(Answers, WordsInARowBesideAnEncoder) {
  const AnswerRun run(
      "classify",
      [](const std::string& letters) {
        return std::string(letters.find("a b") == letters.npos ? "no" : "yes") + "\t" + letters + "\n";
      },
      "position = \"none\"");
  const double without = run.test("without").at("accuracy");
  const double with = run.test("with", {"model.head={kind=\"label\",ngrams=2}"}).at("accuracy");
  EXPECT_LT(without, 97);
  EXPECT_GE(with, 97);
  const Classifier c(run.folder / "with", 1);
  EXPECT_EQ(c.classify("c a b").label, "yes");
  EXPECT_EQ(c.classify("c b a").label, "no");
  EXPECT_NE(error_of(
                [&] {
                  run.test("bag", {"model.shape=bag", "model.head={kind=\"label\",ngrams=2}"});
                },
                ErrorKind::recipe)
                .find("has no encoder that they could stand beside\n  fix: leave ngrams out of model.head"),
            std::string::npos);
}

/// Whether two texts have the same letters: they must be compared.
TEST(Answers, TwoTextsAreCompared) {
  const AnswerRun run(
      "classify",
      [n = 0](const std::string& letters) mutable {
        std::string other = letters;
        if (++n % 2) other[other.size() / 4 * 2] = 'x';
        return std::string(n % 2 ? "no" : "yes") + "\t" + letters + "\t" + other + "\n";
      },
      "pool = \"pair\"");
  EXPECT_GE(run.test("m", {"train.stop=150u"}).at("accuracy"), 95);
  const Classifier c(run.folder / "m", 1);
  EXPECT_EQ(c.classify("a b c d e\ta b c d e").label, "yes");
  EXPECT_EQ(c.classify("a b c d e\ta b x d e").label, "no");
  EXPECT_EQ(c.classify("a b c d e").cropped, false);  // one text alone has an answer, too
}

/// Of a label that is rare, more are found when it counts for more.
TEST(Answers, RareLabelsCountForMore) {
  const AnswerRun run("classify", [n = 0](const std::string& letters) mutable {
    const bool rare = ++n % 12 == 0;
    return std::string(rare ? "rare" : "usual") + "\t" + (rare ? "a " : "") + letters + "\n";
  });
  const auto found = [&](const std::string& how) {
    run.test(how, {"train.label_weights=" + how, "train.stop=40u"});
    int64_t rare = 0;
    for (const TestedLine& l : test_model(run.folder / how, {}, {}, 1).tested) rare += l.translation == "rare";
    return rare;
  };
  EXPECT_GT(found("balanced"), found("equal"));
}

TEST(Answers, BadAnswersAreNamed) {
  const auto error = [](const std::string& task, const std::string& data, const std::string& more = "") {
    const AnswerRun run(
        task, [&](const std::string&) { return data; }, more);
    return error_of([&] { Trainer({.recipe = run.folder / "recipe.toml", .out = run.folder / "m", .sets = {}}).run(); },
                    ErrorKind::data);
  };
  EXPECT_NE(error("classify", "one\ttext\n", "head = \"number\"").find("train.txt:1: \"one\" is not a number\n  fix: "),
            std::string::npos);
  EXPECT_NE(error("classify", "only a text\n").find("train.txt:1: 1 column, wanted at least 2: label, tab, text"),
            std::string::npos);
  const AnswerRun lines("tag", [](const std::string& l) { return l + "\tX\n"; });
  const std::string e = error_of(
      [&] {
        Trainer({.recipe = lines.folder / "recipe.toml",
                 .out = lines.folder / "m",
                 .sets = {"data.format=tsv", "data.columns=[1,2]"}})
            .run();
      },
      ErrorKind::data);
  EXPECT_NE(e.find(" words, 1 label\n  fix: write one label for each word"), std::string::npos) << e;
}

TEST(Answers, HeadsFitTheirTask) {
  const auto error = [](const std::string& task, const std::string& head) {
    const AnswerRun run(task, first_label, "head = \"" + head + "\"");
    return error_of([&] { Trainer({.recipe = run.folder / "recipe.toml", .out = run.folder / "m", .sets = {}}); },
                    ErrorKind::recipe);
  };
  for (const char* head : {"label", "number", "words"})
    EXPECT_NE(error("tag", head)
                  .find(std::string("model.head = \"") + head +
                        "\" gives no label to each word\n  fix: set model.head = \"tags\""),
              std::string::npos)
        << error("tag", head);
  EXPECT_NE(error("classify", "tags").find("about whole texts\n  fix: set model.head to "), std::string::npos);
  EXPECT_NE(error("classify", "words").find("about whole texts\n  fix: set model.head to "), std::string::npos);
}

/// An encoder that learned from words that are missing knows more of a language of which few labels are known.
TEST(Answers, MissingWordsAreGuessedAndHelp) {
  const AnswerRun run("language", [](const std::string& letters) {
    return letters + " " + letters + "\n";  // what is missing stands there once more
  });
  const Sets sets{"model.shape=encoder", "train.stop=600u", "train.validate=200u", "model.encoder_position=rope",
                  "model.encoder_layers=2"};
  const auto scores = run.test("m", sets);
  EXPECT_LT(scores.at("perplexity"), 3.0);  // 6 letters
  const TrainBench bench{.recipe = run.folder / "recipe.toml", .sets = sets, .threads = 1, .updates = 2, .warm = 0};
  EXPECT_GT(bench_train(bench).ms_per_update, 0);
  const std::string said =
      ": it guesses words that are missing\n  fix: use `attune embed`, or begin another training with it: train.start";
  EXPECT_NE(error_of([&] { Generator(run.folder / "m"); }, ErrorKind::model).find(said), std::string::npos);
  EXPECT_NE(error_of([&] { Scorer(run.folder / "m"); }, ErrorKind::model).find(said), std::string::npos);
  EXPECT_NE(error_of([&] { Translator(run.folder / "m"); }, ErrorKind::model).find(said), std::string::npos);
  const AnswerRun few("classify", first_label, "encoder_position = \"rope\"");
  const auto tuned = few.test("tuned", {"train.start=\"" + run.folder / "m" + "\"", "train.start_parts=[\"encoder\"]",
                                        "model.encoder_layers=2", "train.stop=60u"});
  EXPECT_GE(tuned.at("accuracy"), 95);
}

TEST(Answers, LabelsOfAStartAreMatchedByTheirNames) {
  const AnswerRun run("classify", first_label);
  const AnswerRun other("classify", [n = 0](const std::string& letters) mutable {  // the other order, and one more
    return (++n % 9 == 0 ? "new\tf f f f\n" : n % 3 == 0 ? first_label(letters) : first_label("a " + letters));
  });
  run.test("m");
  const Sets start{"train.start=\"" + run.folder / "m" + "\"", "train.stop=1u", "train.learning_rate=1e-9"};
  std::string log;
  Trainer t({.recipe = other.folder / "recipe.toml", .out = other.folder / "m", .sets = start, .threads = 1});
  TrainingEvents events;
  events.on_log = [&](const std::string& line) { log += line + "\n"; };
  t.run(events);
  EXPECT_NE(log.find("head.weight: 2 of 3 labels were there before"), std::string::npos) << log;
  const Classifier before(run.folder / "m", 1), after(other.folder / "m", 1);
  for (const char* text : {"a b", "b c", "d d", "c a"}) {
    const auto scores = after.classify(text);
    const auto at = [&](const std::string& label) {
      return scores.scores[static_cast<size_t>(std::find(after.labels().begin(), after.labels().end(), label) -
                                               after.labels().begin())];
    };
    EXPECT_EQ(at("with a") > at("without a"), before.classify(text).label == "with a") << text;
  }
}

TEST(Answers, WordVectorsAreFirstValues) {
  const AnswerRun run("classify", first_label, "position = \"none\"");
  std::string vectors = "3 32\n";
  for (const char* word : {"a", "zebra", "b"}) {
    vectors += word;
    for (int i = 0; i < 32; ++i) vectors += fmt::format(" {}", word[0] == 'a' ? 0.5 : -0.25);
    vectors += "\n";
  }
  put(run.folder / "v.txt", vectors);
  std::string log;
  Trainer t({.recipe = run.folder / "recipe.toml",
             .out = run.folder / "m",
             .sets = {"train.vectors=\"" + run.folder / "v.txt" + "\"", "train.stop=1u", "train.learning_rate=1e-9"},
             .threads = 1});
  TrainingEvents events;
  events.on_log = [&](const std::string& line) { log += line + "\n"; };
  t.run(events);
  EXPECT_NE(log.find("2 of 10 pieces begin with vectors of "), std::string::npos) << log;
  put(run.folder / "v.txt", "a 1 2\n");
  const std::string e = error_of(
      [&] {
        Trainer({.recipe = run.folder / "recipe.toml",
                 .out = run.folder / "n",
                 .sets = {"train.vectors=\"" + run.folder / "v.txt" + "\""}})
            .run();
      },
      ErrorKind::data);
  EXPECT_NE(e.find("v.txt:1: 2 numbers behind a word, and model.d_model = 32\n  fix: "), std::string::npos) << e;
}

TEST(Answers, WhatATextLookedAt) {
  const AnswerRun run("classify", first_label);
  run.test("m");
  const AttentionLook look = look_at(run.folder / "m", "a b c");
  EXPECT_EQ(look.rows, (std::vector<std::string>{"<s>", "a", "b", "c", "</s>"}));
  EXPECT_EQ(look.columns, look.rows);
  EXPECT_EQ(look.at, AttentionSite::encoder);
  double sum = 0;
  for (size_t i = 0; i < 5; ++i) sum += static_cast<double>(look.weights[i]);
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(look.task, "classify");
  EXPECT_EQ(look.text, "a b c");
  EXPECT_TRUE(look.alignment.empty());
  EXPECT_TRUE(look.each.empty()) << "none were asked for";
  const AttentionLook all = look_at(run.folder / "m", "a b c", {.each = true});
  ASSERT_EQ(std::ssize(all.each), all.layers * all.heads);
  EXPECT_EQ(all.weights, look.weights);
  EXPECT_EQ(trouble_with_markup(look_page(all)), "");
  EXPECT_NE(error_of([&] { look_at(run.folder / "m", "a", {.at = AttentionSite::decoder}); }, ErrorKind::usage)
                .find("reads texts and writes none"),
            std::string::npos);
}

/// The same bits whatever the threads and the stops.
TEST(Answers, SameBits) {
  const AnswerRun run("classify", first_label, "pool = \"attention\"\nhead = { kind = \"label\", ngrams = 2 }");
  const auto train = [&](const std::string& out, int threads, int64_t stop) {
    Trainer t({.recipe = run.folder / "recipe.toml", .out = run.folder / out, .sets = {}, .threads = threads});
    TrainingEvents events;
    events.on_update = [&](const TrainingStatus& s) {
      if (s.update == stop) t.stop();
    };
    t.run(events);
  };
  train("whole", 1, 0);
  train("parts", 3, 17);
  train("parts", 2, 71);
  train("parts", 2, 0);
  EXPECT_TRUE(slurp(run.folder / "whole/model.safetensors") == slurp(run.folder / "parts/model.safetensors"));
}

}  // namespace
}  // namespace attune::test
