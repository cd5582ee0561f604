// The keys of [data] that take more than one shape: groups of files, columns, weights, ratios.
#include <gtest/gtest.h>

#include "checks.h"
#include "recipe/settings.h"

namespace attune {
namespace {

using Strings = std::vector<std::string>;

Recipe read(const std::string& data) { return read_recipe("[data]\n" + data, "r.toml"); }

/// What is said about a recipe with these lines in [data].
std::string said(const std::string& data) {
  return error_of([&] { check_recipe(read(data)); }, ErrorKind::recipe);
}

TEST(DataKeys, FilesInGroupsReadBackAsTheyAre) {
  const Recipe r = read("train = [[\"a.en\", \"a.de\"], [\"b.en\", \"b.de\"]]\nratio = [3, 1]");
  EXPECT_EQ(Strings(r.data.train), (Strings{"a.en", "a.de", "b.en", "b.de"}));
  EXPECT_EQ(r.data.train.groups, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(r.data.ratio, (std::vector<double>{3, 1}));
  const std::string text = recipe_text(r);
  EXPECT_NE(text.find("train = [[\"a.en\", \"a.de\"], [\"b.en\", \"b.de\"]]"), std::string::npos);
  EXPECT_EQ(recipe_text(read_recipe(text, "again")), text);
  const Recipe flat = read_recipe(text, "r.toml", {"data.train=[\"c.en\", \"c.de\"]"});
  EXPECT_TRUE(flat.data.train.groups.empty());
  EXPECT_EQ(flat.data.train.size(), 2u);
}

TEST(DataKeys, ListsOfTextsOrNumbers) {
  EXPECT_EQ(read("columns = [3, 1]").data.columns.texts, (Strings{"3", "1"}));
  EXPECT_EQ(read("columns = [\"form\", \"upos\"]").data.columns.texts, (Strings{"form", "upos"}));
  EXPECT_EQ(read("columns = 2").data.columns.texts, Strings{"2"});
  EXPECT_EQ(read("weights = \"w.txt\"").data.weights.texts, Strings{"w.txt"});
  EXPECT_EQ(read("weights = \"\"").data.weights.texts, Strings{});
  EXPECT_EQ(error_of([] { read("columns = [1.5]"); }),
            "r.toml:2: data.columns is [1.5], not a text, or list of texts or whole numbers");
}

TEST(DataKeys, Messages) {
  const std::string two = "train = [[\"a.en\", \"a.de\"], [\"b.en\", \"b.de\"]]\n";
  EXPECT_EQ(said(two + "ratio = [1, 2, 3]"),
            "r.toml:3: data.ratio has 3 numbers for the 2 corpora of data.train\n  fix: give one for each");
  EXPECT_EQ(said("train = [[\"a.en\"], [\"b.en\", \"b.de\"]]"),
            "r.toml:2: data.train has a corpus of 1 file, translate needs a source and a target\n"
            "  fix: data.train = [[\"a.en\", \"a.de\"], [\"b.en\", \"b.de\"]]");
  EXPECT_EQ(error_of([&] { read(two + "ratio = [1, 0]"); }),
            "r.toml:3: data.ratio = 0 is out of range: above 0 to 1000000000\n  fix: for example ratio = [2, 1]");
  EXPECT_EQ(said("train = [\"a\", \"b\"]\ncolumns = [1, 2]"),
            "r.toml:3: data.columns names columns, and data.format = \"lines\" has none\n"
            "  fix: set data.format to \"tsv\", \"csv\" or \"conll\"");
  EXPECT_EQ(
      said("train = [\"a\"]\nformat = \"conll\"\nheader = true"),
      "r.toml:4: data.header = true, and only tsv and csv files have a line of names\n  fix: leave data.header out");
  EXPECT_EQ(
      error_of([&] { read("encoding = \"utf-7\""); }),
      "r.toml:2: data.encoding = 'utf-7' is not known: utf-8 | iso-8859-1 | latin-1 | windows-1252 | windows-1250 | "
      "iso-8859-2 | windows-1251 | koi8-r | windows-1253 | windows-1254 | utf-16. Did you mean 'utf-8'?");
  EXPECT_EQ(error_of([&] { read("delimiter = \"x\""); }).substr(0, 74),
            "r.toml:2: data.delimiter = 'x' is not known: auto | \",\" | \";\" | \"\\t\" | \"|\"");
  EXPECT_EQ(said("train = [\"a\", \"b\"]\ndelimiter = \";\""),
            "r.toml:3: data.delimiter separates the columns of tsv and csv files, and these are none\n"
            "  fix: leave data.delimiter out, or set data.format = \"csv\"");
  EXPECT_EQ(error_of([&] { read("train = [[\"a\"], 1]"); }),
            "r.toml:2: data.train is a mixed list, not a list of texts\n  fix: for example train = [\"...\", \"...\"]");
}

}  // namespace
}  // namespace attune
