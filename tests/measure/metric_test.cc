// Every metric against values of the programs that people know, stored in tests/golden/metrics.json.
#include "measure/metric.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "attune/version.h"
#include "data/files.h"
#include "places.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json json = Json::parse(std::ifstream(source_dir() + "/tests/golden/metrics.json"));
  return json;
}

MetricOptions options_of(const Json& json) {
  MetricOptions options;
  for (const auto& [name, value] : json.items()) options.others.emplace_back(name, value.get<std::string>());
  return options;
}

double detail(const MetricResult& r, const std::string& name) {
  for (const auto& [known, value] : r.details)
    if (known == name) return value;
  ADD_FAILURE() << r.name << " tells no " << name;
  return -1;
}

TEST(Metrics, AgreeWithOtherPrograms) {
  ASSERT_GT(golden()["cases"].size(), 100u);
  for (const Json& c : golden()["cases"]) {
    const Json& texts = golden()["sets"][c["set"].get<std::string>()];
    auto references = texts["references"].get<std::vector<MetricTextLines>>();
    references.resize(c["references"].get<size_t>());
    MetricOptions options = options_of(c["options"]);
    const MetricResult r = measure(c["metric"], texts["systems"][0].get<MetricTextLines>(), references, options);
    EXPECT_NEAR(r.score, c["score"].get<double>(), 1e-9) << c["set"] << c["metric"] << c["options"];
    const Json details = c.value("details", Json::object());
    for (const auto& [name, value] : details.items())
      EXPECT_NEAR(detail(r, name), value.get<double>(), 1e-9) << c["set"] << c["metric"] << c["options"] << name;
    if (c.contains("signature")) {
      const std::string theirs = c["signature"];
      EXPECT_EQ(r.signature, theirs.substr(0, theirs.rfind(':')) + ":attune." ATTUNE_VERSION);
    }
    options.threads = 3;
    EXPECT_EQ(measure(c["metric"], texts["systems"][0].get<MetricTextLines>(), references, options).score, r.score);
  }
}

TEST(Metrics, LabelsAndSpansAgreeWithOtherPrograms) {
  for (const Json& c : golden()["labels"]) {
    const auto said = c["said"].get<MetricTextLines>(), right = c["right"].get<MetricTextLines>();
    const MetricResult spans = measure("span-f1", said, {right});
    EXPECT_NEAR(spans.score, c["span-f1"].get<double>(), 1e-9);
    EXPECT_NEAR(detail(spans, "precision"), c["span_precision"].get<double>(), 1e-9);
    EXPECT_NEAR(detail(spans, "recall"), c["span_recall"].get<double>(), 1e-9);
    EXPECT_NEAR(detail(spans, "accuracy"), c["accuracy"].get<double>(), 1e-9);
    const MetricOptions words{.others = {{"unit", "word"}}};
    EXPECT_NEAR(measure("accuracy", said, {right}, words).score, c["accuracy"].get<double>(), 1e-9);
    for (const char* average : {"macro", "micro", "weighted"}) {
      MetricOptions options = words;
      options.others.emplace_back("average", average);
      const MetricResult f1 = measure("f1", said, {right}, options);
      EXPECT_NEAR(detail(f1, "precision"), c[average][0].get<double>(), 1e-9) << average;
      EXPECT_NEAR(detail(f1, "recall"), c[average][1].get<double>(), 1e-9) << average;
      EXPECT_NEAR(f1.score, c[average][2].get<double>(), 1e-9) << average;
    }
  }
}

TEST(Metrics, TestsOfSignificanceAreSacreBleus) {
  for (const Json& c : golden()["tests"]) {
    const Json& texts = golden()["sets"][c["set"].get<std::string>()];
    const MetricTests tests{.paired = c["paired"], .samples = c["samples"], .seed = c["seed"]};
    const auto results = measure_systems(c["metric"], texts["systems"].get<std::vector<MetricTextLines>>(),
                                         texts["references"].get<std::vector<MetricTextLines>>(), {}, tests);
    ASSERT_EQ(results.size(), c["systems"].size());
    const std::string theirs = c["signature"];
    EXPECT_EQ(results[0].signature, theirs.substr(0, theirs.rfind(':')) + ":attune." ATTUNE_VERSION);
    for (size_t i = 0; i < results.size(); ++i) {
      const Json& s = c["systems"][i];
      const MetricResult& r = results[i];
      EXPECT_NEAR(r.score, s["score"].get<double>(), 1e-9);
      ASSERT_EQ(r.confidence.has_value(), !s["mean"].is_null());
      ASSERT_EQ(r.p_value.has_value(), !s["p"].is_null());
      if (r.confidence) {  // they sum in 32 bits
        EXPECT_NEAR(r.confidence->mean, s["mean"].get<double>(), 1e-5);
        EXPECT_NEAR(r.confidence->half, s["half"].get<double>(), 1e-5);
      }
      if (r.p_value) { EXPECT_NEAR(*r.p_value, s["p"].get<double>(), 1e-12) << c["metric"] << c["paired"]; }
    }
  }
}

