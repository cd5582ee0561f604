// What `attune new` finds out about the columns of files.
#include "advise/columns_look.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "data/files.h"
#include "data/files/pairs.h"

namespace attune::test {
namespace {

using Names = std::vector<std::string>;

struct ColumnsLookTest : testing::Test {
  TempFolder dir;
  DataSettings data;
  ColumnsLook look;
  /// The columns, "1,2" where the defaults will do: label, text.
  std::string columns(const std::string& name, const std::string& text, Task task = Task::classify, Names wanted = {}) {
    data = {};
    look = describe_columns(put(dir / name, text), task, wanted, data);
    return join(data.columns.texts, ",");
  }
  std::string error(const std::string& name, const std::string& text, Task task = Task::classify, Names wanted = {}) {
    return error_with_kind([&] { columns(name, text, task, wanted); });
  }
};

std::string table(const std::string& header, const std::string& row, int rows = 30) {
  std::string out = header.empty() ? "" : header + "\n";
  for (int i = 0; i < rows; ++i) {
    std::string line = row;
    for (const auto& [mark, value] : {std::pair{"#", std::to_string(i)},
                                      {"TEXT", fmt::format("the {} th, a text", i)},
                                      {"LABEL", i % 2 ? "good" : "bad"},
                                      {"NUMBER", fmt::format("{},{}", i % 5, i % 7 + 10 * i % 3)}})
      for (size_t at; (at = line.find(mark)) != std::string::npos;) line.replace(at, std::string(mark).size(), value);
    out += line + "\n";
  }
  return out;
}

TEST_F(ColumnsLookTest, NamesInAHeaderDecide) {
  EXPECT_EQ(columns("a.csv", table("id,text,label", "#,\"TEXT\",LABEL")), "text,label");
  EXPECT_TRUE(data.header);
  EXPECT_FALSE(look.compared);
  EXPECT_EQ(look.notes, Names{"columns by the header: \"text\", \"label\"; not read: \"id\""});
  EXPECT_EQ(columns("b.csv", table("Sentiment,Review Text,Unnamed: 0", "LABEL,\"TEXT\",#")), "Review Text,Sentiment");
  EXPECT_EQ(columns("c.tsv", table("pairID\tgold_label\tsentence1\tsentence2", "#\tLABEL\tTEXT\tTEXT")),
            "sentence1,sentence2,gold_label");
  EXPECT_TRUE(look.compared);
  EXPECT_EQ(columns("d.tsv", table("class\ttitle\tdescription", "LABEL\tTEXT\tTEXT")), "title,description,class");
  EXPECT_FALSE(look.compared) << "a title belongs to its text";
  EXPECT_EQ(columns("e.tsv", table("pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
                                   "#\tTEXT\tTEXT\t3\tLABEL")),
            "sentence_A,sentence_B,entailment_judgment");
  EXPECT_EQ(columns("f.tsv", table("PhraseId\tSentenceId\tPhrase\tSentiment", "#\t#\tTEXT\tLABEL")),
            "Phrase,Sentiment");
  EXPECT_EQ(columns("g.csv", table("text,label,weight", "\"TEXT\",LABEL,0.5")), "text,label,weight");
  EXPECT_EQ(columns("h.csv", table("tweet,mood", "\"TEXT\",LABEL")), "tweet,mood") << "what is left is the label";
  EXPECT_EQ(columns("i.csv", table(",text,label", "#,\"TEXT\",LABEL")), "text,label") << "as pandas writes them";
  EXPECT_EQ(columns("j.csv", table("id,source,target", "#,\"TEXT\",LABEL"), Task::translate), "source,target");
  EXPECT_EQ(columns("k.csv", table("id,text", "#,\"TEXT\""), Task::language), "text");
}

TEST_F(ColumnsLookTest, NamesThatDoNotTellAreAskedAbout) {
  EXPECT_EQ(error("a.csv", table("text,sentiment,category", "\"TEXT\",LABEL,LABEL")),
            "usage: " + (dir / "a.csv") +
                ":1: which of \"text\", \"sentiment\", \"category\" are the text and the label?\n"
                "  fix: say it: --columns text,sentiment");
  EXPECT_EQ(
      columns("a.csv", table("text,sentiment,category", "\"TEXT\",LABEL,LABEL"), Task::classify, {"text", "category"}),
      "text,category");
  EXPECT_TRUE(data.header);
  columns("a.csv", table("a,b,c,weight", "\"TEXT\",\"TEXT\",LABEL,1"), Task::classify, {"a", "c", "weight"});
  EXPECT_FALSE(look.compared);
  columns("a.csv", table("a,b,c,weight", "\"TEXT\",\"TEXT\",LABEL,1"), Task::classify, {"a", "b", "c"});
  EXPECT_TRUE(look.compared) << "two texts";
  EXPECT_EQ(error("a.csv", table("text,label", "\"TEXT\",LABEL"), Task::classify, {"text", "lable"}),
            "usage: --columns names \"lable\", the columns of " + (dir / "a.csv") +
                " are \"text\", \"label\"\n  fix: did you mean \"label\"?");
  EXPECT_EQ(
      error("w.tsv", table("", "#\tTEXT\tTEXT\tLABEL\tx")),
      "usage: " + (dir / "w.tsv") + " has 5 columns: which are the text and the label?\n  fix: say it: --columns 2,5");
  EXPECT_EQ(columns("w.tsv", table("", "#\tTEXT\tTEXT\tLABEL\tx"), Task::classify, {"2", "4"}), "2,4");
  EXPECT_FALSE(data.header);
}

/// Names that nobody knows: what stands below them tells that they are some.
TEST_F(ColumnsLookTest, HeadersOfOtherLanguages) {
  EXPECT_EQ(columns("a.csv", table("texto,etiqueta", "\"TEXT\",LABEL")), "texto,etiqueta");
  EXPECT_EQ(columns("b.csv", table("v1,v2", "LABEL,\"TEXT\"")), "v2,v1");
  EXPECT_TRUE(data.header);
  EXPECT_EQ(error("c.csv", table("foo,bar,baz", "#,\"TEXT\",LABEL")),
            "usage: " + (dir / "c.csv") +
                ":1: which of \"foo\", \"bar\", \"baz\" are the text and the label?\n  fix: say it: --columns bar,baz");
  EXPECT_EQ(columns("d.tsv", table("", "LABEL\tTEXT")), "");
  EXPECT_EQ(look.notes, Names{"no names of columns: column 1 is the label, 2 the text"});
}

TEST_F(ColumnsLookTest, WithoutAHeader) {
  EXPECT_EQ(columns("a.tsv", table("", "LABEL\tTEXT")), "") << "as is usual";
  EXPECT_EQ(columns("b.tsv", table("", "TEXT\tLABEL")), "1,2");
  EXPECT_EQ(columns("c.tsv", table("", "#\tTEXT\tLABEL")), "2,3") << "the first numbers the rows";
  EXPECT_EQ(columns("d.tsv", table("", "#\tLABEL\tTEXT")), "3,2");
  EXPECT_EQ(columns("e.tsv", "question\twhy\nanswer\tbecause\nquestion\twhat\n"), "") << "no header: it comes again";
  EXPECT_FALSE(data.header);
}

TEST_F(ColumnsLookTest, Delimiters) {
  const struct {
    const char *name, *row, *delimiter;
    DataFormat format;
  } cases[] = {
      {"a.csv", "LABEL,\"TEXT\"", "auto", DataFormat::csv},    {"b.csv", "LABEL;TEXT", ";", DataFormat::csv},
      {"c.csv", "LABEL\tTEXT", "\t", DataFormat::csv},         {"d.csv", "LABEL|TEXT", "|", DataFormat::csv},
      {"e.tsv", "LABEL\tTEXT", "auto", DataFormat::tsv},       {"f.txt", "LABEL\tTEXT; and", "auto", DataFormat::tsv},
      {"g.csv", "LABEL;\"TEXT; more\"", ";", DataFormat::csv},
  };
  for (const auto& c : cases) {
    columns(c.name, table("", c.row));
    EXPECT_EQ(data.delimiter, c.delimiter) << c.name;
    EXPECT_EQ(data.format, c.format) << c.name;
    PairReader reader({dir / c.name}, data, "data.train", Sides::answers);
    TextPair pair;
    ASSERT_TRUE(reader.next(pair)) << c.name;
    EXPECT_TRUE(pair.source.starts_with("the 0 th, a text")) << pair.source;
    EXPECT_EQ(pair.target, "bad");
  }
  columns("h.txt", table("text;label", "TEXT;LABEL"));
  EXPECT_EQ(data.delimiter, ";") << "the header tells";
  EXPECT_EQ(error("trec.txt", "NUM How far is it ?\nLOC Where is it ?\nNUM How many ?\nNUM How big ?\n"),
            "data: " + (dir / "trec.txt") +
                " has one column\n  fix: the label seems to be the first word; put a tab behind it: cat " +
                (dir / "trec.txt") + " | sed 's/ /\\t/' > trec.txt.tsv");
}

TEST_F(ColumnsLookTest, AnswersThatAreNumbers) {
  std::string rows = "text;score\n";
  for (int i = 0; i < 60; ++i) rows += fmt::format("a text {};{},{}\n", i, i % 5, i);
  EXPECT_EQ(columns("a.csv", rows), "text,score");
  EXPECT_TRUE(look.numbers) << "with decimal commas";
  columns("b.csv", table("text,stars", "\"TEXT\",4.5"));
  EXPECT_FALSE(look.numbers) << "few different ones are labels";
}

TEST_F(ColumnsLookTest, WordsAndTheirLabels) {
  const std::string spanish = "El DA O\nAbogado NC B-PER\nGeneral AQ I-PER\n\n";
  EXPECT_EQ(columns("esp.train", spanish, Task::tag), "1,3");
  EXPECT_TRUE(look.spans);
  EXPECT_EQ(columns("first.conll", "El B-X DA\ncasa O NC\n\n", Task::tag), "1,2") << "the column of spans";
  EXPECT_EQ(columns("german.tsv", "# http://a [2009]\n1\tAda\tB-PER\tO\n2\tsagt\tO\tO\n\n", Task::tag), "2,3")
      << "words are numbered, and the second column of spans is empty";
  EXPECT_EQ(columns("pos.conll", "El DA\ncasa NC\n\n", Task::tag), "1,2");
  EXPECT_FALSE(look.spans);
  EXPECT_EQ(columns("u.conllu", "1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n\n", Task::tag), "") << "form and upos";
  EXPECT_EQ(columns("u.conllu", "1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n\n", Task::tag, {"form", "deprel"}), "form,deprel");
  columns("iob1", "Ada I-PER\nB. I-PER\nBob B-PER\nsaid O\nCy I-PER\n\n", Task::tag);
  EXPECT_TRUE(look.spans);
  EXPECT_NE(look.notes.back().find("begin with I- (IOB1)"), std::string::npos);
  const std::string documents = "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\n\n";
  columns("eng.train", documents, Task::tag);
  PairReader reader({dir / "eng.train"}, data, "data.train", Sides::answers);
  TextPair pair;
  ASSERT_TRUE(reader.next(pair));
  EXPECT_EQ(pair.source, "EU");
  EXPECT_FALSE(reader.next(pair));
}

}  // namespace
}  // namespace attune::test
