// Files of pictures and graphs: what they hold, and what is said about those that are broken.
#include "data/files/row_files.h"

#include <gtest/gtest.h>

#include "data/corpus/row_corpus.h"
#include "data/corpus/training_data.h"
#include "data/row_makers.h"

namespace attune::test {
namespace {

std::string trouble_of_pictures(const std::vector<std::string>& files, bool answers = true) {
  return error_with_kind([&] {
    const auto reader = open_rows({files, "data.train", answers}, DataFormat::idx);
    for (RowExample e; reader->next(e);) {}
  });
}

TEST(Pictures, AreRowsOfPixelsWithPlaces) {
  TempFolder dir(memory_folder());
  const std::vector<std::string> files{
      put(dir / "p.gz", gzipped(idx_pictures({std::string("\0\x33\x66\x99\xcc\xff", 6), "abcdef"}, 2, 3))),
      put(dir / "l", idx_labels(std::string("\7\0", 2)))};
  const auto reader = open_rows({files, "data.train"}, DataFormat::idx);
  EXPECT_EQ(reader->shape().width, 1);
  EXPECT_EQ(reader->shape().grid, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(reader->shape().longest, 6);
  RowExample e;
  ASSERT_TRUE(reader->next(e));
  EXPECT_EQ(e.source.values, (Column<float>{0, 0.2f, 0.4f, 0.6f, 0.8f, 1}));
  EXPECT_EQ(e.source.places, (Column<int32_t>{0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}));
  EXPECT_EQ(e.answers, std::vector<std::string>{"7"});
  EXPECT_EQ(e.name, "p.gz:1");
  ASSERT_TRUE(reader->next(e));
  EXPECT_EQ(e.answers, std::vector<std::string>{"0"});
  EXPECT_FALSE(reader->next(e));
}

TEST(Pictures, BrokenFilesAreNamed) {
  TempFolder dir(memory_folder());
  const std::string good = idx_pictures({"abcd", "efgh"}, 2, 2), labels = idx_labels("ab");
  const std::string p = put(dir / "p", good), l = put(dir / "l", labels);
  EXPECT_EQ(trouble_of_pictures({p, l}), "nothing was thrown");
  EXPECT_EQ(trouble_of_pictures({p}),
            "recipe: data.train names 1 file, and pictures go with their labels\n  fix: data.train = "
            "[\"train-images-idx3-ubyte.gz\", \"train-labels-idx1-ubyte.gz\"]");
  EXPECT_EQ(trouble_of_pictures({l, p}),
            "data: " + l +
                ": no IDX file of pictures: it begins with 00000801, not with 00000803\n"
                "  fix: name files of pictures, and after each its labels where they are asked "
                "for");
  EXPECT_NE(trouble_of_pictures({put(dir / "text", "some words\n"), l}).find("no IDX file of pictures"),
            std::string::npos);
  EXPECT_NE(trouble_of_pictures({put(dir / "empty", ""), l}).find("it ends after 0 of 0 entries"), std::string::npos);
  EXPECT_EQ(trouble_of_pictures({p, put(dir / "l3", idx_labels("abc"))}),
            "data: " + p + " has 2 pictures, " + dir / "l3" + " has 3 labels\n  fix: name files that belong together");
  EXPECT_EQ(trouble_of_pictures({put(dir / "short", good.substr(0, good.size() - 1)), l}),
            "data: " + dir / "short" + ": it ends after 1 of 2 entries\n  fix: fetch the file again");
  EXPECT_EQ(trouble_of_pictures({put(dir / "long", good + "x"), l}),
            "data: " + dir / "long" + ": there is more behind the 2 that it says it has\n  fix: check the file");
  const std::string zipped = gzipped(good);
  EXPECT_NE(trouble_of_pictures({put(dir / "cut.gz", zipped.substr(0, zipped.size() - 12)), l})
                .find("data: " + dir / "cut.gz"),
            std::string::npos);
  // What a .gz says of itself at its end: a checksum and its length.
  for (const size_t back : {1, 5}) {
    std::string broken = zipped;
    broken[broken.size() - back] = static_cast<char>(broken[broken.size() - back] ^ 1);
    EXPECT_NE(trouble_of_pictures({put(dir / "b.gz", broken), l}).find("data: " + dir / "b.gz"), std::string::npos);
  }
  EXPECT_NE(trouble_of_pictures({put(dir / "b.gz", zipped.substr(0, zipped.size() - 4)), l}).find("fetch the file"),
            std::string::npos);
  EXPECT_NE(trouble_of_pictures({"-"}, false).find("can't come through a pipe"), std::string::npos);
  // Sizes that would take all memory, or none.
  const auto of_size = [&](uint32_t count, uint32_t h, uint32_t w) {
    return trouble_of_pictures(
        {put(dir / "huge", idx_number(0x803) + idx_number(count) + idx_number(h) + idx_number(w))}, false);
  };
  EXPECT_NE(of_size(2, 0xffffffff, 0xffffffff).find("pictures of 4294967295 x 4294967295 pixels, wanted 1 to 4096"),
            std::string::npos);
  EXPECT_NE(of_size(2, 0, 4).find("pictures of 0 x 4"), std::string::npos);
  EXPECT_NE(of_size(0, 4, 4).find("it says that it has nothing"), std::string::npos);
  EXPECT_NE(of_size(0xffffffff, 4, 4).find("it ends after 0 of 4,294,967,295 entries"), std::string::npos);
}

std::string trouble_of_graph(const std::string& folder, const std::string& nodes, const std::string& edges) {
  return error_with_kind([&] {
    const auto reader =
        open_rows({{put(folder + "/n", nodes), put(folder + "/e", edges)}, "data.train"}, DataFormat::graph);
    for (RowExample e; reader->next(e);) {}
  });
}

TEST(Graphs, AreOneExampleWithEdgesBothWays) {
  TempFolder dir(memory_folder());
  const std::string nodes = put(dir / "n.tsv", "node\tlabel\tsplit\tids\na\tx\ttrain\t0 2\nb\ty\tval\t1\nc\t-\t\t\n");
  const std::string edges = put(dir / "e.tsv", "a\tb\nb\ta\nb\tc\n");
  for (const auto& [key, weights] :
       {std::pair<std::string, std::vector<float>>{"data.train", {1, 0, 0}}, {"data.valid", {0, 1, 0}}}) {
    const auto reader = open_rows({{nodes, edges}, key}, DataFormat::graph);
    EXPECT_EQ(reader->shape().width, 3);
    RowExample e;
    ASSERT_TRUE(reader->next(e));
    EXPECT_EQ(e.source.values, (Column<float>{0.5f, 0, 0.5f, 0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(e.source.edges.start, (Column<int32_t>{0, 2, 5, 7}));
    EXPECT_EQ(e.source.edges.to, (Column<int32_t>{0, 1, 0, 1, 2, 1, 2}));
    EXPECT_EQ(e.answers, (std::vector<std::string>{"x", "y", ""}));
    EXPECT_EQ(e.weights, weights) << key;
    EXPECT_FALSE(reader->next(e));
  }
  const auto values = open_rows(
      {{put(dir / "v.tsv", "\na\tx\t\t0.5 -1\nb\ty\t-\t2 3e-1\n"), put(dir / "self", "a\ta\n")}, "data.train"},
      DataFormat::graph);
  RowExample e;
  ASSERT_TRUE(values->next(e));
  EXPECT_EQ(e.source.values, (Column<float>{0.5f, -1, 2, 0.3f}));
  EXPECT_EQ(e.weights, (std::vector<float>{1, 1}));  // no split at all: whatever has a label
  EXPECT_EQ(e.source.edges.to, (Column<int32_t>{0, 1}));
}

TEST(Graphs, BrokenFilesAreNamed) {
  TempFolder dir(memory_folder());
  const std::string at = "data: " + dir / "n";
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrain\n", ""),
            at + ":1: 3 columns, wanted 4: node, label, split, features\n  fix: separate columns by tabs, and features "
                 "by blanks");
  EXPECT_EQ(trouble_of_graph(dir.path(), "", ""), at + ": there are no nodes\n  fix: check the file");
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrain\t1\na\tx\ttrain\t1\n", ""),
            at + ":2: node \"a\" comes twice\n  fix: give each node one line");
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx y\ttrain\t1\n", ""),
            at + ":1: the label \"x y\" has a blank\n  fix: write _ instead");
  EXPECT_EQ(
      trouble_of_graph(dir.path(), "a\tx\ttrain\t1 z\n", ""),
      at + ":1: the feature \"z\" is no column's number from 0 to 1,048,575\n  fix: write numbers with blanks between");
  EXPECT_NE(trouble_of_graph(dir.path(), "a\tx\ttrain\t99999999999\n", "").find("is no column's number"),
            std::string::npos);
  EXPECT_NE(
      trouble_of_graph(dir.path(), "a\tx\ttrain\t0.5\nb\tx\ttrain\t1 2\n", "").find("2 features, the first node has 1"),
      std::string::npos);
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrain\t\n", ""),
            at + ": no node has features\n  fix: fill the fourth column");
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrain\t1\n", "a\tb\n"),
            "data: " + dir / "e" + ":1: there is no node \"b\"\n  fix: name nodes as the first column of n does");
  EXPECT_NE(trouble_of_graph(dir.path(), "a\tx\tTest\t1\n", "a\ta\n")
                .find("no node of n has the split \"train\" and a label"),
            std::string::npos);
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrian\t1\n", ""),
            at + ":1: the split \"trian\" is none of train, valid, test\n  fix: write one of them, or - for none");
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrain\t1\nb\ty\tunlabelled\t1\nc\t-\tnone\t1\n", "a\tb\n"),
            "nothing was thrown");
  EXPECT_EQ(trouble_of_graph(dir.path(), "node\tsplit\tlabel\tfeatures\na\ttrain\tx\t1\n", ""),
            at + ":1: the columns are node, split, label, features, wanted node, label, split, features\n"
                 "  fix: bring them into this order");
  EXPECT_NE(trouble_of_graph(dir.path(), "a\tx\ttrain\t0.1\t0.2\n", "").find("5 columns, wanted 4"), std::string::npos);
  EXPECT_EQ(trouble_of_graph(dir.path(), "a\tx\ttrain\t1\n", "from\tto\n"),
            "data: " + dir / "e" + ": there are no edges\n  fix: name the nodes, then their edges");
  EXPECT_NE(trouble_of_graph(dir.path(), "a\tx\ttrain\t1\n", "a\ta\t0.5\n").find("3 columns, wanted two"),
            std::string::npos);
}

