#include "measure/numbers.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

struct NumberPair {
  double said, right;
};

double number_of(std::string_view text, int64_t line, const char* whose) {
  text = trim(text);
  const std::string number = with_decimal_point(text);
  double x = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), x);
  if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(x))
    fail(ErrorKind::data, "line {} of {}: \"{}\" is not a number\n  fix: write one a line, like 1 or 0.25", line, whose,
         text.substr(0, 40));
  return x;
}

NumberPair pair_of(const MetricLine& line) {
  return {number_of(line.hypothesis, line.number, "what is scored"),
          number_of(line.references[0], line.number, "the reference")};
}

}  // namespace

void PearsonMetric::count(const MetricLine& line, LineCounts& out) const {
  const auto [x, y] = pair_of(line);
  uint32_t place = 0;
  for (const double v : {1.0, x, y, x * x, y * y, x * y}) out.emplace_back(place++, v);
}

double PearsonMetric::score(std::span<const double> s) const {
  const double n = s[0], xx = s[3] - s[1] * s[1] / n, yy = s[4] - s[2] * s[2] / n, xy = s[5] - s[1] * s[2] / n;
  return n > 1 && xx > 0 && yy > 0 ? 100 * xy / std::sqrt(xx * yy) : 0;
}

void PearsonMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  out.text =
      fmt::format("Pearson = {:.2f}{} ({} lines)", out.score, interval, thousands(static_cast<int64_t>(sums[0])));
  out.details = {{"lines", sums[0]}};
}

void SquaredErrorMetric::count(const MetricLine& line, LineCounts& out) const {
  const auto [x, y] = pair_of(line);
  out.emplace_back(0, (x - y) * (x - y));
  out.emplace_back(1, 1);
}

void SquaredErrorMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  out.text = fmt::format("mean squared error = {:.4f}{} ({} lines)", out.score, interval,
                         thousands(static_cast<int64_t>(sums[1])));
  out.details = {{"lines", sums[1]}};
}

}  // namespace attune
