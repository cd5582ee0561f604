#include "base/error.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Error, KindsHaveTheirExitCodes) {
  const std::pair<ErrorKind, int> codes[] = {{ErrorKind::usage, 2},  {ErrorKind::recipe, 3},   {ErrorKind::data, 4},
                                             {ErrorKind::model, 5},  {ErrorKind::io, 6},       {ErrorKind::diverged, 7},
                                             {ErrorKind::memory, 8}, {ErrorKind::internal, 70}};
  for (auto [kind, code] : codes) EXPECT_EQ(exit_code(kind), code) << name_of(kind);
  EXPECT_STREQ(name_of(ErrorKind::diverged), "diverged");
}

TEST(Error, CheckNamesTheOperation) {
  EXPECT_NO_THROW(check(true, "op", "never {}", 1));
  try {
    check(false, "layer_norm", "weight has {} elements, row has {}", 512, 256);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_STREQ(e.what(), "[layer_norm] weight has 512 elements, row has 256");
  }
}

TEST(Error, FailCarriesTheKind) {
  try {
    fail(ErrorKind::data, "{} lines", 3);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    EXPECT_STREQ(e.what(), "3 lines");
  }
}

}  // namespace
}  // namespace attune
