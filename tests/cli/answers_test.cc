// attune classify and attune tag as people and scripts meet them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/answer_models.h"
#include "cli/shell.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

struct AnswerModels : testing::Test, AnswerModelMaker {
  std::string labels = classifier("classify"), tags = tagger();
};

TEST_F(AnswerModels, ALabelALine) {
  const std::string file = put(folder / "in", std::string("a\n\nc b\r\n\xff\0 x\nb a", 16));
  const Outcome r = run_attune({"classify", labels, file});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "yes");
  EXPECT_EQ(lines[2], "no");
  EXPECT_EQ(lines[4], "yes");
  EXPECT_EQ(run_attune({"classify", labels, file, "--threads", "3", "--batch-tokens", "1"}).out, r.out);
  const auto scored = lines_of(run_attune({"classify", labels, file, "--scores"}).out);
  EXPECT_EQ(scored[0].substr(0, 4), "yes\t");
  EXPECT_GT(std::stod(scored[0].substr(4)), 0.5);
  const Json j = Json::parse(lines_of(run_attune({"classify", labels, file, "--json"}).out)[0]);
  EXPECT_EQ(j["label"], "yes");
  EXPECT_NEAR(j["scores"]["yes"].get<double>() + j["scores"]["no"].get<double>(), 1, 1e-6);
  EXPECT_EQ(j["score"], j["scores"]["yes"]);
}

TEST_F(AnswerModels, EveryHeadHasTheSameKeys) {
  const auto answer = [&](const std::string& out, const std::string& line, const std::vector<std::string>& more) {
    std::string all;
    for (int i = 0; i < 20; ++i) all += line;
    const std::string file = put(folder / out, all);
    std::vector<std::string> sets{"data.train=[\"" + file + "\"]", "data.valid=[\"" + file + "\"]", "train.stop=2u"};
    sets.insert(sets.end(), more.begin(), more.end());
    Trainer({.recipe = folder / "classify.toml", .out = folder / (out + "-m"), .sets = sets, .threads = 1}).run();
    const std::string text = put(folder / "one", "a b\n");
    return Json::parse(run_attune({"classify", folder / (out + "-m"), text, "--json"}).out);
  };
  const Json number = answer("number", "1.5\ta b\n-1\tc\n", {"model.head=number"});
  EXPECT_EQ(number["score"].get<double>(), std::stof(number["label"].get<std::string>()));
  EXPECT_EQ(number["scores"], Json::object());
  const Json two = answer("two", "yes\t1.5\ta b\nno\t-1\tc\n", {"model.head=several", "data.answers=2"});
  EXPECT_EQ(two["heads"].size(), 2u);
  EXPECT_EQ(two["label"],
            two["heads"][0]["label"].get<std::string>() + "\t" + two["heads"][1]["label"].get<std::string>());
  EXPECT_EQ(two["score"], two["heads"][0]["score"]);
  EXPECT_EQ(two["scores"], Json::object());
}

TEST_F(AnswerModels, ALabelAWord) {
  const std::string file = put(folder / "in", "Ada L runs\n\nshe runs");
  EXPECT_EQ(run_attune({"tag", tags, file}).out, "B-PER I-PER O\n\nO O\n");
  EXPECT_EQ(run_attune({"tag", tags, file, "--format", "pairs"}).out, "Ada/B-PER L/I-PER runs/O\n\nshe/O runs/O\n");
  EXPECT_EQ(run_attune({"tag", tags, file, "--format", "conll"}).out,
            "Ada\tB-PER\nL\tI-PER\nruns\tO\n\n\nshe\tO\nruns\tO\n\n");
  const Json j = Json::parse(lines_of(run_attune({"tag", tags, file, "--json"}).out)[0]);
  EXPECT_EQ(j["words"], Json({"Ada", "L", "runs"}));
  EXPECT_EQ(j["spans"], Json::parse(R"([{"label": "PER", "first": 0, "last": 1}])"));
  EXPECT_EQ(j["scores"].size(), 3u);
}

/// Each word has a label of its own, however the pieces of long ones fall: a link among short words.
TEST_F(AnswerModels, LongWordsAmongShortOnesAreLabelledToo) {
  const std::string all =
      AnswerModelMaker::train("cut", "tag", "a\tX\nb\tY\nabababab\tZ\n\n",
                              "columns = [1, 2]\nmax_length = 12\noverlong = \"crop\"\n", {"tokenizer.kind=char"});
  const std::string text = "a b a b " + std::string(9, 'a') + " b a " + std::string(40, 'b') + " a b";
  const Outcome r = run_attune({"tag", all, put(folder / "in", text + "\n")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), ' '), 9) << r.out;
}

