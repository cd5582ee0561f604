// Corpora with something wrong: the program says the file, the line where there is one, the key and a remedy, ends with
// the code for data, and writes nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "data/files.h"
#include "run_program.h"

namespace attune::test {
namespace {

using namespace std::string_literals;

struct Corpus {
  std::string data;                                        // of the recipe's [data]; "": the pair of files
  std::vector<std::pair<std::string, std::string>> files;  // instead of, or beside the right ones
  std::string says, remedy;                                // FOLDER stands for where they are
};

std::string lines(const std::string& line, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += line + "\n";
  return all;
}

const std::string kBadCorporaText = lines("a small dog\ntwo men sit", 20);  // 40 lines
constexpr const char* kPair = R"(train = ["train.en", "train.de"])";

/// "\0" and its like, as 16 bits each, the low byte first.
std::string utf_16(const std::string& text) {
  std::string out = "\xff\xfe";
  for (const char c : text) out += c + "\0"s;
  return out;
}

const std::vector<Corpus>& corpora() {
  const std::string gz = gzipped(kBadCorporaText), csv = R"(train = ["a.csv"]
format = "csv")",
                    tsv = R"(train = ["a.tsv"]
format = "tsv")",
                    conll = R"(train = ["a.conll"]
format = "conll"
columns = [1, 2])",
                    zipped = R"(train = ["train.en.gz", "train.de"])",
                    valid = kPair + "\nvalid = [\"v.en\", \"v.de\"]"s, weights = kPair + "\nweights = \"w\""s,
                    aligned = kPair + "\nalignment = [\"a\"]"s, wide = kPair + "\nencoding = \"utf-16\""s;
  const std::string begin = "FOLDER/r.toml:3: data.train: ", differ = "corpora differ in length: FOLDER/";
  static const std::vector<Corpus> all{
      // names
      {R"(train = ["tarin.en", "train.de"])",
       {},
       begin + "cannot read FOLDER/tarin.en: No such file",
       "did you mean FOLDER/train.en?"},
      {R"(train = ["no/train.en", "train.de"])",
       {},
       begin + "cannot read FOLDER/no/train.en",
       "there is no folder FOLDER/no"},
      {R"(train = [".", "train.de"])", {}, begin + "cannot read FOLDER", "name a file in it"},
      {R"(train = ["/dev/null", "train.de"])", {}, begin + "/dev/null gives its text once", "put the text into a file"},
      {R"(train = ["-", "train.de"])", {}, begin + "- gives its text once", "put the text into a file"},
      {R"(train = ["pipe", "train.de"])", {}, begin + "FOLDER/pipe gives its text once", "put the text into a file"},
      {R"(train = ["train.en", "train.de", "b.en", "b.de"])", {}, begin + "cannot read FOLDER/b.en", "check the name"},
      {valid, {}, "FOLDER/r.toml:4: data.valid: cannot read FOLDER/v.en", "check the name"},
      // lines
      {"", {{"train.en", ""}}, differ + "train.en has 0 lines, FOLDER/train.de has 40", "set data.truncate = true"},
      {"",
       {{"train.en", ""}, {"train.de", ""}},
       begin + "there is no text in FOLDER/train.en, FOLDER/train.de",
       "check the files"},
      {"", {{"train.en", lines("", 40)}}, begin + "there is no text in ", "check the files"},
      {"",
       {{"train.en", lines(" ", 40)}, {"train.de", lines("\t", 40)}},
       begin + "there is no text in ",
       "check the files"},
      {"",
       {{"train.de", kBadCorporaText.substr(12)}},
       differ + "train.en has 40 lines, FOLDER/train.de has 39",
       "look for a lost last line"},
      {"",
       {{"train.de", kBadCorporaText + "more\n"}},
       differ + "train.en has 40 lines, FOLDER/train.de has 41",
       "look for a lost last line"},
      {"", {{"train.en", lines("a\rb", 1)}}, differ + "train.en has 1 line, FOLDER/train.de has 40", "data.truncate"},
      {R"(train = ["train.en", "train.de", "b.en", "b.de"])",
       {{"b.en", "a\nb\n"}, {"b.de", "a\n"}},
       differ + "b.en has 2 lines, FOLDER/b.de has 1",
       "data.truncate"},
      {valid, {{"v.en", "a\nb\n"}, {"v.de", "a\n"}}, differ + "v.en has 2 lines, FOLDER/v.de has 1", "data.truncate"},
      {valid,
       {{"v.en", ""}, {"v.de", ""}},
       "FOLDER/r.toml:4: data.valid: no pair of lines is left of 0",
       "the files are empty"},
      {kPair + "\nmax_length = 2\noverlong = \"error\""s,
       {},
       "FOLDER/train.en:1: ",
       "raise data.max_length, or set data.overlong"},
      {kPair + "\nmax_length = 1"s,
       {},
       begin + "no pair of lines is left of 40",
       "40 pairs with an overlong side skipped"},
      // letters
      {"",
       {{"train.de", lines("sch\xf6n", 40)}},
       begin + "40 of 40 lines are not UTF-8, the first at FOLDER/train.de:1",
       "set data.encoding = \"windows-1252\""},
      {"",
       {{"train.de", utf_16(kBadCorporaText)}},
       begin + "FOLDER/train.de is in UTF-16",
       "set data.encoding = \"utf-16\""},
      {wide,
       {{"train.en", utf_16(kBadCorporaText) + "x"}, {"train.de", utf_16(kBadCorporaText)}},
       "FOLDER/train.en:41: the text ends within a letter",
       "set data.encoding"},
      {wide,
       {{"train.en", "\xff\xfe\x00\xdc\x0a\x00"s}, {"train.de", utf_16(kBadCorporaText)}},
       "FOLDER/train.en:1: half a letter",
       "set data.encoding"},
      // packed files
      {zipped, {{"train.en.gz", gz.substr(0, gz.size() - 12)}}, "FOLDER/train.en.gz:", "fetch the file again"},
      {zipped,
       {{"train.en.gz", gz.substr(0, gz.size() - 8) + "1234" + gz.substr(gz.size() - 4)}},
       "FOLDER/train.en.gz:41: the compressed data is broken",
       "fetch the file again"},
      {zipped,
       {{"train.en.gz", gz.substr(0, 12) + "\xff\xff\xff" + gz.substr(15)}},
       "FOLDER/train.en.gz:1: the compressed data is broken",
       "fetch the file again"},
      {zipped,
       {{"train.en.gz", gz + "more"}},
       "FOLDER/train.en.gz:41: the compressed data is broken",
       "fetch the file again"},
      {zipped, {{"train.en.gz", ""}}, differ + "train.en.gz has 0 lines", "data.truncate"},
      {"",
       {{"train.en", "\xfd\x37zXZ" + kBadCorporaText}},
       begin + "FOLDER/train.en is compressed by xz",
       "unpack it by xz -d"},
      {"", {{"train.en", "PK\x03\x04" + kBadCorporaText}}, begin + "FOLDER/train.en is a zip archive", "unpack it"},
      // columns
      {tsv, {{"a.tsv", "a\tb\nno tab\n"}}, "FOLDER/a.tsv:2: 1 column, wanted 2", "set data.format = \"lines\""},
      {tsv, {{"a.tsv", "a\tb\na\tb\tc\n"}}, "FOLDER/a.tsv:2: 3 columns, wanted 2", "data.columns = [1, 2]"},
      {tsv, {{"a.tsv", ""}}, begin + "there is no text in FOLDER/a.tsv", "check the files"},
      {tsv, {{"a.tsv", lines("a\t", 9)}}, begin + "there is no text in FOLDER/a.tsv", "check the files"},
      {csv, {{"a.csv", "a,b\na,b,c\n"}}, "FOLDER/a.csv:2: 3 columns, wanted 2", "data.columns = [1, 2]"},
      {csv, {{"a.csv", "a;b\n"}}, "FOLDER/a.csv:1: 1 column, wanted 2", "separated by commas"},
      {csv, {{"a.csv", "\"a\"x,b\n"}}, "FOLDER/a.csv:1: text behind the closing quote", "double the quotes inside"},
      {csv, {{"a.csv", "a,b\n\"a,b\n"}}, "FOLDER/a.csv:2: ", "quote"},
      {csv + "\nheader = true",
       {{"a.csv", ""}},
       "FOLDER/a.csv: an empty file, and data.header = true",
       "check the file"},
      {csv + "\nheader = true\ncolumns = [\"en\", \"de\"]",
       {{"a.csv", "x,y\na,b\n"}},
       "FOLDER/a.csv:1: data.columns names \"en\"",
       "the columns are \"x\", \"y\""},
      {csv + "\nheader = true\ncolumns = [2, 9]",
       {{"a.csv", "x,y\na,b\n"}},
       "FOLDER/a.csv:1: data.columns has number 9, the columns are \"x\", \"y\"",
       "take names or numbers of these"},
      {conll,
       {{"a.conll", "a N\nb\n"}},
       "FOLDER/a.conll:2: 1 column, and 2 in the line the sentence begins with",
       "an empty one separates sentences"},
      {conll, {{"a.conll", "# nothing\n\n"}}, begin + "there is no text in FOLDER/a.conll", "check the files"},
      // weights, mixtures and alignments
      {weights, {}, "FOLDER/r.toml:4: data.weights: cannot read FOLDER/w", "check the name"},
      {weights,
       {{"w", lines("1", 9) + "much\n" + lines("1", 30)}},
       "FOLDER/w:10: the weight \"much\" is not a number",
       "write one like 1 or 0.25"},
      {weights, {{"w", lines("-1", 40)}}, "FOLDER/w:1: the weight \"-1\" is not a number", "write one like 1 or 0.25"},
      {weights,
       {{"w", lines("1", 39)}},
       "FOLDER/w: 39 weights, and FOLDER/train.en has more lines",
       "write one number for each line"},
      {weights,
       {{"w", lines("1", 41)}},
       "FOLDER/w:41: more weights than FOLDER/train.en has lines",
       "write one number for each line"},
      {"train = [[\"train.en\", \"train.de\"], [\"b.en\", \"b.de\"]]\nratio = [1, 1]",
       {{"b.en", "\n"}, {"b.de", "\n"}},
       begin + "corpus 2 of 2 has nothing to draw from",
       "check its files"},
      {aligned,
       {{"a", lines("0-0", 39) + "0-9\n"}},
       "FOLDER/a:40: the link 0-9 is out of range: the target has 3 words",
       "count words from 0"},
      {aligned,
       {{"a", lines("0-0", 20)}},
       "FOLDER/a has 20 lines, the training files have more",
       "a line must stand for a line"},
      {aligned, {{"a", lines("0:0", 40)}}, "FOLDER/a:1: '0:0' is no link of two words", "0-0 1-2"},
  };
  return all;
}

