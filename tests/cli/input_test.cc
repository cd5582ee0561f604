// What commands accept: files of lines, the files a model learned from, stdin, the text itself; and what they say of
// it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/model_maker.h"
#include "cli/answer_models.h"
#include "cli/shell.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

/// Rows with a label in front of the text: what is classified is the text.
TEST(Input, AClassifierReadsTheFilesItLearnedFrom) {
  const AnswerModelMaker maker;
  const std::string tsv = maker.classifier(), rows = "yes\ta b\nno\tb c\nno\tc\n\nyes\ta\n";
  const std::string plain = run_attune({"classify", tsv, put(maker.folder / "plain", "a b\nb c\nc\n\na\n")}).out;
  ASSERT_EQ(lines_of(plain).size(), 5u);
  for (const char* name : {"rows.tsv", "rows.txt"}) {
    const Outcome r = run_attune({"classify", tsv, put(maker.folder / name, rows)});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, plain) << name;
    EXPECT_EQ(r.err, "note: " + (maker.folder / name) +
                         " is read as tsv, column 2 the text: as the recipe does; --input-format lines reads whole "
                         "lines\n");
  }
  EXPECT_NE(run_attune({"classify", tsv, maker.folder / "rows.tsv", "--input-format", "lines", "--scores"}).out,
            run_attune({"classify", tsv, maker.folder / "plain", "--scores"}).out);
  EXPECT_EQ(run_attune({"classify", tsv, maker.folder / "rows.tsv", "--quiet"}).err, "");
  // Pairs of texts without labels are lines, whatever their file is called.
  const Outcome pairs = run_attune({"classify", tsv, put(maker.folder / "pairs.tsv", "a b\tc\nb\ta\n")});
  EXPECT_NE(pairs.err.find("is read as whole lines"), std::string::npos) << pairs.err;
  EXPECT_EQ(run_attune({"classify", tsv, put(maker.folder / "one.tsv", "a b\nb\n")}).err, "");

  const std::string csv = maker.classifier("csv", "text,label\n\"a, b\",yes\nb c,no\n\"c\",no\n\n\"a\",yes\n",
                                           "format = \"csv\"\nheader = true\n");
  const Outcome r =
      run_attune({"classify", csv, put(maker.folder / "data.csv", "id,text,label\n1,\"a, b\",yes\n2,c,?\n")});
  EXPECT_EQ(lines_of(r.out).size(), 2u) << r.out << r.err;
  EXPECT_NE(r.err.find("column 2 the text"), std::string::npos) << r.err;
  EXPECT_EQ(lines_of(run_attune({"classify", csv, put(maker.folder / "few.csv", "text\na\nc\nb\n")}).out).size(), 3u);
  EXPECT_EQ(run_attune({"classify", csv, put(maker.folder / "lines.txt", "a, b\nc\n")}).err, "");
  const Outcome odd = run_attune({"classify", csv, put(maker.folder / "odd.csv", "text,label\na,yes\nb,c,no\nc,no\n")});
  EXPECT_EQ(lines_of(odd.out).size(), 3u);
  EXPECT_NE(odd.err.find("note: 1 row had other columns than the recipe (first: " + (maker.folder / "odd.csv") +
                         ":3): read as far as their columns go\n"),
            std::string::npos)
      << odd.err;
  const Outcome other = run_attune({"classify", csv, put(maker.folder / "other.csv", "a,b\nc,d\n")});
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_NE(other.err.find("--input-format lines"), std::string::npos) << other.err;
}

/// What comes down a pipe is read once: as lines, unless it is said what it is.
TEST(Input, RowsOfAPipe) {
  const AnswerModelMaker maker;
  const std::string model = maker.classifier(), rows = put(maker.folder / "rows", "yes\ta b\nno\tb c\nno\tc\n");
  const Outcome whole = shell(model, "$A classify $M < " + rows);
  EXPECT_EQ(lines_of(whole.out).size(), 3u);
  EXPECT_NE(
      whole.err.find("note: the lines look like rows of the recipe's tsv, and were read whole; --input-format tsv "
                     "reads their texts alone\n"),
      std::string::npos)
      << whole.err;
  EXPECT_EQ(shell(model, "$A classify $M - --input-format tsv --scores --quiet < " + rows).out,
            shell(model, "cut -f 2 " + rows + " | $A classify $M --scores --quiet").out);
  EXPECT_EQ(shell(model, "$A classify $M - --input-format xml < " + rows).code, 2);
}

