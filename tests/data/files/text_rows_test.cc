#include "data/files/text_rows.h"

#include <gtest/gtest.h>

#include "data/files.h"

namespace attune::test {
namespace {

using Texts = std::vector<std::string>;

struct Rows {
  TempFolder folder;
  DataSettings options;
  WantedTexts wanted{Sides::answers, false, [](std::string_view label) { return label == "yes" || label == "no"; }};

  explicit Rows(DataFormat format = DataFormat::tsv) { options.format = format; }
  Texts read(const std::string& content, bool alone = false) const {
    TextRows rows(put(folder / "f", content), options, wanted, alone);
    Texts all;
    for (std::string text; rows.next(text);) all.push_back(text);
    return all;
  }
  TextRows::Look look(const std::string& content) const {
    return TextRows::look(put(folder / "f", content), options, wanted);
  }
};

TEST(TextRows, ATextForEveryRow) {
  const Rows rows;
  EXPECT_EQ(rows.read("yes\ta b\nno\tc\td e\n\nno\t\n"), (Texts{"a b", "c\td e", "", ""}));
  const auto look = rows.look("yes\ta\nmaybe\tb\nc\n\n");
  EXPECT_EQ(look.rows, 3);
  EXPECT_EQ(look.fit, 2);
  EXPECT_EQ(look.known, 1);
  EXPECT_EQ(look.alone, 1);
}

TEST(TextRows, RowsThatAreOddAreCountedAndAnswered) {
  const Rows rows;
  TextRows reader(put(rows.folder / "f", "yes\ta\nb\nno\tc\td\te\nyes\tf\n"), rows.options, rows.wanted);
  Texts all;
  for (std::string text; reader.next(text);) all.push_back(text);
  EXPECT_EQ(all, (Texts{"a", "", "c\td", "f"}));
  EXPECT_EQ(reader.odd().count, 2);
  EXPECT_EQ(reader.odd().places[0], rows.folder / "f" + ":2");
}

TEST(TextRows, AHeaderTellsTheColumns) {
  Rows rows(DataFormat::csv);
  rows.options.header = true;
  EXPECT_EQ(rows.read("id,label,text\n1,yes,\"a, \"\"b\"\"\"\n2,no,c\td\n"), (Texts{"a, \"b\"", "c d"}));
  rows.options.columns.texts = {"text", "label"};
  EXPECT_EQ(rows.read("id,text\n1,a\n"), Texts{"a"}) << "the answers may be missing";
  EXPECT_EQ(rows.read(""), Texts{});
  EXPECT_NE(error_with_kind([&] { rows.read("id,words\n1,a\n"); }).find("data.columns names \"text\""),
            std::string::npos);
  EXPECT_EQ(rows.read("a\nb\n", true), (Texts{"a", "b"}));
}

TEST(TextRows, SourcesPairsAndSentences) {
  Rows two;
  two.wanted = {Sides::two, false, {}};
  EXPECT_EQ(two.read("a b\tx\nc\ty\n"), (Texts{"a b", "c"}));
  two.wanted.pairs = true;
  EXPECT_EQ(two.read("a b\tx\nc\ty\n"), (Texts{"a b\tx", "c\ty"}));
  Rows words(DataFormat::conll);
  words.options.columns.texts = {"1", "2"};
  EXPECT_EQ(words.read("# x y\nAda B-PER\nruns O\n\nshe O\n"), (Texts{"Ada runs", "she"}));
}

TEST(TextRows, LinesOfAPipeAreSuspected) {
  const Rows rows;
  const auto suspect = [](const DataSettings& options, const WantedTexts& wanted, const Texts& lines) {
    RowSuspicion s(options, wanted);
    for (const std::string& line : lines) s.look_at(line);
    return s.confirmed();
  };
  EXPECT_TRUE(suspect(rows.options, rows.wanted, {"yes\ta", "", "no\tb"}));
  EXPECT_FALSE(suspect(rows.options, rows.wanted, {"yes\ta", "b"}));
  EXPECT_FALSE(suspect(rows.options, rows.wanted, {}));
  Rows csv(DataFormat::csv);
  csv.options.header = true;
  EXPECT_TRUE(suspect(csv.options, csv.wanted, {"id,text,label", "1,a,yes"}));
  EXPECT_FALSE(suspect(csv.options, csv.wanted, {"a text", "b, c"}));
}

}  // namespace
}  // namespace attune::test
