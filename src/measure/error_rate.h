// Word and character error rates: the least insertions, deletions and substitutions that turn what was said into the
// reference, over the length of the reference.
#pragma once
#include "measure/metric.h"
#include "measure/ngrams.h"

namespace attune {

struct Edits {
  int64_t right = 0, substitutions = 0, deletions = 0, insertions = 0;
  bool exact = true;  // false: the least that is near the diagonal
  int64_t errors() const { return substitutions + deletions + insertions; }
};

/// The least edits; of several ways with as many edits the one that gets most right. Takes time in the product of the
/// lengths for very different texts, in length times edits for similar ones; where that would be more than some
/// seconds (two unlike texts of 20,000 and more), it looks only around the diagonal.
Edits least_edits(const Ids& said, const Ids& reference);

struct ErrorRateOptions {
  bool lowercase = false;
  template <class V>
  void fields(V& v) {
    v("lowercase", lowercase, "compare in lower case");
  }
};

/// What the two have in common.
class ErrorRateMetric : public Metric {
 public:
  using Options = ErrorRateOptions;
  ErrorRateMetric(const Options& options, const char* name, const char* units)
      : options_(options), name_(name), units_(units) {}

  size_t width() const override { return 6; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return options_.lowercase ? "case:lc" : "case:mixed"; }

 protected:
  /// The units of several lines, numbered alike.
  virtual std::vector<Ids> cut(const std::vector<std::string>& lines) const = 0;

 private:
  Options options_;
  const char *name_, *units_;
};

class WordErrorMetric : public ErrorRateMetric {
 public:
  static constexpr MetricKind kKind{
      .name = "wer",
      .sentence = "word error rate: words to insert, delete or substitute; of several references the nearest",
      .formula = "100 (substitutions + deletions + insertions) / words of the reference",
      .cite = "Levenshtein 1966; as the package jiwer computes it",
      .less_is_better = true};
  explicit WordErrorMetric(const Options& options) : ErrorRateMetric(options, "WER", "words") {}

 protected:
  std::vector<Ids> cut(const std::vector<std::string>& lines) const override;
};

class CharacterErrorMetric : public ErrorRateMetric {
 public:
  static constexpr MetricKind kKind{
      .name = "cer",
      .sentence = "character error rate: characters to insert, delete or substitute, blanks within a line too",
      .formula = "100 (substitutions + deletions + insertions) / characters of the reference",
      .cite = "Levenshtein 1966; as the package jiwer computes it",
      .less_is_better = true};
  explicit CharacterErrorMetric(const Options& options) : ErrorRateMetric(options, "CER", "characters") {}

 protected:
  std::vector<Ids> cut(const std::vector<std::string>& lines) const override;
};

}  // namespace attune
