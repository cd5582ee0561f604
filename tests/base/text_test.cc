#include "base/text.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("d_model", "d_model"), 0);
  EXPECT_EQ(edit_distance("d_modle", "d_model"), 1);  // a swap is one mistake
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("flaw", "lawn"), edit_distance("lawn", "flaw"));
}

TEST(Text, ClosestNameIsNearOrNothing) {
  const std::vector<std::string> known{"model.d_model", "model.d_ff", "train.seed", "doctor"};
  EXPECT_EQ(closest_name("model.d_modle", known), "model.d_model");
  EXPECT_EQ(closest_name("docter", known), "doctor");
  EXPECT_EQ(closest_name("train.", known), "train.seed");  // unfinished
  EXPECT_EQ(closest_name("zebra", known), "");
  EXPECT_EQ(closest_name("", known), "");
  EXPECT_EQ(closest_name("x", {}), "");
}

TEST(Text, Numbers) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(29000), "29,000");
  EXPECT_EQ(thousands(-1234567), "-1,234,567");
  EXPECT_EQ(thousands(-123), "-123");
  EXPECT_EQ(thousands(INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1023), "1023 bytes");
  EXPECT_EQ(human_bytes(1024), "1.0 KB");
  EXPECT_EQ(human_bytes(3 << 29), "1.5 GB");
  EXPECT_EQ(human_bytes(512 << 20), "512 MB");
  EXPECT_EQ(human_bytes((int64_t{1} << 30) - 1), "1.0 GB");
}

TEST(Text, Pieces) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join({"a", "b"}, " | "), "a | b");
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

}  // namespace
}  // namespace attune
