#include "checkpoint/state.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "checks.h"

namespace attune {
namespace {

uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

TEST(State, EverythingComesBackBitByBit) {
  using L = std::numeric_limits<double>;
  const double doubles[] = {0.0,
                            -0.0,
                            1.0,
                            0.1,
                            1e300,
                            -5e-324,
                            L::min(),
                            L::min() / 3,
                            L::max(),
                            L::infinity(),
                            -L::infinity(),
                            L::quiet_NaN(),
                            std::nan("5"),
                            std::bit_cast<double>(0x7ff0000000000001ull),
                            1.0 / 3,
                            123456789012345678.0};
  State state;
  int n = 0;
  for (const double x : doubles) state.set("d" + std::to_string(n++), x);
  Random random(3);
  std::vector<double> any;
  for (int i = 0; i < 1000; ++i) {
    any.push_back(std::bit_cast<double>(random.next()));
    state.set("any" + std::to_string(i), any.back());
  }
  state.set("least", std::numeric_limits<int64_t>::min());
  state.set("most", std::numeric_limits<int64_t>::max());
  state.set_key("key", 0xfedcba9876543210ull);
  state.set("text", "two\nlines \"quoted\" \u00e4 bits 1.0");
  state.set("empty", "");

  const std::string json = state.to_json();
  const State back = State::from_json(json, "t.json");
  EXPECT_EQ(back.to_json(), json);
  n = 0;
  for (const double x : doubles) EXPECT_EQ(bits(back.number("d" + std::to_string(n++))), bits(x)) << x;
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(bits(back.number("any" + std::to_string(i))), bits(any[static_cast<size_t>(i)]));
  EXPECT_EQ(back.whole("least"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(back.whole("most"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(back.key("key"), 0xfedcba9876543210ull);
  EXPECT_EQ(back.text("text"), state.text("text"));
  EXPECT_EQ(back.text("empty"), "");
  EXPECT_TRUE(back.has("key"));
  EXPECT_FALSE(back.has("lock"));
}

TEST(State, ErrorsNameFileAndEntry) {
  const State s = State::from_json(R"({"step": 3, "loss": 1.5})", "trainer.json");
  const auto begins = [](const std::string& text, const std::string& with) {
    EXPECT_EQ(text.substr(0, text.find('\n')), with);
  };
  begins(error_of([&] { s.whole("epoch"); }, ErrorKind::model), "trainer.json: 'epoch' is missing");
  begins(error_of([&] { s.whole("loss"); }, ErrorKind::model), "trainer.json: 'loss' is not a whole number");
  begins(error_of([&] { s.text("step"); }, ErrorKind::model), "trainer.json: 'step' is not a text");
  for (const char* bad : {"", "{", "[]", "3", "null", R"({"a": null})", R"({"a": [1]})", R"({"a": {"bits": 3}})",
                          R"({"a": {"bits": "zz"}})", R"({"a": {"bits": "00000000000000000"}})",
                          R"({"a": 18446744073709551615})", R"({"a": true})"})
    error_of([&] { State::from_json(bad, "t.json"); }, ErrorKind::model);
}

}  // namespace
}  // namespace attune
