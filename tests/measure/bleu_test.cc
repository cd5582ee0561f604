#include "measure/bleu.h"

#include <gtest/gtest.h>

#include "data/files.h"

namespace attune::test {
namespace {

using Lines = std::vector<std::string>;

const Lines kHyp{"The cat sat on the mat.", "There were 1,000 dogs, 3.14 cats & a 5-6 score.", "He said: \"No!\""};
const Lines kRef{"The cat is on the mat.", "There were 1,000 dogs and 3.14 cats, with a 5-6 score.", "He said \"no\"."};
const Lines kOther{"A cat sat on a mat.", "1,000 dogs, 3.14 cats &amp; a score of 5-6 were there.", "\"No!\" he said."};
const Lines kLetters{"Über die Straße.  Ça va?", "ΟΔΥΣΣΕΥΣ 日本。", "a\u00a0b\u3000c d e"};
const Lines kLower{"über die Straße. ça va ?", "οδυσσευς 日本。", "a b c d f"};

/// The values were computed by sacreBLEU 2.6.0.
TEST(Bleu, IsSacreBleus) {
  const struct {
    Lines hypotheses;
    std::vector<Lines> references;
    BleuOptions options;
    double score;
    std::array<double, 4> precisions;
    double brevity_penalty;
    int64_t hypothesis_length, reference_length;
    std::string signature;
  } cases[] = {
      {kHyp,
       {kRef},
       {},
       45.804736,
       {82.1429, 56.0000, 36.3636, 26.3158},
       1.000000,
       28,
       28,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {kHyp,
       {kRef},
       {.tokenize = Tokenization::none},
       22.999655,
       {68.4211, 43.7500, 23.0769, 5.0000},
       0.948729,
       19,
       20,
       "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp"},
      {kHyp,
       {kRef},
       {.lowercase = true},
       47.100123,
       {85.7143, 60.0000, 36.3636, 26.3158},
       1.000000,
       28,
       28,
       "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp"},
      {kHyp,
       {kRef, kOther},
       {},
       73.658657,
       {96.4286, 92.0000, 72.7273, 52.6316},
       0.964916,
       28,
       29,
       "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp"},
      {kHyp,
       {kOther},
       {.tokenize = Tokenization::none, .smooth = Smoothing::none},
       24.646559,
       {63.1579, 31.2500, 23.0769, 10.0000},
       0.948729,
       19,
       20,
       "nrefs:1|case:mixed|eff:no|tok:none|smooth:none"},
      {kHyp,
       {kOther},
       {.tokenize = Tokenization::none, .smooth = Smoothing::floor},
       24.646559,
       {63.1579, 31.2500, 23.0769, 10.0000},
       0.948729,
       19,
       20,
       "nrefs:1|case:mixed|eff:no|tok:none|smooth:floor[0.10]"},
      {kHyp,
       {kOther},
       {.tokenize = Tokenization::none},
       24.646559,
       {63.1579, 31.2500, 23.0769, 10.0000},
       0.948729,
       19,
       20,
       "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp"},
      {kLetters,
       {kLower},
       {.lowercase = true},
       88.575244,
       {92.8571, 90.9091, 87.5000, 83.3333},
       1.000000,
       14,
       14,
       "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp"},
      {kLetters,
       {kLower},
       {},
       39.502778,
       {71.4286, 54.5455, 37.5000, 16.6667},
       1.000000,
       14,
       14,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"a b"},
       {{"a b"}},
       {},
       0.000000,
       {100.0000, 100.0000, 0.0000, 0.0000},
       1.000000,
       2,
       2,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"a b"},
       {{"a b"}},
       {.effective_order = true},
       100.000000,
       {100.0000, 100.0000, 0.0000, 0.0000},
       1.000000,
       2,
       2,
       "nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp"},
      {{"a b c"},
       {{"a b c d e f g"}},
       {.effective_order = true},
       26.359714,
       {100.0000, 100.0000, 100.0000, 0.0000},
       0.263597,
       3,
       7,
       "nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp"},
      {{"x y z"},
       {{"a b c"}},
       {},
       0.000000,
       {0.0000, 0.0000, 0.0000, 0.0000},
       1.000000,
       3,
       3,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"", "a b c d"},
       {{"a b", "a b c d"}},
       {},
       60.653066,
       {100.0000, 100.0000, 100.0000, 100.0000},
       0.606531,
       4,
       6,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{""},
       {{"a"}},
       {},
       0.000000,
       {0.0000, 0.0000, 0.0000, 0.0000},
       0.000000,
       0,
       1,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"a a a a a"},
       {{"a a"}},
       {},
       21.364350,
       {40.0000, 25.0000, 16.6667, 12.5000},
       1.000000,
       5,
       2,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"a. b, 1. ,2 ...", "5- -5 x-1 1-x"},
       {{"a . b , 1 . , 2 . . .", "5 - -5 x-1 1 - x"}},
       {},
       100.000000,
       {100.0000, 100.0000, 100.0000, 100.0000},
       1.000000,
       18,
       18,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"&quot;a&quot; &lt;b&gt; &amp;lt; c<skipped>d"},
       {{"\" a \" < b > < cd"}},
       {},
       100.000000,
       {100.0000, 100.0000, 100.0000, 100.0000},
       1.000000,
       8,
       8,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"a b c d e"},
       {{"a b c d e f"}},
       {},
       81.873075,
       {100.0000, 100.0000, 100.0000, 100.0000},
       0.818731,
       5,
       6,
       "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"},
      {{"a b c d e"},
       {{"a b c d"}, {"a b c d e f"}},
       {},
       100.000000,
       {100.0000, 100.0000, 100.0000, 100.0000},
       1.000000,
       5,
       4,
       "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp"},
  };
  for (const auto& c : cases) {
    const Bleu b = bleu(c.hypotheses, c.references, c.options);
    EXPECT_NEAR(b.score, c.score, 1e-5) << b.text();
    for (size_t n = 0; n < 4; ++n) EXPECT_NEAR(b.precisions[n], c.precisions[n], 1e-3) << b.text();
    EXPECT_NEAR(b.brevity_penalty, c.brevity_penalty, 1e-5);
    EXPECT_EQ(b.hypothesis_length, c.hypothesis_length);
    EXPECT_EQ(b.reference_length, c.reference_length);
    const BleuMetric metric(c.options);
    EXPECT_EQ("nrefs:" + std::to_string(c.references.size()) + "|" + metric.signature(), c.signature);
  }
}

TEST(Bleu, CountsInAnyOrderAndSpeaks) {
  const Bleu b = bleu({kHyp[2], kHyp[0], kHyp[1]}, {{kRef[2], kRef[0], kRef[1]}}), whole = bleu(kHyp, {kRef});
  EXPECT_EQ(b.score, whole.score);
  EXPECT_EQ(b.matches, whole.matches);
  EXPECT_EQ(b.totals, whole.totals);
  EXPECT_EQ(bleu({"a b c d"}, {{"a b c d"}}).text(),
            "100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)");
  EXPECT_EQ(bleu({}, {{}}).score, 0);
}

TEST(Bleu, UnequalCountsAreErrors) {
  EXPECT_EQ(error_with_kind([] { bleu({"a"}, {{"a", "b"}}); }), "data: 1 hypotheses, but 2 references");
  EXPECT_EQ(error_with_kind([] { bleu({"a"}, {}); }), "usage: [bleu] no references");
}

}  // namespace
}  // namespace attune::test