TEST(Input, ATaggerReadsColumns) {
  const AnswerModelMaker maker;
  const std::string model = maker.tagger();
  const std::string columns = "Ada\tB-PER\nL\tI-PER\nruns\tO\n\nshe\tO\nruns\tO\n";
  const std::string plain = run_attune({"tag", model, put(maker.folder / "plain", "Ada L runs\nshe runs\n")}).out;
  for (const char* name : {"x.conll", "x.txt"}) {
    const Outcome r = run_attune({"tag", model, put(maker.folder / name, columns)});
    EXPECT_EQ(r.out, plain) << r.err;
    EXPECT_NE(r.err.find("is read as conll, column 1 the words"), std::string::npos) << r.err;
  }
  EXPECT_EQ(run_attune({"tag", model, put(maker.folder / "words.conll", "Ada\nL\nruns\n\nshe\nruns\n")}).out, plain);
  EXPECT_EQ(run_attune({"tag", model, "Ada L runs"}).out, lines_of(plain)[0] + "\n");
}

TEST(Input, ATextInsteadOfAFile) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const std::string answer = shell(model, "echo 'a dog runs' | $A translate $M --quiet").out;
  const Outcome r = run_attune({"translate", model, "a dog runs"});
  EXPECT_EQ(r.out, answer) << r.err;
  EXPECT_EQ(r.err.find("note"), std::string::npos) << r.err;
  EXPECT_EQ(lines_of(run_attune({"translate", model, "a dog\nruns"}).out).size(), 2u);
  const Outcome word = run_attune({"translate", model, "dog"});
  EXPECT_EQ(word.code, 0);
  EXPECT_TRUE(word.err.starts_with("note: there is no file \"dog\": it is taken for the text itself\n")) << word.err;
  for (const char* path : {"dog.txt", "no/dog", "dog.en", "dog.gz", "my dogs.csv"}) {
    const Outcome missing = run_attune({"translate", model, path});
    EXPECT_EQ(missing.code, 6) << path;
    EXPECT_NE(missing.err.find("cannot read " + std::string(path) + ": No such file or directory\n  fix: "),
              std::string::npos)
        << missing.err;
    EXPECT_NE(missing.err.find("or for a text itself: echo 'TEXT' | attune translate " + model), std::string::npos)
        << missing.err;
  }
  EXPECT_EQ(run_attune({"score", model, "a dog", "ein hund", "--quiet"}).out,
            shell(model, "printf 'a dog\\tein hund\\n' | $A score $M --quiet").out);
  EXPECT_EQ(run_attune({"embed", model, "a dog", "--quiet"}).out, shell(model, "echo a dog | $A embed $M --quiet").out);
}

TEST(Input, BrokenLettersAreCounted) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", "a\n\xff dog\nb\n\xc3(\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"translate", model, file}, {"embed", model, file}, {"score", model, file, file}}) {
    const Outcome r = run_attune(words);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.err.find("note: 2 lines had broken UTF-8 (first: " + file + ":2): U+FFFD stands for those letters\n"),
              std::string::npos)
        << r.err;
  }
  EXPECT_EQ(run_attune({"translate", model, file, "--quiet"}).err, "");
}

/// A line in, a line out, and nothing of it is left out.
TEST(Input, LongLinesAreTranslatedInPieces) {
  const TempFolder dir;
  const std::string model = make_model(dir, {.max_length = 9});
  const std::string file = put(dir / "in", "a dog runs. The cat sees a dog. Two dogs run\na dog\n");
  const Outcome r = run_attune({"translate", model, file, "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 2u);
  const Json j = Json::parse(lines[0]);
  EXPECT_GE(j["cut"].get<int>(), 3);
  EXPECT_FALSE(j.contains("cropped"));
  EXPECT_FALSE(Json::parse(lines[1]).contains("cut"));
  EXPECT_NE(r.err.find("note: 1 line had more than 9 tokens, the most this model has learned to read: translated in " +
                       std::to_string(j["cut"].get<int>()) + " pieces\n"),
            std::string::npos)
      << r.err;
  const Outcome whole = run_attune({"translate", model, file, "--no-cut", "--json"});
  EXPECT_FALSE(Json::parse(lines_of(whole.out)[0]).contains("cut"));
  EXPECT_EQ(run_attune({"translate", model, file, "--stream", "--quiet"}).out,
            run_attune({"translate", model, file, "--quiet"}).out);
}

}  // namespace
}  // namespace attune::test
