#include "data/files/pairs.h"

#include "data/files.h"

namespace attune::test {
namespace {

using Strings = std::vector<std::string>;

/// All pairs as "source|target@line".
Strings pairs_of(PairReader& reader) {
  Strings out;
  for (TextPair p; reader.next(p);)
    out.push_back(std::string(p.source) + "|" + std::string(p.target) + "@" + std::to_string(p.place.line));
  return out;
}

TEST(Pairs, LinesOfBothSides) {
  const TempFolder dir;
  const Strings files{put(dir / "a.en", "one\ntwo\n"), put(dir / "a.de", "eins\nzwei"),
                      put(dir / "b.en", gzipped("three\r\n")), put(dir / "b.de", "drei\n")};
  PairReader reader(files, {}, "data.train");
  EXPECT_EQ(pairs_of(reader), (Strings{"one|eins@1", "two|zwei@2", "three|drei@1"}));
  EXPECT_EQ(reader.report().pairs, 3);
  EXPECT_EQ(reader.place({1, 7}, 1), files[3] + ":7");
  EXPECT_TRUE(reader.report().sentences(Overlong::skip).empty());
}

TEST(Pairs, TwoColumns) {
  const TempFolder dir;
  DataSettings options;
  options.format = DataFormat::tsv;
  PairReader reader({put(dir / "a.tsv", "one\teins\n\n\tnur\ntwo words\tzwei Worte\n")}, options, "data.train");
  EXPECT_EQ(pairs_of(reader), (Strings{"one|eins@1", "two words|zwei Worte@4"}));
  EXPECT_EQ(reader.report().empty.count, 2);
  EXPECT_EQ(reader.report().empty.places, (Strings{(dir / "a.tsv") + ":2", (dir / "a.tsv") + ":3"}));
}

TEST(Pairs, EmptySidesAreSkippedCountedAndPlaced) {
  const TempFolder dir;
  const std::string en = put(dir / "a.en", "1\n\n \t\n4\n\n6\n"), de = put(dir / "a.de", "1\n2\n3\n\n5\n6\n");
  PairReader reader({en, de}, {}, "data.train");
  EXPECT_EQ(pairs_of(reader), (Strings{"1|1@1", "6|6@6"}));
  EXPECT_EQ(reader.report().pairs, 6);
  EXPECT_EQ(reader.report().sentences(Overlong::skip),
            Strings{"4 pairs with an empty side skipped (" + en + ":2, " + en + ":3, " + de + ":4, ...)"});
}

TEST(Pairs, ReportSpeaks) {
  PairReport r;
  EXPECT_TRUE(r.sentences(Overlong::skip).empty());
  r.empty.add("a:1");
  r.overlong.add("b:2");
  r.surplus = 1234;
  EXPECT_EQ(r.sentences(Overlong::crop),
            (Strings{"1 pair with an empty side skipped (a:1)", "1 pair with an overlong side cropped (b:2)",
                     "1,234 lines of the longer side left out"}));
}

TEST(Pairs, TruncateTakesTheShorterSide) {
  const TempFolder dir;
  DataSettings options;
  options.truncate = true;
  PairReader reader({put(dir / "a.en", "1\n2\n3\n4\n"), put(dir / "a.de", "1\n2\n"), put(dir / "b.en", "5\n"),
                     put(dir / "b.de", "5\n6\n")},
                    options, "data.train");
  EXPECT_EQ(pairs_of(reader), (Strings{"1|1@1", "2|2@2", "5|5@1"}));
  EXPECT_EQ(reader.report().surplus, 3);
}

TEST(Pairs, HashIsOfTheTextAlone) {
  const TempFolder dir;
  const auto hash = [&](const std::string& source, const std::string& target) {
    PairReader reader({put(dir / "s", source), put(dir / "t", target)}, {}, "data.train");
    for (TextPair p; reader.next(p);) {}
    return reader.content_hash();
  };
  const std::string h = hash("a\nb\n", "c\nd\n");
  EXPECT_EQ(h.size(), 32u);
  EXPECT_EQ(hash("a\r\nb",
                 "\xef\xbb\xbf"
                 "c\nd\r\n"),
            h);
  EXPECT_EQ(hash(gzipped("a\nb\n"), "c\nd\n"), h);
  EXPECT_NE(hash("b\na\n", "d\nc\n"), h);
  EXPECT_NE(hash("a\nb\n", "c\nd \n"), h);
  EXPECT_NE(hash("a\nb\n\n", "c\nd\n\n"), h);  // lines that are skipped count too: line numbers would move
}

TEST(Pairs, Messages) {
  const TempFolder dir;
  std::string many;
  for (int i = 0; i < 1234; ++i) many += "x\n";
  const std::string en = put(dir / "a.en", many), de = put(dir / "a.de", many.substr(2)), one = put(dir / "one", "x\n");
  const std::string three = put(dir / "three.tsv", "a\tb\na\tb\tc\n"), none = put(dir / "none.tsv", "a b\n");
  const struct {
    Strings files;
    DataFormat format;
    std::string says;
  } cases[] = {
      {{en, de},
       DataFormat::lines,
       "data: corpora differ in length: " + en + " has 1,234 lines, " + de +
           " has 1,233\n  fix: look for a lost last line, or set data.truncate = true"},
      {{one, de},
       DataFormat::lines,
       "data: corpora differ in length: " + one + " has 1 line, " + de +
           " has 1,233\n  fix: look for a lost last line, or set data.truncate = true"},
      {{}, DataFormat::lines, "recipe: data.train names no files\n  fix: data.train = [\"train.en\", \"train.de\"]"},
      {{en, de, en},
       DataFormat::lines,
       "recipe: data.train names 3 files: " + en +
           " has no other side\n  fix: name source, target, source, target ...; or set data.format = \"tsv\" for files "
           "of two columns"},
      {{three},
       DataFormat::tsv,
       "data: " + three +
           ":2: 3 columns, wanted 2: source, tab, target\n  fix: name two of them by data.columns = [1, 2]"},
      {{none},
       DataFormat::tsv,
       "data: " + none +
           ":1: 1 column, wanted 2: source, tab, target\n"
           "  fix: look at that line, or set data.format = \"lines\" for a file per side"},
      {{"-", "-"},
       DataFormat::lines,
       "data: data.train: the standard input (-) can be read only once\n  fix: put one side into a file"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(error_with_kind([&] {
                DataSettings options;
                options.format = c.format;
                PairReader reader(c.files, options, "data.train");
                pairs_of(reader);
              }),
              c.says);
}

TEST(DataSettings, FieldsAndLanguages) {
  DataSettings o;
  set_field(o, "train", std::string_view("corpus/train.en.gz,corpus/train.de.gz"));
  set_field(o, "overlong", std::string_view("crop"));
  EXPECT_EQ(o.overlong, Overlong::crop);
  EXPECT_EQ(error_with_kind([&] { set_field(o, "overlong", std::string_view("crob")); }),
            "recipe: overlong = 'crob' is not known: error | skip | crop. Did you mean 'crop'?");
  EXPECT_EQ(error_with_kind([&] { set_field(o, "max_lenght", std::string_view("1")); }),
            "recipe: unknown key 'max_lenght'. Did you mean 'max_length'?");
  using Names = std::array<std::string, 2>;
  EXPECT_EQ(languages_of(o), (Names{"en", "de"}));
  o.languages = {"English", "German"};
  EXPECT_EQ(languages_of(o), (Names{"English", "German"}));
  o.languages = {"English"};
  EXPECT_EQ(error_with_kind([&] { languages_of(o); }),
            "recipe: data.languages has 1 names, wanted 2\n  fix: data.languages = [\"en\", \"de\"]");
  o.languages = {};
  o.train = {"a.txt", "b.txt"};
  EXPECT_EQ(languages_of(o), (Names{"source", "target"}));
}

}  // namespace
}  // namespace attune::test
