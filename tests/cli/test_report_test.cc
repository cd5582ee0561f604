// What attune test tells beside the scores: labels, confusions, the best and the worst lines; as text, JSON and a page.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/model_maker.h"
#include "cli/answer_models.h"
#include "cli/shell.h"
#include "run/language_run.h"
#include "show/well_formed.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

std::string test_set(const std::string& file) { return "data.test=[\"" + file + "\"]"; }

/// The model says yes of what has an a: two of five labels are wrong.
TEST(TestReport, LabelsAndConfusions) {
  const AnswerModelMaker maker;
  const std::string model = maker.classifier(),
                    set = test_set(put(maker.folder / "t.tsv", "yes\ta\nno\ta b\nno\tc\nyes\tc\nyes\ta b\n"));
  const Outcome r = run_attune({"test", model, "--set", set, "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("accuracy = 60.00 % (3 of 5 labels)\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\nlabel             precision  recall     F1  support\n"
                       "yes                   66.67   66.67  66.67        3\n"
                       "no                    50.00   50.00  50.00        2\n"
                       "macro average         58.33   58.33  58.33        5\n"
                       "weighted average      60.00   60.00  60.00        5\n"
                       "\n"
                       "label  taken for  times    of it  for example\n"
                       "no     yes            1  50.00 %  a b\n"
                       "yes    no             1  33.33 %  c\n"),
            std::string::npos)
      << r.out;
  const Json j = Json::parse(run_attune({"test", model, "--set", set, "--json", "--quiet"}).out);
  EXPECT_NEAR(j["accuracy"].get<double>(), 60, 1e-9);
  ASSERT_EQ(j["labels"].size(), 2u);
  EXPECT_EQ(j["labels"][0]["label"], "yes");
  EXPECT_NEAR(j["labels"][1]["recall"].get<double>(), 50, 1e-6);
  EXPECT_EQ(j["labels"][1]["support"], 2);
  EXPECT_NEAR(j["macro"]["f1"].get<double>(), 58.333333, 1e-6);
  EXPECT_EQ(j["confusions"][1],
            Json::parse(R"({"label": "yes", "given": "no", "count": 1, "share": 33.333333, "example": "c"})"));
}

TEST(TestReport, LabelsThatNobodyLearned) {
  const AnswerModelMaker maker;
  const std::string model = maker.classifier();
  const auto notes = [&](const std::string& text) {
    return run_attune({"test", model, "--set", test_set(put(maker.folder / "t.tsv", text))}).err;
  };
  EXPECT_EQ(notes("yes\ta\nno\tb c\n").find("label"), std::string::npos);
  EXPECT_NE(
      notes("yes\ta\nmaybe\tc\nmaybe\ta b\n")
          .find("note: 1 label of the test data (\"maybe\") is not in the training data: 2 answers can't be right\n"),
      std::string::npos);
}

/// An int8 copy is reported on as the model is.
TEST(TestReport, OfSmallerCopies) {
  const AnswerModelMaker maker;
  const std::string model = maker.classifier(), tags = maker.tagger();
  for (const std::string& m : {model, tags}) {
    const Outcome q = run_attune({"quantize", m, "--out", m + "-int8"});
    ASSERT_EQ(q.code, 0) << q.err;
    const std::string answers = m == tags ? "of 100 answers 0 changed" : "of 80 answers 0 changed";
    EXPECT_NE(q.out.find(answers + ": 100.00 % stayed the same\n"), std::string::npos) << q.out;
    for (const char* row : {"file ", "accuracy ", "perplexity ", "tokens/s "})
      EXPECT_NE(q.out.find(row), std::string::npos) << row << q.out;
    const std::string before = run_attune({"test", m, "--quiet"}).out;
    EXPECT_NE(before.find("support"), std::string::npos);
    EXPECT_EQ(run_attune({"test", m + "-int8", "--quiet"}).out, before);
  }
  const Json j = Json::parse(run_attune({"quantize", tags, "--out", maker.folder / "again", "--json", "--quiet"}).out);
  EXPECT_EQ(j["changed_answers"], 0);
}

