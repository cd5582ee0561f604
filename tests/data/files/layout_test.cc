// Examples of several typed columns: there and back, on the disk as in memory, shuffled, resumed and cut as ids are.
#include "data/files/layout.h"

#include <gtest/gtest.h>

#include <random>

#include "checks.h"
#include "data/batches.h"
#include "data/corpus/large_corpus.h"
#include "data/corpus/random_corpus.h"
#include "data/files.h"
#include "data/shards.h"

namespace attune::test {
namespace {

const Layout kGraphLayout{{{ColumnUse::values, ColumnType::f32, 3},
                           {ColumnUse::ids, ColumnType::i32, 1},
                           {ColumnUse::places, ColumnType::i32, 2},
                           {ColumnUse::edge_start, ColumnType::i32, 1},
                           {ColumnUse::edge_to, ColumnType::i32, 1},
                           {ColumnUse::edge_label, ColumnType::i32, 1},
                           {ColumnUse::weights, ColumnType::f32, 1}}};

struct TypedExample {
  Rows rows;
  std::vector<float> weights;
};

TypedExample random_example(std::mt19937& random) {
  TypedExample e;
  Rows& r = e.rows;
  const auto n = static_cast<int32_t>(random() % 7);
  r.width = 3;
  r.axes = 2;
  r.edges.start.push_back(0);
  for (int32_t i = 0; i < n; ++i) {
    r.ids.push_back(static_cast<int32_t>(random()));
    for (int c = 0; c < 3; ++c) r.values.push_back(static_cast<float>(static_cast<int32_t>(random())) / 7);
    for (int c = 0; c < 2; ++c) r.places.push_back(static_cast<int32_t>(random() % 100));
    for (unsigned k = random() % 4; k > 0; --k) {
      r.edges.to.push_back(static_cast<int32_t>(random() % static_cast<unsigned>(n)));
      r.edges.label.push_back(static_cast<int32_t>(random() % 5));
    }
    r.edges.start.push_back(static_cast<int32_t>(r.edges.to.size()));
    e.weights.push_back(static_cast<float>(random() % 3));
  }
  r.segments.add(n);
  return e;
}

/// Everything of sequence `s` of some rows is what the example has.
void expect_example(const Rows& rows, int64_t s, const TypedExample& e, const Column<float>* weights) {
  const int64_t from = rows.segments.begin(s), n = rows.segments.length(s);
  ASSERT_EQ(n, e.rows.rows());
  EXPECT_EQ(rows.ids.part(from, n), e.rows.ids);
  EXPECT_EQ(rows.values.part(3 * from, 3 * n), e.rows.values);
  EXPECT_EQ(rows.places.part(2 * from, 2 * n), e.rows.places);
  for (int64_t i = 0; i < n; ++i) {
    const auto own = rows.edges.of(from + i), wanted = e.rows.edges.of(i);
    EXPECT_TRUE(std::equal(own.begin(), own.end(), wanted.begin(), wanted.end())) << i;
  }
  if (weights) { EXPECT_EQ(weights->part(from, n), Column<float>(e.weights)); }
}

TEST(Layout, ThereAndBack) {
  std::mt19937 random(1);
  Layout layout = kGraphLayout;
  Rows all;
  Column<float> weights;
  std::vector<TypedExample> examples;
  int64_t longest = 0;
  for (int i = 0; i < 50; ++i) {
    examples.push_back(random_example(random));
    std::vector<int32_t> run;
    layout.pack(examples.back().rows, examples.back().weights, run);
    longest = std::max(longest, examples.back().rows.rows());
    EXPECT_EQ(layout.rows(run), examples.back().rows.rows());
    EXPECT_EQ(layout.longest, longest);
    layout.unpack(run, all, &weights);
  }
  EXPECT_EQ(all.width, 3);
  EXPECT_EQ(all.axes, 2);
  for (size_t i = 0; i < examples.size(); ++i) expect_example(all, static_cast<int64_t>(i), examples[i], &weights);
}

TEST(Layout, BytesAreExactAndGridsHavePlaces) {
  Layout layout{{{ColumnUse::grid, ColumnType::i32, 1}, {ColumnUse::values, ColumnType::u8, 1}}};
  Rows r;
  r.width = 1;
  r.axes = 2;
  for (int i = 0; i < 256; ++i) r.values.push_back(static_cast<float>(i) / 255);
  const std::vector<int32_t> sizes{64, 4};
  add_grid_places(sizes, r.places);
  r.segments.add(256);
  std::vector<int32_t> run;
  layout.pack(r, run);
  EXPECT_EQ(run.size(), 2u + 2 + 64);  // four bytes in a number
  Rows back;
  layout.unpack(run, back);
  layout.unpack(run, back);
  ASSERT_EQ(back.rows(), 512);
  EXPECT_EQ(back.values.part(256, 256), r.values);
  EXPECT_EQ(back.places.part(512, 512), r.places);
  EXPECT_EQ(back.places[2 * 5], 1);  // pixel 5 of lines of four
  EXPECT_EQ(back.places[2 * 5 + 1], 1);
}

TEST(Layout, SaysWhatIsWrong) {
  Layout layout = kGraphLayout;
  Rows all;
  Column<float> weights;
  const std::vector<int32_t> few{1, 2}, odd{1, 2, 1, 2, 0, 0, 1, 5, 5, 5};
  EXPECT_EQ(error_of([&] { layout.unpack(few, all, &weights); }), "[layout] a run of 2 numbers has no 7 columns");
  EXPECT_NE(error_of([&] { layout.unpack(odd, all, &weights); }).find("column 1 has 2 rows, the example 1"),
            std::string::npos);
}

/// A corpus of such examples and a label each.
struct TypedCorpus {
  std::vector<TypedExample> examples;
  Corpus memory;
  TrainingData disk;
  TempFolder folder{memory_folder()};

