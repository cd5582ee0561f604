// Texts within a text that is read on and on: which rows of a window see each other.
#include <gtest/gtest.h>

#include "data/batches.h"

namespace attune {
namespace {

constexpr int32_t kLine = 2;  // the mark at a line's end

/// Files of ids, as one corpus that is read in windows.
Corpus texts(const std::vector<std::vector<int32_t>>& files, int64_t window, bool documents) {
  Corpus c;
  for (const auto& ids : files) c.target.add(ids);
  c.window = window;
  c.documents = documents;
  return c;
}

/// What the segments of an epoch read, one after another.
std::vector<std::vector<int32_t>> read_by_segments(const Corpus& corpus, int64_t tokens) {
  Batches batches(corpus, {.tokens = tokens, .shuffle = false});
  std::vector<std::vector<int32_t>> all;
  Batch b;
  do {
    batches.next(b);
    EXPECT_EQ(b.read.segments.start, b.target().right.segments.start);
    EXPECT_EQ(std::ssize(b.read.streams), b.read.segments.count());
    for (int64_t s = 0; s < b.read.segments.count(); ++s)
      all.emplace_back(b.read.ids.begin() + b.read.segments.begin(s),
                       b.read.ids.begin() + b.read.segments.begin(s + 1));
  } while (b.next.epoch == 0);
  return all;
}

TEST(Documents, EndAtBlankLinesAndFiles) {
  const std::vector<std::vector<int32_t>> files{{11, 12, kLine, 13, kLine, kLine, 14, kLine, kLine, kLine, 15, kLine},
                                                {21, kLine, 22, kLine}};
  using Read = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(read_by_segments(texts(files, 16, false), 16),
            (Read{{1, 11, 12, kLine, 13, kLine, kLine, 14, kLine, kLine, kLine, 15, 1, 21, kLine, 22}}));
  // The mark that is read first is that of the blank line, or of the file's begin.
  EXPECT_EQ(read_by_segments(texts(files, 16, true), 16),
            (Read{{1, 11, 12, kLine, 13, kLine}, {kLine, 14, kLine, kLine}, {kLine, 15}, {1, 21, kLine, 22}}));
}

TEST(Documents, AreCutByWindowsToo) {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 200; ++i) ids.push_back(i % 7 >= 5 ? kLine : 100 + i);  // five words, and a blank line
  for (const bool documents : {false, true})
    for (const int64_t window : {3, 10, 64}) {
      const auto read = read_by_segments(texts({ids}, window, documents), 64);
      std::vector<int32_t> joined;
      for (const auto& s : read) joined.insert(joined.end(), s.begin(), s.end());
      std::vector<int32_t> right = ids;
      std::sort(joined.begin(), joined.end());
      right.back() = 1;  // the last is never read, and the first one's mark is
      std::sort(right.begin(), right.end());
      EXPECT_EQ(joined, right) << window;
      for (const auto& s : read) EXPECT_LE(std::ssize(s), documents ? std::min<int64_t>(window, 7) : window);
    }
}

}  // namespace
}  // namespace attune