TEST(Metrics, AllSurviveHostileLines) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "w" + std::to_string(i * i % 37) + " ";
  const MetricTextLines hostile{
      "", " ", "\xff\xfe", "\xc2", std::string(3, '\0'), all, "😀\u202e عربى", std::string(20000, 'a'), words};
  MetricTextLines turned(hostile.rbegin(), hostile.rend());
  for (const MetricKind& kind : metric_kinds()) {
    const std::string name = kind.name;
    if (name == "aer" || name == "pearson" || name == "mse") continue;  // of links and numbers
    // A word's label each: as many on both sides.
    const MetricTextLines& other = name == "span-f1" ? hostile : turned;
    for (const auto& [said, right] : {std::pair(hostile, other), std::pair(hostile, hostile)}) {
      const MetricResult r = measure(kind.name, said, {right});
      EXPECT_TRUE(std::isfinite(r.score)) << kind.name;
      EXPECT_GE(r.score, 0) << kind.name;
      EXPECT_EQ(measure_lines(kind.name, said, {right}).size(), said.size()) << kind.name;
    }
    EXPECT_NEAR(measure(kind.name, hostile, {hostile}).score, kind.less_is_better ? 0 : 100,
                name == "rouge" ? 70 : 1e-9)  // lines without letters count 0
        << kind.name;
  }
}

TEST(Metrics, AreDescribed) {
  const auto all = describe_metrics();
  ASSERT_EQ(all.size(), metric_names().size());
  for (const MetricDescription& m : all) {
    EXPECT_FALSE(m.sentence.empty() || m.formula.empty()) << m.name;
    EXPECT_EQ(m.less_is_better, less_is_better(m.name));
    for (const auto& o : m.options) EXPECT_FALSE(o.sentence.empty()) << m.name << "." << o.name;
  }
  EXPECT_TRUE(less_is_better("loss"));
  EXPECT_TRUE(less_is_better("ter"));
  EXPECT_FALSE(less_is_better("chrf"));
}

TEST(Metrics, Mistakes) {
  EXPECT_EQ(error_with_kind([] { measure("ter", {"a"}, {{"a"}}, {.lowercase = true}); }),
            "usage: ter has no option lowercase\n  fix: leave it out; there is case_sensitive, normalized, no_punct, "
            "asian_support");
  EXPECT_EQ(error_with_kind([] { measure("aer", {"0-0"}, {{"0-0"}}, {.tokenize = "13a"}); }),
            "usage: aer has no option tokenize\n  fix: leave it out");
  EXPECT_EQ(error_with_kind([] {
              measure("span-f1", {"O"}, {{"O"}, {"O"}});
            }),
            "usage: span-f1 has one reference, not 2\n  fix: name one by --ref");
  EXPECT_EQ(error_with_kind([] {
              measure("chrf", {"O"}, {{"O"}}, {.others = {{"beta", "0"}}});
            }),
            "usage: beta = 0 is out of range: 1 to 100\n  fix: for example beta = 2");
  EXPECT_EQ(error_with_kind([] { measure("bleu", {"O"}, {}); }),
            "usage: no references\n  fix: name them by --ref FILE");
  EXPECT_EQ(error_with_kind([] { measure_systems("bleu", {{"a"}}, {{"a"}}, {}, {.paired = "bootstrap"}); }),
            "usage: a paired test compares systems, and there is one\n  fix: name the baseline, then the others");
  EXPECT_EQ(error_with_kind([] {
              measure_systems("bleu", {{"a"}, {"b"}}, {{"a"}}, {}, {.paired = "t"});
            }),
            "usage: paired = 't' is not known: bootstrap | randomization");
  EXPECT_EQ(error_with_kind([] { measure_systems("bleu", {{}}, {{}}, {}, {.confidence = true}); }),
            "data: there are no lines to draw from\n  fix: leave the tests out");
  // Of several bad lines the first is told, for any number of threads.
  MetricTextLines said(100, "A"), right(100, "A B");
  EXPECT_EQ(error_with_kind([&] { measure("span-f1", said, {right}, {.threads = 3}); }),
            "data: line 1 has 1 label, in the reference 2\n  fix: give every word one label");
}

}  // namespace
}  // namespace attune::test
