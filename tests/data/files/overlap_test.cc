#include "data/files/overlap.h"

#include "data/files.h"
#include "data/files/pairs.h"
#include "data/row_makers.h"

namespace attune::test {
namespace {

using Strings = std::vector<std::string>;

DataSettings tables(const TempFolder& dir, const std::string& train, const std::string& valid,
                    const std::string& test = "") {
  DataSettings d;
  d.format = DataFormat::tsv;
  d.train = Strings{put(dir / "train.tsv", train)};
  d.valid = {put(dir / "valid.tsv", valid)};
  if (!test.empty()) d.test = {put(dir / "test.tsv", test)};
  return d;
}

TEST(Overlaps, AreCountedByTheText) {
  const TempFolder dir;
  const DataSettings d = tables(dir, "x\tone\nx\ttwo\nx\ttwo\nx\tthree\n", "y\ttwo\ny\ttwo\ny\tfour\n", "x\tfive\n");
  const Overlaps o = count_overlaps(d, Sides::answers);
  EXPECT_EQ(o.valid.examples, 3);
  EXPECT_EQ(o.valid.in_train, 2) << "whatever the label, as often as it is there";
  EXPECT_EQ(o.test.in_train, 0);
  const Strings told = o.sentences();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].starts_with("WARNING: 2 of 3 validation texts (67 %) stand in the training files too: "));
}

TEST(Overlaps, AreToldByHowMuchTheyAre) {
  const Overlap none{100, 0}, two{1000, 2, "lines"}, few{1014, 12, "sources"}, all{60, 60};
  EXPECT_EQ(two.sentence("test"), "2 of 1,000 test lines (0.2 %) stand in the training files too: too few to matter");
  EXPECT_EQ(none.sentence("validation"), "");
  EXPECT_EQ(few.sentence("validation"),
            "12 of 1,014 validation sources (1.2 %) stand in the training files too: the score is a little too good; "
            "leave them out of one");
  EXPECT_TRUE(
      all.sentence("validation").starts_with("WARNING: all 60 validation texts stand in the training files too: "));
  EXPECT_TRUE(all.sentence("test").ends_with("Test on other data, or take them out of data.train"));
}

TEST(Overlaps, OfLinesThatAreNoAccident) {
  const TempFolder dir;
  DataSettings d;
  d.stream = true;
  const std::string verse = "a line that is long enough to be known again\n";
  d.train = Strings{put(dir / "train.txt", "ROMEO:\n" + verse + "\n")};
  d.valid = {put(dir / "valid.txt", "ROMEO:\n\n" + verse + "another one, of about the same length\n")};
  const Overlaps o = count_overlaps(d, Sides::one);
  EXPECT_EQ(o.valid.examples, 2);
  EXPECT_EQ(o.valid.in_train, 1);
}

TEST(Overlaps, OfPictures) {
  const TempFolder dir;
  const Shapes train(20, 1), other(6, 2);
  Shapes mixed = other;
  for (size_t i = 0; i < 3; ++i) mixed.pictures[i] = train.pictures[2 * i];
  DataSettings d;
  d.format = DataFormat::idx;
  d.train = train.put_in(dir.path(), "train");
  d.valid = mixed.put_in(dir.path(), "valid");
  d.test = other.put_in(dir.path(), "test");
  const Overlaps o = count_overlaps(d, Sides::answers);
  EXPECT_EQ(o.valid.examples, 6);
  EXPECT_EQ(o.valid.in_train, 3) << "whatever their labels";
  EXPECT_EQ(o.test.in_train, 0);
  ASSERT_EQ(o.sentences().size(), 1u);
  EXPECT_TRUE(
      o.sentences()[0].starts_with("WARNING: 3 of 6 validation pictures (50 %) stand in the training files too: "));
}

TEST(Overlaps, OfNodesAreThoseThatCountTwice) {
  const TempFolder dir;
  DataSettings d;
  d.format = DataFormat::graph;
  d.train = put_clubs(dir.path(), 10, 1);
  d.test = d.train;
  EXPECT_EQ(count_overlaps(d, Sides::answers).test.in_train, 0) << "one graph, other nodes of it";
  EXPECT_GT(count_overlaps(d, Sides::answers).test.examples, 0);
  const std::string same = "node\tlabel\tsplit\tfeatures\na\tx\t\t1\nb\ty\t\t2\n", edges = "from\tto\na\tb\n";
  d.train = Strings{put(dir / "nodes.tsv", same), put(dir / "edges.tsv", edges)};
  d.test = {put(dir / "copied.tsv", same), put(dir / "copied-edges.tsv", edges)};
  const Overlaps o = count_overlaps(d, Sides::answers);
  EXPECT_EQ(o.test.examples, 2);
  EXPECT_EQ(o.test.in_train, 2);
  EXPECT_TRUE(o.sentences()[0].starts_with("WARNING: all 2 test nodes stand in the training files too: "));
}

TEST(OddRows, AreCountedWithTheirPlaces) {
  const TempFolder dir;
  DataSettings d = tables(dir, "x\ta\nx\tb\tc\n\nx\td\nx\te\tf\n", "x\ta\n");
  PairReader reader(d.train, d, "data.train", Sides::answers);
  for (TextPair p; reader.next(p);) {}
  EXPECT_EQ(reader.report().sentences(Overlong::skip).back(),
            "2 rows have another number of columns than the first of the file (" + (dir / "train.tsv") + ":2, " +
                (dir / "train.tsv") + ":5): read all the same");
  d.header = true;
  d.columns.texts = {"text", "label"};
  put(dir / "train.tsv", "label\ttext\nx\ta\nx\nx\tb\nx\ty\tz\n\nx\n");
  EXPECT_EQ(error_with_kind([&] {
              PairReader named(d.train, d, "data.train", Sides::answers);
              for (TextPair p; named.next(p);) {}
            }).substr(0, ("data: " + (dir / "train.tsv") + ":3: 1 column, wanted 2; 2 more such rows below\n").size()),
            "data: " + (dir / "train.tsv") + ":3: 1 column, wanted 2; 2 more such rows below\n");
}

}  // namespace
}  // namespace attune::test