TEST(TestReport, WordsAndSpans) {
  const AnswerModelMaker maker;
  const std::string model = maker.tagger();
  const std::string set = test_set(put(maker.folder / "t", "Ada\tB-PER\nL\tO\nruns\tO\n\nshe\tB-LOC\nruns\tO\n"));
  const Outcome r = run_attune({"test", model, "--set", set, "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("\nspan        precision  recall    F1  support\n"
                       "LOC              0.00    0.00  0.00        1\n"
                       "PER              0.00    0.00  0.00        1\n"
                       "all as one       0.00    0.00  0.00        2\n"),
            std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("PER   PER, other words      1  100.00 %  [Ada] L runs\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("LOC   (none)                1  100.00 %  [she] runs\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("O      I-PER          1   33.33 %  Ada [L] runs\n"), std::string::npos) << r.out;
  const Json j = Json::parse(run_attune({"test", model, "--set", set, "--json", "--quiet"}).out);
  EXPECT_EQ(j["spans"]["labels"].size(), 2u);
  EXPECT_EQ(j["labels"].size(), 4u) << "of words";
}

TEST(TestReport, NumbersThatAreFarOff) {
  const AnswerModelMaker maker;
  std::string rows;
  for (int i = 0; i < 10; ++i) rows += std::to_string(i % 3) + "\ta b\n";
  const std::string file = put(maker.folder / "n.tsv", rows + "100\tfar off\n");
  const std::string model = maker.train("numbers", "classify", "1.5\ta b\n-1\tc\n", "");
  Trainer({.recipe = maker.folder / "numbers.toml",
           .out = maker.folder / "n",
           .sets = {"model.head=number", "train.stop=2u"},
           .threads = 1})
      .run();
  const Json j =
      Json::parse(run_attune({"test", maker.folder / "n", "--set", test_set(file), "--json", "--quiet"}).out);
  EXPECT_EQ(j["worst"][0]["source"], "far off");
  EXPECT_EQ(j["worst"][0]["reference"], "100");
  EXPECT_GT(j["worst"][0]["distance"].get<double>(), 90);
  EXPECT_FALSE(j.contains("best"));
  EXPECT_FALSE(j.contains("labels"));
}

/// The first head's labels stand where those of a single one do, the others' behind them.
TEST(TestReport, SeveralHeads) {
  const AnswerModelMaker maker;
  maker.classifier();
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += "yes\tx\ta b\nno\ty\tc\n";
  const std::string files = "=[\"" + put(maker.folder / "rows", rows) + "\"]";
  Trainer({.recipe = maker.folder / "labels.toml",
           .out = maker.folder / "two",
           .sets = {"data.train" + files, "data.valid" + files, "data.test" + files, "data.answers=2",
                    "model.head={kind=\"several\",heads=\"label label\"}"},
           .threads = 1})
      .run();
  const Json j = Json::parse(run_attune({"test", maker.folder / "two", "--json", "--quiet"}).out);
  EXPECT_EQ(j["labels"].size(), 2u);
  ASSERT_EQ(j["heads"].size(), 1u);
  EXPECT_EQ(j["heads"][0]["head"], 2);
  EXPECT_EQ(j["heads"][0]["labels"][0]["support"], 20);
  EXPECT_NE(run_attune({"test", maker.folder / "two", "--quiet"}).out.find("\n2: label "), std::string::npos);
}

TEST(TestReport, TheBestAndTheWorstTranslations) {
  const TempFolder dir;
  const std::string source = put(dir / "s", "a dog\nthe cat sees a dog\nzwei\ntwo dogs run\n");
  const std::string model = make_model(dir, {.tests = {source, dir / "t"}});
  auto lines = lines_of(run_attune({"translate", model, source, "--quiet"}).out);
  lines[2] = "###";
  put(dir / "t", lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n" + lines[3] + "\n");
  const Outcome r = run_attune({"test", model, "--quiet"});
  EXPECT_NE(r.out.find("\nthe best lines, by chrF of each line\n  100.00\n  source      "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\nthe worst lines, by chrF of each line\n  0.00\n  source      zwei\n  reference   ###\n"),
            std::string::npos)
      << r.out;
  const Json j = Json::parse(run_attune({"test", model, "--json", "--quiet"}).out);
  EXPECT_EQ(j["worst"][0]["source"], "zwei");
  EXPECT_EQ(j["worst"][0]["chrf"], 0.0);
  EXPECT_EQ(j["best"].size(), 2u);
  EXPECT_EQ(j["best"][0]["chrf"], 100.0);
  EXPECT_EQ(j["best"][0]["translation"], j["best"][0]["reference"]);
}

TEST(TestReport, FilesAndSurprisesOfALanguageModel) {
  LanguageRun run;
  run.train("model", {"train.stop=20u", "train.average=1"});
  const std::string model = run.folder / "model", odd = put(run.folder / "odd.txt", "zqxj wvkq zzqx jjqv\n"),
                    usual = run.folder / "valid.txt.gz";
  const std::string set = "data.test=[\"" + usual + "\", \"" + odd + "\"]";
  const Json j = Json::parse(run_attune({"test", model, "--set", set, "--json", "--quiet"}).out);
  ASSERT_EQ(j["files"].size(), 2u);
  EXPECT_EQ(j["files"][1]["file"], odd);
  EXPECT_GT(j["files"][1]["perplexity"].get<double>(), j["files"][0]["perplexity"].get<double>());
  EXPECT_EQ(j["tokens"].get<int64_t>(),
            j["files"][0]["tokens"].get<int64_t>() + j["files"][1]["tokens"].get<int64_t>());
  EXPECT_EQ(j["worst"][0]["text"], "zqxj wvkq zzqx jjqv");
  EXPECT_NE(run_attune({"test", model, "--set", set, "--quiet"}).out.find("the most surprising lines"),
            std::string::npos);
}

TEST(TestReport, APageThatNeedsNothingElse) {
  const AnswerModelMaker maker;
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += "<b>label " + std::to_string(i) + "</b>\ta & \"b\" <i>\n";
  const std::string file = put(maker.folder / "t.tsv", rows + "yes\ta\nno\ta\n"), page = maker.folder / "r.html";
  const Outcome r = run_attune({"test", maker.classifier(), "--set", test_set(file), "--report", page});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("wrote " + page + "\n"), std::string::npos) << r.err;
  const std::string html = slurp(page);
  EXPECT_EQ(trouble_with_markup(html), "");
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  for (const char* word : {"What was taken for what", "&lt;b&gt;label 3&lt;/b&gt;", "a &amp; &quot;b&quot; &lt;i&gt;",
                           "weighted average", "(others)", "prefers-color-scheme:dark", "max-width:640px"})
    EXPECT_NE(html.find(word), std::string::npos) << word;
  const TempFolder dir;
  const std::string source = put(dir / "s", "a dog\nthe cat\n"), target = put(dir / "t", "ein hund\ndie katze\n");
  const std::string other = dir / "r.html";
  ASSERT_EQ(run_attune({"test", make_model(dir, {.tests = {source, target}}), "--report", other}).code, 0);
  EXPECT_EQ(trouble_with_markup(slurp(other)), "");
  EXPECT_NE(slurp(other).find("The worst lines"), std::string::npos);
  EXPECT_EQ(run_attune({"test", dir / "model", "--report", dir / "none/r.html"}).code, 6);
}

}  // namespace
}  // namespace attune::test
