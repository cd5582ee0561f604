#include "measure/resample.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/likelihood.h"
#include "measure/numpy_random.h"
#include "places.h"

namespace attune::test {
namespace {

TEST(Resample, DrawsAreNumpys) {
  const auto golden = nlohmann::json::parse(std::ifstream(source_dir() + "/tests/golden/metrics.json"))["draws"];
  ASSERT_FALSE(golden.empty());
  for (const auto& g : golden) {
    NumpyRandom random(g["seed"].get<uint64_t>()), bits(g["seed"].get<uint64_t>());
    for (uint32_t x : g["few"]) EXPECT_EQ(random.below(10), x);
    for (uint32_t x : g["many"]) EXPECT_EQ(random.below(3004), x);
    for (uint32_t x : g["huge"]) EXPECT_EQ(random.below(3u << 30), x);
    for (int x : g["bits"]) EXPECT_EQ(bits.bit(), x == 1);
  }
}

TEST(Resample, EqualSystemsDoNotDiffer) {
  const MetricTextLines a{"a b c d e", "f g h i", "j k l m n o", "p q r s"},
      r{"a b c d x", "f g h i", "j k y m n o", "p q r z"};
  for (const char* test : {"bootstrap", "randomization"}) {
    const auto results = measure_systems("chrf", {a, a}, {r}, {}, {.paired = test, .samples = 50});
    EXPECT_FALSE(results[0].p_value.has_value());
    EXPECT_GT(*results[1].p_value, 0.01) << test;
  }
  EXPECT_EQ(measure_systems("bleu", {a}, {r}, {}, {.confidence = true, .samples = 50})[0].signature.substr(0, 25),
            "nrefs:1|bs:50|seed:12345|");
}

TEST(Likelihood, OfSummedLogarithms) {
  EXPECT_NEAR(perplexity(-4 * std::log(8.0), 4), 8, 1e-12);
  EXPECT_NEAR(bits_per(-4 * std::log(8.0), 4), 3, 1e-12);
  EXPECT_NEAR(bits_per(-4 * std::log(8.0), 12), 1, 1e-12);
  EXPECT_EQ(perplexity(0, 0), 1);
  EXPECT_EQ(bits_per(0, 0), 0);
}

}  // namespace
}  // namespace attune::test
