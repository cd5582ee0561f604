#include "measure/exact_match.h"

#include <gtest/gtest.h>

#include "attune/version.h"
#include "data/files.h"

namespace attune::test {
namespace {

TEST(ExactMatch, CountsLinesThatEqualAReference) {
  const ExactMatch e = exact_match({"a", "b", "C", "d "}, {{"a", "x", "c", "d"}, {"y", "b", "z", "d"}});
  EXPECT_EQ(e.right, 2);
  EXPECT_EQ(e.lines, 4);
  EXPECT_EQ(e.score, 50);
  EXPECT_EQ(e.signature, "nrefs:2|case:mixed|version:attune." ATTUNE_VERSION);
  EXPECT_EQ(exact_match({"C", "Ä"}, {{"c", "ä"}}, true).score, 100);
  EXPECT_EQ(exact_match({}, {{}}).score, 0);
  EXPECT_EQ(error_of([] { exact_match({"a"}, {{}}); }), "data: 1 hypotheses, but 0 references");
}

}  // namespace
}  // namespace attune::test
