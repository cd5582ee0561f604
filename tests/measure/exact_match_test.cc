#include "measure/exact_match.h"

#include <gtest/gtest.h>

#include "attune/version.h"
#include "data/files.h"

namespace attune::test {
namespace {

TEST(ExactMatch, CountsLinesThatEqualAReference) {
  const MetricResult e = measure("exact", {"a", "b", "C", "d "}, {{"a", "x", "c", "d"}, {"y", "b", "z", "d"}});
  EXPECT_EQ(e.details, (std::vector<std::pair<std::string, double>>{{"right", 2}, {"lines", 4}}));
  EXPECT_EQ(e.score, 50);
  EXPECT_EQ(e.signature, "nrefs:2|case:mixed|version:attune." ATTUNE_VERSION);
  EXPECT_EQ(measure("exact", {"C", "Ä"}, {{"c", "ä"}}, {.lowercase = true}).score, 100);
  EXPECT_EQ(measure("exact", {}, {{}}).score, 0);
  EXPECT_EQ(error_with_kind([] { measure("exact", {"a"}, {{}}); }), "data: 1 hypotheses, but 0 references");
}

}  // namespace
}  // namespace attune::test