/// Before the names of columns may be lines without anything; a column that is named twice counts twice.
TEST(Graphs, BlankLinesAndColumnsTwice) {
  TempFolder dir(memory_folder());
  const auto reader =
      open_rows({{put(dir / "n", "\nnode\tlabel\tsplit\tfeatures\na\t - \ttrain\t0 0 1 2\nb\tx\ttrain\t1\n"),
                  put(dir / "e", "\nfrom\tto\na\ta\n")},
                 "data.train"},
                DataFormat::graph);
  RowExample e;
  ASSERT_TRUE(reader->next(e));
  EXPECT_EQ(e.source.values, (Column<float>{0.5f, 0.25f, 0.25f, 0, 1, 0}));
  EXPECT_EQ(e.answers, (std::vector<std::string>{"", "x"}));
}

/// What is read must be what was learned from: columns by number, or values.
TEST(Graphs, FeaturesOfAnotherKindAreRefused) {
  TempFolder dir(memory_folder());
  const std::string edges = put(dir / "e", "a\ta\n"), numbers = put(dir / "n", "a\tx\ttrain\t1 3\n"),
                    values = put(dir / "v", "a\tx\ttrain\t0.5 1 2\n"), fewer = put(dir / "f", "a\tx\ttrain\t0.5 1\n");
  const auto trouble = [&](const std::string& learned, const std::string& read) {
    return error_with_kind([&] {
      const RowShape known = open_rows({{learned, edges}, "data.train"}, DataFormat::graph)->shape();
      const auto reader = open_rows({{read, edges}, "data.test"}, DataFormat::graph);
      reader->widen(known.width);
      check_row_shape(reader->shape(), known, "data.test");
    });
  };
  EXPECT_NE(trouble(numbers, values).find("data.test: features are values, and the model reads numbers of columns"),
            std::string::npos);
  EXPECT_NE(trouble(values, numbers).find("features are numbers of columns, and the model reads values"),
            std::string::npos);
  EXPECT_NE(trouble(values, fewer).find("rows of 2 numbers, and the model reads 3"), std::string::npos);
  EXPECT_EQ(trouble(numbers, put(dir / "n2", "a\tx\ttrain\t1\n")), "nothing was thrown");
  EXPECT_NE(error_with_kind([&] {
              open_rows({{numbers, edges, values, edges}, "data.train"}, DataFormat::graph);
            }).find("other features than those of " + numbers),
            std::string::npos);
}

