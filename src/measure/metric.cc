#include "measure/metric.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "measure/alignment_error.h"
#include "measure/bleu.h"
#include "measure/chrf.h"
#include "measure/error_rate.h"
#include "measure/exact_match.h"
#include "measure/label_sets.h"
#include "measure/labels.h"
#include "measure/numbers.h"
#include "measure/rouge.h"
#include "measure/spans.h"
#include "measure/ter.h"

namespace attune {

namespace {

template <class T>
std::unique_ptr<Metric> make(const MetricChoices& choices) {
  typename T::Options options;
  const Fields fields = fields_of(options);
  for (const auto& [name, value] : choices) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
    if (field == fields.end()) {
      std::string there;
      for (const Field& f : fields) there += (there.empty() ? "" : ", ") + f.name;
      fail(ErrorKind::usage, "{} has no option {}\n  fix: leave it out{}", T::kKind.name, name,
           there.empty() ? "" : "; there is " + there);
    }
    field->set_text(value, ErrorKind::usage);
  }
  return std::make_unique<T>(options);
}

template <class T>
Fields default_options() {
  static typename T::Options options;
  return fields_of(options);
}

constexpr std::unique_ptr<Metric> (*kMetricMakers[])(const MetricChoices&) = {
#define METRIC(type) make<type>,
#include "measure/kinds.inc"
#undef METRIC
};

constexpr int64_t kBlock = 16;  // lines that a thread takes at once

}  // namespace

const std::vector<MetricKind>& metric_kinds() {
  static const std::vector<MetricKind> kinds{
#define METRIC(type) type::kKind,
#include "measure/kinds.inc"
#undef METRIC
  };
  return kinds;
}

const std::vector<Fields>& metric_options() {
  static const std::vector<Fields> options{
#define METRIC(type) default_options<type>(),
#include "measure/kinds.inc"
#undef METRIC
  };
  return options;
}

size_t find_metric(const std::string& name) {
  std::vector<std::string> names;
  for (const MetricKind& k : metric_kinds()) {
    if (name == k.name) return names.size();
    names.push_back(k.name);
  }
  const std::string near = closest_name(name, names);
  fail(ErrorKind::usage, "unknown metric '{}'. {}", name,
       near.empty() ? "Known: " + join(names, ", ") : "Did you mean '" + near + "'?");
}

std::unique_ptr<Metric> make_metric(size_t kind, const MetricChoices& options) { return kMetricMakers[kind](options); }

LineStatistics::LineStatistics(const Metric& metric, const MetricTextLines& hypotheses,
                               const std::vector<MetricTextLines>& references, ThreadPool* pool)
    : width_(metric.width()) {
  for (const MetricTextLines& r : references)
    if (r.size() != hypotheses.size())
      fail(ErrorKind::data, "{} hypotheses, but {} references", hypotheses.size(), r.size());
  const int64_t lines = std::ssize(hypotheses), blocks = (lines + kBlock - 1) / kBlock;
  std::vector<LineCounts> counts(static_cast<size_t>(blocks));
  starts_.resize(static_cast<size_t>(lines) + 1);
  const auto count_block = [&](int64_t block, int) {
    std::vector<std::string_view> of_line(references.size());
    LineCounts& out = counts[static_cast<size_t>(block)];
    for (int64_t line = block * kBlock; line < std::min(lines, (block + 1) * kBlock); ++line) {
      const size_t i = static_cast<size_t>(line), before = out.size();
      for (size_t k = 0; k < references.size(); ++k) of_line[k] = references[k][i];
      metric.count({hypotheses[i], of_line, line + 1}, out);
      starts_[i + 1] = out.size() - before;
    }
  };
  try {
    parallel_for(pool, blocks, count_block);
  } catch (const Error&) {
    parallel_for(nullptr, blocks, count_block);  // the first bad line is told, whichever thread met one first
    throw;
  }
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  counts_.reserve(starts_.back());
  for (LineCounts& block : counts) {
    counts_.insert(counts_.end(), block.begin(), block.end());
    LineCounts().swap(block);
  }
}

std::vector<double> LineStatistics::sums() const {
  std::vector<double> sums(width_);
  for (const auto& [place, value] : counts_) sums[place] += value;
  return sums;
}

std::vector<double> LineStatistics::sums(int64_t line) const {
  std::vector<double> sums(width_);
  add(line, sums);
  return sums;
}

}  // namespace attune