TEST_F(AnswerModels, CopiesOfTaggersAreJudgedBySentencesThatWereCropped) {
  const std::string long_one = "Ada\tB-PER\nL\tI-PER\nruns\tO\nruns\tO\nshe\tO\n\n";
  const std::string cut =
      AnswerModelMaker::train("cut", "tag", long_one, "columns = [1, 2]\nmax_length = 3\noverlong = \"crop\"\n", {});
  const Outcome r = run_attune({"quantize", cut, "--out", folder / "small"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err.find("not measured"), std::string::npos)
      << "on what the run held out of its training data: " << r.err;
  EXPECT_NE(r.out.find("accuracy"), std::string::npos) << r.out;
}

/// A label that training never had ends no run, whatever the head; that none is known is a mistake in the data.
TEST(AnswerModel, LabelsOfTheValidationDataThatTrainingLacksAreTold) {
  const AnswerModelMaker maker;
  for (const std::string head : {"tags", "{kind=\"tags\",crf=true}"}) {
    const std::string name = head == "tags" ? "plain" : "crf", text = "Ada\tB-PER\nL\tI-PER\nruns\tO\n\n";
    const std::string valid = put(maker.folder / (name + "-v"), text + "Bonn\tB-LOC\nruns\tO\n\n");
    const std::string model =
        maker.train(name, "tag", text, "columns = [1, 2]\n", {"model.head=" + head, "data.valid=[\"" + valid + "\"]"});
    EXPECT_NE(read_file(model + "/train.log")
                  .find("1 label of the validation data (\"B-LOC\") is not in the training "
                        "data: 1 answer can't be right"),
              std::string::npos);
    const std::string other = put(maker.folder / (name + "-o"), "Ada\tx\nL\ty\n\n");
    try {
      maker.train(name + "2", "tag", text, "columns = [1, 2]\n",
                  {"model.head=" + head, "data.valid=[\"" + other + "\"]"});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::data);
      EXPECT_NE(std::string(e.what()).find("no label there is one of the training data; the first is \"x\""),
                std::string::npos)
          << e.what();
    }
  }
}

TEST(AnswerModel, LinesOfZeroBytesAreCounted) {
  const AnswerModelMaker maker;
  const std::string file = put(maker.folder / "in", std::string("a\0b\nc\n", 6));
  EXPECT_NE(run_attune({"classify", maker.classifier("c"), file})
                .err.find("1 line had zero bytes (first: " + file + ":1): is it a file of text?"),
            std::string::npos);
}

TEST(AnswerModel, LinesOfAnotherNumberOfTextsAreCounted) {
  const AnswerModelMaker maker;
  const std::string pairs = maker.classifier("pairs", "a\tb\tyes\nb\tc\tno\n", "columns = [\"1\", \"2\", \"3\"]\n"),
                    ones = maker.classifier("ones", "a b\tyes\nb c\tno\n", "columns = [\"1\", \"2\"]\n"),
                    untold = maker.classifier("untold");
  const auto said = [&](const std::string& model, const std::string& text) {
    return run_attune({"classify", model, put(maker.folder / "in", text), "--input-format", "lines"}).err;
  };
  EXPECT_EQ(said(pairs, "a\tb\na\nb\n"),
            "note: 2 lines without a tab, and the model learned from pairs of texts: worth little\n");
  EXPECT_EQ(said(ones, "a\tb\na\nb\n"),
            "note: 1 line with a tab, so a pair of texts, and the model learned from one: worth little\n");
  EXPECT_EQ(said(untold, "a\tb\na\n"), "") << "its recipe does not tell";
}

TEST_F(AnswerModels, OtherTasksAreNamed) {
  const Outcome r = run_attune({"tag", labels, folder / "classify"});
  EXPECT_EQ(r.code, 5);
  EXPECT_NE(r.err.find("is a model for another task: it classifies texts\n  fix: use `attune classify`"),
            std::string::npos)
      << r.err;
  EXPECT_EQ(run_attune({"translate", labels, folder / "classify"}).code, 5);
  EXPECT_EQ(run_attune({"info", labels}).code, 0);
  EXPECT_EQ(run_program("/bin/sh",
                        {"-c", program_path() + " classify " + labels + " " + folder / "classify" + " > /dev/full"})
                .code,
            6);
}

}  // namespace
}  // namespace attune::test
