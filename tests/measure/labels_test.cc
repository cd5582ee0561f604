#include "measure/labels.h"

#include <gtest/gtest.h>

#include "measure/spans.h"

namespace attune::test {
namespace {

TEST(Labels, ALineIsALabel) {
  const MetricTextLines said{"World news", "sports ", "sports", "tech"}, right{"World news", "sports", "tech", "tech"};
  EXPECT_EQ(measure("accuracy", said, {right}).score, 75);
  const MetricResult f = measure("f1", said, {right});
  ASSERT_EQ(f.labels.size(), 3u);
  EXPECT_EQ(f.labels[0].label, "World news");
  EXPECT_EQ(f.labels[1].precision, 50);
  EXPECT_EQ(f.labels[1].recall, 100);
  EXPECT_EQ(f.labels[2].count, 2);
  EXPECT_EQ(f.labels[2].found, 1);
  EXPECT_EQ(f.labels[2].right, 1);
  EXPECT_NEAR(f.score, (100 + 200.0 / 3 + 200.0 / 3) / 3, 1e-12);
}

TEST(Labels, ColumnsOfConll) {
  const MetricTextLines columns{"-DOCSTART- O", "", "Ann NNP B-PER", "Lee NNP I-PER", " ", "", "ran\tVBD\tO", ""};
  EXPECT_EQ(conll_labels(columns), (MetricTextLines{"O", "B-PER I-PER", "O"}));
  const MetricTextLines right{"B-PER", "I-PER", "", "B-LOC"}, said{"B-PER", "I-PER", "", "O"};
  const MetricOptions conll{.others = {{"format", "conll"}}};
  const MetricResult r = measure("span-f1", said, {right}, conll);
  EXPECT_NEAR(r.score, 200.0 / 3, 1e-12);
  EXPECT_NEAR(measure("accuracy", said, {right}, conll).score, 200.0 / 3, 1e-12);
}

TEST(Spans, OfBioAndBioes) {
  const auto spans = [](const std::vector<std::string_view>& tags) {
    std::string out;
    for (const LabelSpan& s : tagged_spans(tags))
      out += std::string(s.type) + std::to_string(s.first) + "-" + std::to_string(s.last) + " ";
    return out;
  };
  EXPECT_EQ(spans({"B-A", "I-A", "O", "B-A", "B-A"}), "A0-1 A3-3 A4-4 ");
  EXPECT_EQ(spans({"I-A", "I-A", "I-B", "O"}), "A0-1 B2-2 ") << "IOB1";
  EXPECT_EQ(spans({"S-A", "B-A", "I-A", "E-A", "S-B"}), "A0-0 A1-3 B4-4 ");
  EXPECT_EQ(spans({"B", "I", "O"}), "_0-1 ");
  EXPECT_EQ(spans({}), "");
}

}  // namespace
}  // namespace attune::test