std::string with_folder(std::string text, const std::string& folder) {
  for (size_t at = text.find("FOLDER"); at != std::string::npos; at = text.find("FOLDER", at))
    text.replace(at, 6, folder);
  return text;
}

struct BadCorpora : testing::TestWithParam<int> {};
constexpr int kBadCorporaParts = 4;  // each is a test, so that they run side by side

TEST_P(BadCorpora, AreToldFileLineKeyAndRemedy) {
  EXPECT_GE(corpora().size(), 40u);
  for (size_t i = static_cast<size_t>(GetParam()); i < corpora().size(); i += kBadCorporaParts) {
    const Corpus& c = corpora()[i];
    const TempFolder folder;
    for (const char* side : {"train.en", "train.de"}) put(folder / side, kBadCorporaText);
    for (const auto& [name, content] : c.files) put(folder / name, content);
    mkfifo((folder / "pipe").c_str(), 0600);
    put(folder / "r.toml",
        "task = \"translate\"\n[data]\n" + (c.data.empty() ? kPair : c.data) +
            "\n[tokenizer]\nsize = 60\n[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\n"
            "d_ff = 32\nheads = 2\n[train]\nbatch_tokens = 256\nstop = \"3u\"\n");
    const Outcome o = run_attune({"train", folder / "r.toml", "--out", folder / "out", "--quiet"});
    SCOPED_TRACE(c.says);
    EXPECT_EQ(o.code, 4) << o.err;
    EXPECT_EQ(o.err.find("attune train: " + with_folder(c.says, folder.path())), 0u) << o.err;
    EXPECT_NE(o.err.find(with_folder(c.remedy, folder.path())), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("\n  fix: "), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, BadCorpora, testing::Range(0, kBadCorporaParts));

}  // namespace
}  // namespace attune::test
