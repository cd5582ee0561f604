#include "measure/alignment_error.h"

#include "checks.h"

namespace attune {
namespace {

double detail(const MetricResult& r, const std::string& name) {
  for (const auto& [known, value] : r.details)
    if (known == name) return value;
  return -1;
}

MetricResult alignment_error(const MetricTextLines& hypotheses, const MetricTextLines& reference) {
  return measure("aer", hypotheses, {reference});
}

TEST(AlignmentError, IsThatOfOchAndNey) {
  // A = {0-0, 1-1, 2-2, 3-3}, S = {0-0, 1-1, 4-4}, P = S and {2-2}: 1 - (2 + 3) / (4 + 3)
  const MetricResult e = alignment_error({"0-0 1-1", "2-2 3-3"}, {"0-0 1-1", "2p2 4-4"});
  EXPECT_NEAR(e.score, 100 * (1 - 5.0 / 7), 1e-12);
  EXPECT_NEAR(detail(e, "precision"), 75, 1e-12);
  EXPECT_NEAR(detail(e, "recall"), 100 * 2.0 / 3, 1e-12);
  EXPECT_EQ(detail(e, "links"), 4);
}

TEST(AlignmentError, EndsOfTheScale) {
  EXPECT_EQ(alignment_error({"0-0 1-1"}, {"1-1\t0-0"}).score, 0);
  EXPECT_EQ(alignment_error({"0-1"}, {"1-0"}).score, 100);
  EXPECT_EQ(alignment_error({"0-0 0-0"}, {"0-0"}).score, 0) << "a link is there once";
  EXPECT_EQ(alignment_error({"0-0 0-1"}, {"0-0 0p1"}).score, 0) << "what is possible is no error";
  EXPECT_EQ(alignment_error({"0-0"}, {"0-0 0p1"}).score, 0) << "and it is none to leave it out";
  EXPECT_EQ(alignment_error({"", ""}, {"", ""}).score, 0);
  EXPECT_EQ(alignment_error({""}, {"0-0"}).score, 100);
  EXPECT_EQ(alignment_error({}, {}).score, 0);
}

TEST(AlignmentError, Messages) {
  EXPECT_EQ(error_of(
                [] {
                  alignment_error({"", "0-0 a dog"}, {"", ""});
                },
                ErrorKind::data),
            "line 2 of the hypotheses: 'a' is no link of two words\n  fix: write pairs of numbers: 0-0 1-2");
  EXPECT_EQ(error_of([] { alignment_error({""}, {"0=0"}); }, ErrorKind::data),
            "line 1 of the reference: '0=0' is no link of two words\n  fix: write pairs of numbers: 0-0 1-2");
}

}  // namespace
}  // namespace attune