/// Nodes of the graph that is trained on are others only where a split says so.
TEST(Graphs, WithoutSplitsNothingIsLeftToValidateOn) {
  TempFolder dir(memory_folder());
  const std::string nodes = put(dir / "n", "a\tx\t\t1\n"), edges = put(dir / "e", "a\ta\n");
  RowExample e;
  EXPECT_TRUE(open_rows({{nodes, edges}, "data.valid"}, DataFormat::graph)->next(e));
  EXPECT_EQ(
      error_with_kind([&] {
        open_rows({{nodes, edges}, "data.valid", true, true}, DataFormat::graph)->next(e);
      }),
      "data: data.valid: no node of n has a split, so all are trained on\n  fix: write train, valid or test into its "
      "third column, or name other files for it");
}

Encoders shape_encoders(int64_t side) {
  Encoders e;
  e.answers = true;
  e.rows = std::make_shared<const RowShape>(RowShape{1, {side, side}, side * side});
  e.target = [](std::string_view text) { return std::vector<int32_t>{text[0] - '0'}; };
  return e;
}

TEST(Pictures, AreHeldOutWithTheirCopies) {
  TempFolder dir(memory_folder());
  Shapes shapes(100, 1);
  for (int i = 0; i < 100; ++i) {  // each twice
    shapes.pictures.push_back(shapes.pictures[static_cast<size_t>(i)]);
    shapes.labels += shapes.labels[static_cast<size_t>(i)];
  }
  DataSettings o;
  o.format = DataFormat::idx;
  o.train = shapes.put_in(dir.path(), "train");
  const TrainingData data = read_training_data(o, shape_encoders(8), 1, nullptr);
  EXPECT_EQ(data.valid.size(), 2);  // 2 % of 100 different ones
  EXPECT_EQ(data.train.size(), 196);
  EXPECT_TRUE(data.held_out);
  EXPECT_TRUE(data.valid_source[0].starts_with("train-images.gz:"));
  EXPECT_EQ(data.valid_target[0].size(), 1u);
  const std::string small = error_with_kind([&] { read_training_data(o, shape_encoders(4), 1, nullptr); });
  EXPECT_EQ(small,
            "data: data.train: pictures of up to 8 x 8 pixels, and the model knows 4 x 4\n  fix: make them smaller, or "
            "train on such pictures");
}

TEST(RowShape, IsKeptInAFile) {
  TempFolder dir(memory_folder());
  const RowShape shape{3, {28, 17}, 476};
  shape.save(dir.path());
  const RowShape back = RowShape::load(dir.path());
  EXPECT_EQ(back.width, 3);
  EXPECT_EQ(back.grid, shape.grid);
  EXPECT_EQ(back.longest, 476);
  EXPECT_FALSE(back.by_column);
  RowShape{3, {}, 476, true}.save(dir.path());
  EXPECT_TRUE(RowShape::load(dir.path()).by_column);
  for (const char* text :
       {"", "attune rows 1\nwidth = 3\ngrid = 28 18\nlongest = 476\nhash = 0\n", "attune rows 2\n"}) {
    put(dir / RowShape::kFile, text);
    EXPECT_NE(
        error_with_kind([&] { RowShape::load(dir.path()); }).find("this does not say what the rows of a source are"),
        std::string::npos);
  }
}

}  // namespace
}  // namespace attune::test
