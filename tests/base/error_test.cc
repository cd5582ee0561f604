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

TEST(Error, WhatStandsInFilesIsReadable) {
  const auto said = [](const std::string& text) { return std::string(Error(ErrorKind::data, text).what()); };
  EXPECT_EQ(said(std::string("a\0b\x1b[2J\tc\n  fix: d\r\x7f", 20)), "a\\x00b\\x1b[2J\tc\n  fix: d\\x0d\\x7f");
  EXPECT_EQ(said("Gr\xc3\xbc\xc3\x9f\n"), "Gr\xc3\xbc\xc3\x9f\n");
  std::string wide;
  for (int i = 0; i < 5000; ++i) wide += "\xc3\xbc";
  const std::string cut = said("label " + wide + " is none\n  fix: " + wide);
  EXPECT_LT(cut.size(), 2000u);
  EXPECT_TRUE(cut.starts_with("label \xc3\xbc")) << cut;
  EXPECT_NE(cut.find("\xc3\xbc ... \xc3\xbc"), std::string::npos);
  EXPECT_NE(cut.find(" is none\n  fix: \xc3"), std::string::npos);
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
