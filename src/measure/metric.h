// The seam where metrics plug in. A metric turns a line and its references into a few numbers, and sums of such numbers
// into a score: so that lines can be counted in any order and on any thread, and drawn anew for tests of significance.
// A metric is one file here, with its options, its formula and its citation, and one line in kinds.inc.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/metric.h"
#include "base/fields.h"
#include "base/thread_pool.h"

namespace attune {

/// What people should know about a metric.
struct MetricKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
  bool less_is_better = false;
  bool one_reference = false;
};

using MetricTextLines = std::vector<std::string>;

struct MetricLine {
  std::string_view hypothesis;
  std::span<const std::string_view> references;
  int64_t number = 1;  // for messages
};

/// Numbers that are not 0, by their place: {3, 1.0}. A place may come twice.
using LineCounts = std::vector<std::pair<uint32_t, double>>;

class Metric {
 public:
  virtual ~Metric() = default;
  /// The lines of a file as they are counted: where a sentence takes several lines, one each.
  virtual MetricTextLines arranged(const MetricTextLines& lines) const { return lines; }
  /// Is shown every file, arranged, before any line is counted: for those who need to know all labels.
  virtual void look_at(const MetricTextLines&) {}
  /// How many numbers there are.
  virtual size_t width() const = 0;
  /// Those of a line. Threads call it at once.
  virtual void count(const MetricLine& line, LineCounts& out) const = 0;
  virtual double score(std::span<const double> sums) const = 0;
  /// Fills score, text, details and labels. `interval` goes behind the score in the text: " (μ = 26.30 ± 0.61)" or "".
  virtual void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const = 0;
  /// How it was computed, in sacreBLEU's form, without the number of references and the version; "" for nothing.
  virtual std::string signature() const = 0;
};

/// All there are, in the order of kinds.inc, and the options of each with their defaults.
const std::vector<MetricKind>& metric_kinds();
const std::vector<Fields>& metric_options();
/// Its place; ErrorKind::usage with the closest name if there is none.
size_t find_metric(const std::string& name);

/// ErrorKind::usage for options that it does not have, or values that they do not take.
using MetricChoices = std::vector<std::pair<std::string, std::string>>;
std::unique_ptr<Metric> make_metric(size_t kind, const MetricChoices& options);

/// The counts of all lines of a system.
class LineStatistics {
 public:
  /// ErrorKind::data when a reference has another number of lines. The same for any pool.
  LineStatistics(const Metric& metric, const MetricTextLines& hypotheses,
                 const std::vector<MetricTextLines>& references, ThreadPool* pool);
  int64_t lines() const { return std::ssize(starts_) - 1; }
  size_t width() const { return width_; }
  std::span<const std::pair<uint32_t, double>> of(int64_t line) const {
    const size_t i = static_cast<size_t>(line);
    return {counts_.data() + starts_[i], starts_[i + 1] - starts_[i]};
  }
  void add(int64_t line, std::span<double> sums, double times = 1) const {
    for (const auto& [place, value] : of(line)) sums[place] += times * value;
  }
  std::vector<double> sums() const;
  std::vector<double> sums(int64_t line) const;

 private:
  size_t width_;
  LineCounts counts_;
  std::vector<size_t> starts_;
};

/// 100 * of / all; 0 when there is nothing.
inline double percent(double of, double all) { return all > 0 ? 100 * of / all : 0.0; }

}  // namespace attune
