#include "measure/label_report.h"

#include <gtest/gtest.h>

namespace attune::test {
namespace {

using Of = LabelReport::Of;
using Lines = std::vector<std::string>;

const LabelScore& score_of(const LabelReport& r, const std::string& label) {
  for (const LabelScore& s : r.labels)
    if (s.label == label) return s;
  throw std::runtime_error("no label " + label);
}

/// "a>b:2" for each, in order.
std::string confusions_of(const LabelReport& r) {
  std::string out;
  for (const Confusion& c : r.confusions) out += c.label + ">" + c.given + ":" + std::to_string(c.count) + " ";
  return out;
}

/// As scikit-learn's precision_recall_fscore_support has it, computed by hand.
TEST(LabelReport, PrecisionRecallAndTheirMeans) {
  const Lines sources{"1", "2", "3", "4", "5", "6", "7"}, right{"a", "a", "a", "b", "b", "c", "a"},
      said{"a", "b", "a", " b", "c", "c ", "b"};
  const LabelReport r = label_report(Of::lines, {sources, right, said});
  ASSERT_EQ(r.labels.size(), 3u);
  EXPECT_EQ(r.labels[0].label, "a") << "the most frequent first";
  EXPECT_NEAR(score_of(r, "a").precision, 100, 1e-9);
  EXPECT_NEAR(score_of(r, "a").recall, 50, 1e-9);
  EXPECT_NEAR(score_of(r, "a").f1, 200.0 / 3, 1e-9);
  EXPECT_NEAR(score_of(r, "b").precision, 100.0 / 3, 1e-9);
  EXPECT_NEAR(score_of(r, "b").recall, 50, 1e-9);
  EXPECT_NEAR(score_of(r, "b").f1, 40, 1e-9);
  EXPECT_NEAR(score_of(r, "c").precision, 50, 1e-9);
  EXPECT_NEAR(score_of(r, "c").recall, 100, 1e-9);
  EXPECT_NEAR(score_of(r, "c").f1, 200.0 / 3, 1e-9);
  EXPECT_EQ(score_of(r, "c").count, 1);
  EXPECT_EQ(score_of(r, "c").found, 2);
  EXPECT_NEAR(r.macro.precision, 550.0 / 9, 1e-9);
  EXPECT_NEAR(r.macro.recall, 200.0 / 3, 1e-9);
  EXPECT_NEAR(r.macro.f1, 520.0 / 9, 1e-9);
  EXPECT_NEAR(r.weighted.precision, (4 * 100 + 2 * 100.0 / 3 + 50) / 7, 1e-9);
  EXPECT_NEAR(r.weighted.recall, 400.0 / 7, 1e-9);
  EXPECT_NEAR(r.weighted.f1, (4 * 200.0 / 3 + 80 + 200.0 / 3) / 7, 1e-9);
  EXPECT_NEAR(r.micro.f1, 400.0 / 7, 1e-9) << "the accuracy";
  EXPECT_EQ(r.macro.count, 7);
  EXPECT_EQ(confusions_of(r), "a>b:2 b>c:1 ");
  EXPECT_NEAR(r.confusions[0].share, 50, 1e-9);
  EXPECT_EQ(r.confusions[0].example, "2");
  EXPECT_EQ(r.confusions[1].example, "5");
}

TEST(LabelReport, IsWhatTheMetricSays) {
  const Lines right{"a b a", "c", "b b"}, said{"a a a", "b", "b c"}, sources{"1", "2", "3"};
  const LabelReport r = label_report(Of::words, {sources, right, said});
  const MetricResult m = measure("f1", said, {right}, {.others = {{"unit", "word"}}});
  EXPECT_NEAR(r.macro.f1, m.score, 1e-9);
  for (const LabelScore& s : m.labels) EXPECT_EQ(score_of(r, s.label).f1, s.f1) << s.label;
}

TEST(LabelReport, LabelsThatAreOnlyGivenOrOnlyThere) {
  const Lines sources{"x"}, right{"there"}, said{"given"};
  const LabelReport r = label_report(Of::lines, {sources, right, said});
  EXPECT_EQ(score_of(r, "there").recall, 0);
  EXPECT_EQ(score_of(r, "given").count, 0);
  EXPECT_EQ(score_of(r, "given").precision, 0);
  const LabelReport none = label_report(Of::lines, {{}, {}, {}});
  EXPECT_TRUE(none.labels.empty());
  EXPECT_EQ(none.weighted.f1, 0);
}

TEST(LabelReport, AWordIsShownAmongItsNeighbours) {
  const Lines sources{"one two three four five six seven eight nine ten", "a pair"},
      right{"O O O O O X O O O O", "O O"}, said{"O O O O O O O O O O", "O X"};
  const LabelReport r = label_report(Of::words, {sources, right, said});
  EXPECT_EQ(confusions_of(r), "O>X:1 X>O:1 ");
  EXPECT_EQ(r.confusions[0].example, "a [pair]");
  EXPECT_EQ(r.confusions[1].example, "… two three four five [six] seven eight nine ten");
  // Nodes of a graph have no words: the name of what they are in.
  const Lines graph{"graph 1"};
  EXPECT_EQ(label_report(Of::words, {graph, {"a b c"}, {"a b b"}}).confusions[0].example, "graph 1");
}

/// As conlleval counts: a span is right when its type and both its ends are.
TEST(LabelReport, SpansByTheirType) {
  const Lines sources{"Ada L met Rome gladly", "Kim"}, right{"B-PER I-PER O B-LOC O", "B-PER"},
      said{"B-PER O O B-ORG B-PER", "B-PER"};
  const LabelReport r = label_report(Of::spans, {sources, right, said});
  EXPECT_EQ(score_of(r, "PER").count, 2);
  EXPECT_EQ(score_of(r, "PER").found, 3);
  EXPECT_EQ(score_of(r, "PER").right, 1);
  EXPECT_NEAR(score_of(r, "PER").f1, 40, 1e-9);
  EXPECT_NEAR(r.micro.f1, measure("span-f1", said, {right}).score, 1e-9);
  EXPECT_EQ(confusions_of(r), "(none)>PER:1 LOC>ORG:1 PER>PER, other words:1 ");
  EXPECT_EQ(r.confusions[1].example, "Ada L met [Rome] gladly");
  EXPECT_EQ(r.confusions[2].example, "[Ada L] met Rome gladly");
  EXPECT_EQ(r.confusions[0].share, 0);
}

TEST(LabelReport, SetsOfLabels) {
  const Lines sources{"1", "2", "3", "4"}, right{"a b", "a", "", "a b c"}, said{"a b", "b", "c", "a"};
  const LabelReport r = label_report(Of::sets, {sources, right, said});
  EXPECT_EQ(confusions_of(r), "(none)>c:1 a>b:1 b>(none):1 c>(none):1 ");
  EXPECT_EQ(score_of(r, "a").right, 2);
  EXPECT_NEAR(score_of(r, "a").recall, 200.0 / 3, 1e-9);
  EXPECT_NEAR(score_of(r, "b").precision, 50, 1e-9);
  EXPECT_NEAR(r.micro.f1, measure("set-f1", said, {right}).score, 1e-9);
}

}  // namespace
}  // namespace attune::test
