// Files of columns: csv, tsv and conll, how their columns are chosen, and what is said about those that are wrong.
#include "data/files/records.h"

#include "base/text.h"
#include "data/files.h"
#include "data/files/pairs.h"

namespace attune::test {
namespace {

using Strings = std::vector<std::string>;

struct Rows {
  Strings rows;  // "line: a|b|c"
  explicit Rows(const std::string& file, DataFormat format) {
    DataSettings o;
    o.format = format;
    const auto reader = open_records(file, o);
    for (Record row; reader->next(row);) {
      std::string text = std::to_string(reader->line()) + ": ";
      for (size_t i = 0; i < row.size(); ++i) text += (i ? "|" : "") + std::string(row[i]);
      rows.push_back(text);
    }
  }
};

TEST(Records, Csv) {
  const TempFolder dir;
  const struct {
    std::string text;
    Strings rows;
  } cases[] = {
      {"", {}},
      {"a,b\nc,d", {"1: a|b", "2: c|d"}},
      {"a,b\r\nc,d\r\n", {"1: a|b", "2: c|d"}},
      {"a,,\n,\n", {"1: a||", "2: |"}},
      {"\n", {"1: "}},
      {"\"a,b\",\"c\"\n", {"1: a,b|c"}},
      {"\"say \"\"hello\"\"\",x\n", {"1: say \"hello\"|x"}},
      {"\"\",\"\"\"\"\n", {"1: |\""}},
      {"\"two\nlines\",x\ny,z\n", {"1: two lines|x", "3: y|z"}},
      {"\"two\r\nlines\r\n\",x\r\n", {"1: two lines |x"}},
      {"5\" disk,x\n", {"1: 5\" disk|x"}},
      {" \"a\",x\n", {"1:  \"a\"|x"}},
      {"\xef\xbb\xbf\"a\",b\n", {"1: a|b"}},
      {"a,\"b\"", {"1: a|b"}},
  };
  for (const auto& c : cases) EXPECT_EQ(Rows(put(dir / "a.csv", c.text), DataFormat::csv).rows, c.rows) << c.text;
  EXPECT_EQ(Rows(put(dir / "a.csv.gz", gzipped("a,b\n")), DataFormat::csv).rows, Strings{"1: a|b"});
  const std::string open = put(dir / "open.csv", "a,b\nc,\"d\ne\n"), behind = put(dir / "behind.csv", "\"a\"b,c\n");
  EXPECT_EQ(error_with_kind([&] { Rows(open, DataFormat::csv); }),
            "data: " + open + ":2: a field's quote is not closed\n  fix: double the quotes inside of fields: \"\"");
  EXPECT_EQ(error_with_kind([&] { Rows(behind, DataFormat::csv); }),
            "data: " + behind + ":1: text behind the closing quote of a field\n  fix: double the quotes inside: \"\"");
}

TEST(Records, Conll) {
  const TempFolder dir;
  const std::string u = put(dir / "u.conllu",
                            "# text = Im Haus\n1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_\n"
                            "1\tIn\tin\tADP\t_\t_\t3\tcase\t_\t_\n2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_\n"
                            "2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n3\t10 000\tHaus\tNOUN\t_\t_\t0\troot\t_\t_\n"
                            " \t\n\n# second\n1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\t_");
  const Rows rows(u, DataFormat::conll);
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_TRUE(rows.rows[0].starts_with("3: 1 2 3|In dem 10_000|in der Haus|ADP DET NOUN|")) << rows.rows[0];
  EXPECT_TRUE(rows.rows[1].starts_with("10: 1|Ja|ja|INTJ|")) << rows.rows[1];
  const std::string old = put(dir / "old", "EU NNP  B-ORG\n# NN O\n\n\nPeter NNP B-PER\r\n");
  EXPECT_EQ(Rows(old, DataFormat::conll).rows, (Strings{"1: EU #|NNP NN|B-ORG O", "5: Peter|NNP|B-PER"}));
  // A word with a # in front may begin a sentence, the first too.
  const std::string tags = put(dir / "tags", "#a\tO\n#b\tO\n\n# a\tcomment\n#another one\n#c\tO\n");
  EXPECT_EQ(Rows(tags, DataFormat::conll).rows, (Strings{"1: #a #b|O O", "6: #c|O"}));
  const std::string blanks = put(dir / "blanks", "#a O\n\n#b and more\n#c O\n");
  EXPECT_EQ(Rows(blanks, DataFormat::conll).rows, (Strings{"1: #a|O", "4: #c|O"}));
  const std::string bad = put(dir / "bad", "a b\nc\n");
  EXPECT_EQ(error_with_kind([&] { Rows(bad, DataFormat::conll); }),
            "data: " + bad +
                ":2: 1 column, and 2 in the line the sentence begins with\n"
                "  fix: look at that line; an empty one separates sentences");
}

TEST(Records, OtherDelimiters) {
  const TempFolder dir;
  DataSettings o;
  const auto first = [&](const std::string& text, DataFormat format, const char* delimiter) {
    o.format = format;
    o.delimiter = delimiter;
    const auto reader = open_records(put(dir / "a", text), o);
    Record row;
    EXPECT_TRUE(reader->next(row));
    return Strings(row.begin(), row.end());
  };
  EXPECT_EQ(first("\"a;b\";c, d\n", DataFormat::csv, ";"), (Strings{"a;b", "c, d"}));
  EXPECT_EQ(first("\"a\tb\"\tc\n", DataFormat::csv, "\t"), (Strings{"a\tb", "c"}));
  EXPECT_EQ(first("a|\"b\"\n", DataFormat::csv, "|"), (Strings{"a", "b"}));
  EXPECT_EQ(first("\"a|b\n", DataFormat::tsv, "|"), (Strings{"\"a", "b"})) << "tsv has no quotes";
}

/// All pairs of a file as "source|target*weight".
Strings pairs_of(const std::string& file, const DataSettings& o, Sides sides = Sides::two) {
  PairReader reader({file}, o, "data.train", sides);
  Strings out;
  for (TextPair p; reader.next(p);)
    out.push_back(std::string(p.source) + "|" + std::string(p.target) +
                  (p.weight == 1 ? "" : fmt::format("*{}", p.weight)));
  return out;
}

DataSettings settings(DataFormat format, Strings columns = {}, bool header = false) {
  DataSettings o;
  o.format = format;
  o.columns.texts = std::move(columns);
  o.header = header;
  return o;
}

TEST(Columns, AreChosenByNameNumberOrOrder) {
  const TempFolder dir;
  const std::string plain = put(dir / "a.csv", "1,one,eins,0.5\n2,two,zwei,1\n");
  const std::string named = put(dir / "b.tsv", "id\tenglish\tgerman\tweight\n1\tone\teins\t0.5\n");
  const std::string usual = put(dir / "c.csv", "target,id,source\neins,1,one\n"),
                    two = put(dir / "d.csv", "en,de\none,eins\n");
  const struct {
    std::string file;
    DataSettings options;
    Strings pairs;
  } cases[] = {
      {plain, settings(DataFormat::csv, {"2", "3"}), {"one|eins", "two|zwei"}},
      {plain, settings(DataFormat::csv, {"3", "2", "4"}), {"eins|one*0.5", "zwei|two"}},
      {plain, settings(DataFormat::csv, {"id", "source", "target", "weight"}), {"one|eins*0.5", "two|zwei"}},
      {plain, settings(DataFormat::csv, {"id", "source", "target", "x"}), {"one|eins", "two|zwei"}},
      {named, settings(DataFormat::tsv, {"english", "german"}, true), {"one|eins"}},
      {named, settings(DataFormat::tsv, {"german", "english", "weight"}, true), {"eins|one*0.5"}},
      {named, settings(DataFormat::tsv, {"2", "3"}, true), {"one|eins"}},
      {usual, settings(DataFormat::csv, {}, true), {"one|eins"}},
      {two, settings(DataFormat::csv, {}, true), {"one|eins"}},
      {two, settings(DataFormat::csv), {"en|de", "one|eins"}},
  };
  for (const auto& c : cases) EXPECT_EQ(pairs_of(c.file, c.options), c.pairs) << join(c.options.columns.texts, ",");
  EXPECT_EQ(pairs_of(named, settings(DataFormat::tsv, {"german"}, true), Sides::one), Strings{"|eins"});
  EXPECT_EQ(pairs_of(plain, settings(DataFormat::csv, {"2"}), Sides::one), (Strings{"|one", "|two"}));
}

TEST(Columns, OfConll) {
  const TempFolder dir;
  const std::string u = put(dir / "u", "1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n");
  EXPECT_EQ(pairs_of(u, settings(DataFormat::conll)), Strings{"A cat|DET NOUN"});
  EXPECT_EQ(pairs_of(u, settings(DataFormat::conll, {"lemma", "deprel"})), Strings{"a cat|det root"});
  EXPECT_EQ(pairs_of(u, settings(DataFormat::conll, {"2", "7"})), Strings{"A cat|2 0"});
  EXPECT_EQ(pairs_of(u, settings(DataFormat::conll), Sides::one), Strings{"|A cat"});
  EXPECT_EQ(error_with_kind([&] {
              pairs_of(u, settings(DataFormat::conll, {"form", "upso"}));
            }),
            "recipe: data.columns names \"upso\", the columns are \"id\", \"form\", \"lemma\", \"upos\", \"xpos\", "
            "\"feats\", \"head\", \"deprel\", \"deps\", \"misc\"\n  fix: did you mean \"upos\"?");
}

TEST(Columns, Messages) {
  const TempFolder dir;
  const std::string named = put(dir / "b.csv", "id,english,german\n1,one,eins\n1,one\n"),
                    none = put(dir / "none.csv", "");
  const std::string semi = put(dir / "semi.csv", "one;eins\n");
  const struct {
    std::string file;
    DataSettings options;
    std::string says;
  } cases[] = {
      {named, settings(DataFormat::csv, {"english", "gemran"}, true),
       "data: " + named +
           ":1: data.columns names \"gemran\", the columns are \"id\", \"english\", \"german\"\n"
           "  fix: did you mean \"german\"?"},
      {named, settings(DataFormat::csv, {}, true),
       "recipe: " + named +
           ":1: which of \"id\", \"english\", \"german\" are source and target?\n"
           "  fix: set data.columns; without a header, call two of them \"source\" and \"target\""},
      {named, settings(DataFormat::csv, {"english", "german"}, true),
       "data: " + named +
           ":3: 2 columns, wanted 3\n  fix: look at that line, or set data.columns to those that are there"},
      {named, settings(DataFormat::csv),
       "data: " + named +
           ":1: 3 columns, wanted 2: source, comma, target; 1 more such row below\n"
           "  fix: name two of them by data.columns = [1, 2]"},
      {named, settings(DataFormat::csv, {"1"}),
       "recipe: data.columns = [\"1\"] has one column for source and target\n"
       "  fix: name two columns, and perhaps the weight"},
      {named, settings(DataFormat::csv, {"id", "en", "de"}),
       "recipe: data.columns: which of \"id\", \"en\", \"de\" are source and target?\n"
       "  fix: set data.columns; without a header, call two of them \"source\" and \"target\""},
      {named, settings(DataFormat::csv, {"2", "9"}),
       "data: " + named +
           ":1: 3 columns, wanted at least 9; 2 more such rows below\n"
           "  fix: look at that line, or set data.columns to those that are there"},
      {none, settings(DataFormat::csv, {}, true),
       "data: " + none + ": an empty file, and data.header = true wants a line of names\n  fix: check the file"},
      {semi, settings(DataFormat::csv),
       "data: " + semi +
           ":1: 1 column, wanted 2: source, comma, target\n"
           "  fix: fields of csv are separated by commas unless data.delimiter says otherwise: \";\" or \"\\t\""},
  };
  for (const auto& c : cases) EXPECT_EQ(error_with_kind([&] { pairs_of(c.file, c.options); }), c.says);
}

TEST(Weights, OfAColumnOrAFile) {
  const TempFolder dir;
  const std::string s = put(dir / "s", "a\n\nb\nc\n"), t = put(dir / "t", "x\ny\nz\nw\n");
  DataSettings o;
  o.weights.texts = {put(dir / "w", "2\n9\n 0.25 \n0\n")};
  PairReader reader({s, t}, o, "data.train");
  std::vector<float> weights;
  for (TextPair p; reader.next(p);) weights.push_back(p.weight);
  EXPECT_EQ(weights, (std::vector<float>{2, 0.25F, 0}));
  PairReader plain({s, t}, {}, "data.train");
  for (TextPair p; plain.next(p);) EXPECT_EQ(p.weight, 1);
  EXPECT_NE(reader.content_hash(), plain.content_hash());
  PairReader valid({s, t}, o, "data.valid");  // they are of the training data
  for (TextPair p; valid.next(p);) EXPECT_EQ(p.weight, 1);
}

TEST(Weights, Messages) {
  const TempFolder dir;
  const std::string s = put(dir / "s", "a\nb\n"), w = dir / "w";
  const auto said = [&](const std::string& weights) {
    put(w, weights);
    DataSettings o;
    o.weights.texts = {w};
    return error_with_kind([&] {
      PairReader reader({s, s}, o, "data.train");
      for (TextPair p; reader.next(p);) {}
    });
  };
  for (const std::string bad : {"-1", "nan", "inf", "one", "", "1 2", "1,5", "1e99"})
    EXPECT_EQ(said("1\n" + bad + "\n"),
              "data: " + w + ":2: the weight \"" + bad +
                  "\" is not a number of at least 0\n  fix: write one like 1 or 0.25; 0 leaves the line out");
  EXPECT_EQ(said("1\n"),
            "data: " + w + ": 1 weights, and " + s + " has more lines\n  fix: write one number for each line");
  EXPECT_EQ(said("1\n1\n1\n"),
            "data: " + w + ":3: more weights than " + s + " has lines\n  fix: write one number for each line");
  const std::string csv = put(dir / "a.csv", "source,target,weight\na,b,1\n\nc,d,x\n");
  EXPECT_EQ(
      error_with_kind([&] { pairs_of(csv, settings(DataFormat::csv, {}, true)); }),
      "data: " + csv +
          ":4: the weight \"x\" is not a number of at least 0\n  fix: write one like 1 or 0.25; 0 leaves the line out");
  DataSettings two;
  two.weights.texts = {w, w};
  EXPECT_EQ(error_with_kind([&] {
              PairReader({s, w}, two, "data.train");
            }),
            "recipe: data.weights names 2 files, data.train has 1 pairs of files\n  fix: name one for each");
}

}  // namespace
}  // namespace attune::test