  explicit TypedCorpus(int count) {
    std::mt19937 random(3);
    Layout source{{kGraphLayout.columns.begin(), kGraphLayout.columns.end() - 1}};  // no weights
    CorpusPlace place;
    place.folder = folder.path();
    place.in_memory = 100;
    LargeCorpus large(Sides::answers, false, &place);
    for (int i = 0; i < count; ++i) {
      examples.push_back(random_example(random));
      std::vector<int32_t> run;
      source.pack(examples.back().rows, run);
      const std::vector<int32_t> label{i % 5};
      memory.add({run, label, 1}, Sides::answers);
      large.add({run, label, 1});
    }
    memory.answers = true;
    memory.source_layout = source;
    CorpusManifest m;
    m.source_layout = source;
    large.finish(HoldOut(1), false, 0, std::move(m), disk);
    disk.train.answers = true;
  }
};

TEST(Layout, BatchesOfTheDiskAreThoseOfMemory) {
  const TypedCorpus c(200);
  ASSERT_TRUE(c.disk.train.stored);
  EXPECT_EQ(c.disk.train.longest(), c.memory.longest());
  Batches one(c.memory, {.tokens = 40, .seed = 5}), other(c.disk.train, {.tokens = 40, .seed = 5});
  Batch x, y;
  std::vector<int> seen(200, 0);
  while (one.position().epoch < 2) {
    one.next(x);
    other.next(y);
    expect_equal(x, y);
    ASSERT_LE(x.source_tokens(), 40);
    for (int64_t s = 0; s < x.size(); ++s) {
      const int32_t number = x.examples[static_cast<size_t>(s)];
      ++seen[static_cast<size_t>(number)];
      expect_example(x.source, s, c.examples[static_cast<size_t>(number)], nullptr);
      expect_example(y.source, s, c.examples[static_cast<size_t>(number)], nullptr);
      EXPECT_EQ(x.target().right.ids[static_cast<size_t>(s)], number % 5);
    }
  }
  for (const int times : seen) EXPECT_EQ(times, 2);
}

TEST(Layout, AResumedPositionHasTheSameBatches) {
  const TypedCorpus c(100);
  Batches whole(c.disk.train, {.tokens = 30, .seed = 5});
  Batch x, y;
  for (int i = 0; i < 40; ++i) whole.next(x);
  Batches resumed(c.disk.train, {.tokens = 30, .seed = 5});
  resumed.seek(x.next);
  for (int i = 0; i < 40; ++i) {
    whole.next(x);
    resumed.next(y);
    expect_equal(x, y);
    EXPECT_EQ(x.source.values, y.source.values);
    EXPECT_EQ(x.source.edges.to, y.source.edges.to);
  }
}

TEST(Layout, ShardsHaveWhatIsTheirs) {
  const TypedCorpus c(300);
  Batches batches(c.memory, {.tokens = 600, .seed = 5});
  Batch batch;
  batches.next(batch);
  Shards shards;
  cut(batch, 2, shards);
  ASSERT_EQ(shards.size(), 2u);
  int64_t row = 0;
  for (const Batch& s : shards) {
    EXPECT_EQ(s.source.first_row, row);
    row += s.source.rows();
    for (int64_t i = 0; i < s.size(); ++i)
      expect_example(s.source, i, c.examples[static_cast<size_t>(s.examples[static_cast<size_t>(i)])], nullptr);
  }
  EXPECT_EQ(row, batch.source.rows());
}

}  // namespace
}  // namespace attune::test
