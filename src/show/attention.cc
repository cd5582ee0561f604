#include "show/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "text/width.h"

namespace attune::show {

namespace {

using text::display_width;

constexpr int kWidestLabel = 20;
constexpr size_t kMostSteps = 24;  // labels of columns stand one to a line up to here; more become a numbered list

struct Shade {
  float least;
  const char *cell, *name;
};
// Even a weight of a few per cent says something where there are many columns, so the steps are finer at the bottom.
constexpr std::array kShades{Shade{0.7f, "██", "70"}, Shade{0.4f, "▓▓", "40"}, Shade{0.2f, "▒▒", "20"},
                             Shade{0.05f, "░░", "5"}, Shade{-1.0f, "· ", ""}};
// From black over blue and green to yellow, in the 6 x 6 x 6 cube that all such terminals share.
constexpr std::array kColours{234, 17, 18, 24, 30, 36, 71, 107, 148, 190, 226};
constexpr size_t kFirstBright = 6;  // from here on black digits read better than white ones

/// Not a number is drawn as "?", and what rounding left outside of 0 to 1 as the nearer of them.
float clamped(float weight) { return std::clamp(weight, 0.0f, 1.0f); }

std::string padded_left(const std::string& label, int width) {
  return std::string(static_cast<size_t>(std::max(0, width - display_width(label))), ' ') + label;
}

std::vector<std::string> labels(const std::vector<std::string>& given, int widest) {
  std::vector<std::string> out;
  for (const std::string& label : given) out.push_back(text::shortened(text::harmless(label), widest));
  return out;
}

int widest_of(const std::vector<std::string>& all) {
  int widest = 0;
  for (const std::string& label : all) widest = std::max(widest, display_width(label));
  return widest;
}

class Drawing {
 public:
  Drawing(const Attention& a, const DrawOptions& options)
      : weights_(a.weights), options_(options), cell_(options.numbers ? 4 : 2) {
    const int widest = std::clamp(options.width / 4, 4, kWidestLabel);
    rows_ = labels(a.rows, widest);
    columns_ = labels(a.columns, widest);
    left_ = widest_of(rows_) + 1;
  }

  std::string text() {
    const int widest = widest_of(columns_), room = options_.width - left_;
    const int steps = (room - 2 - widest) / cell_ + 1;  // the last label stands beside its column
    const bool narrow = widest < cell_;
    if (!narrow && columns_.size() <= std::min<size_t>(kMostSteps, static_cast<size_t>(std::max(steps, 1)))) {
      add_steps();
      add_rows(0, columns_.size());
    } else {
      const auto most = static_cast<size_t>(std::max(1, room / cell_));
      const size_t panels = (columns_.size() + most - 1) / most;
      const size_t each = (columns_.size() + panels - 1) / panels;  // no panel of one column behind a full one
      for (size_t from = 0; from < columns_.size(); from += each) {
        const size_t to = std::min(columns_.size(), from + each);
        if (from > 0) out_ += "\n";
        if (narrow)
          add_letters(from, to);
        else
          add_numbers(from, to);
        add_rows(from, to);
        if (!narrow) add_list(from, to);
      }
    }
    if (options_.legend && !options_.numbers) add_legend();
    return std::move(out_);
  }

 private:
  /// Labels of columns, each with a line down to its column.
  void add_steps() {
    const std::string gap(static_cast<size_t>(cell_ - 2), ' ');
    for (size_t i = 0; i < columns_.size(); ++i) {
      out_ += std::string(static_cast<size_t>(left_), ' ');
      for (size_t j = 0; j < i; ++j) out_ += gap + "│ ";
      end_line(gap + "┌ " + columns_[i]);
    }
  }

  /// Labels that are no wider than their columns, letters mostly.
  void add_letters(size_t from, size_t to) {
    std::string line(static_cast<size_t>(left_), ' ');
    for (size_t i = from; i < to; ++i) line += over_cell(columns_[i]);
    end_line(std::move(line));
  }

  /// Numbers over the columns, from 1: tens where they change, below them the units.
  void add_numbers(size_t from, size_t to) {
    std::string tens(static_cast<size_t>(left_), ' '), units = tens;
    for (size_t i = from; i < to; ++i) {
      const size_t number = i + 1;
      const bool shown = number >= 10 && (number % 10 == 0 || i == from);
      tens += over_cell(shown ? std::to_string(number / 10) : "");
      units += over_cell(std::to_string(number % 10));
    }
    if (to >= 10) end_line(std::move(tens));
    end_line(std::move(units));
  }

  /// Shades begin where their cell does, percentages end where it ends.
  std::string over_cell(const std::string& label) const {
    const std::string space(static_cast<size_t>(std::max(0, cell_ - display_width(label))), ' ');
    return options_.numbers ? space + label : label + space;
  }

  void add_list(size_t from, size_t to) {
    const std::string indent(static_cast<size_t>(left_), ' ');
    std::string line = indent;
    for (size_t i = from; i < to; ++i) {
      const std::string entry = fmt::format("{} {}", i + 1, columns_[i]);
      if (line != indent && display_width(line) + 2 + display_width(entry) > options_.width)
        end_line(std::exchange(line, indent));
      line += (line == indent ? "" : "  ") + entry;
    }
    end_line(std::move(line));
  }

  void add_rows(size_t from, size_t to) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::string line = padded_left(rows_[i], left_ - 1) + " ";
      const float* row = weights_.row<float>(static_cast<int64_t>(i));
      for (size_t j = from; j < to; ++j) line += options_.colour ? coloured(row[j]) : content(row[j]);
      end_line(options_.colour ? line + "\x1b[0m" : std::move(line));
    }
  }

  /// A cell without its colour.
  std::string content(float weight) const {
    if (std::isnan(weight)) return over_cell("?");
    const float w = clamped(weight);
    if (options_.numbers) {
      const auto percent = std::lround(w * 100);
      return padded_left(percent == 0 ? "·" : std::to_string(percent), cell_);
    }
    if (options_.colour) return std::string(static_cast<size_t>(cell_), ' ');
    for (const Shade& s : kShades)
      if (w >= s.least) return s.cell;
    return {};
  }

  std::string coloured(float weight) const {
    // The root brings small weights out, as the uneven shades do.
    const float w = std::isnan(weight) ? 0.0f : std::sqrt(clamped(weight));
    const auto step = static_cast<size_t>(std::lround(w * static_cast<float>(kColours.size() - 1)));
    return fmt::format("\x1b[38;5;{};48;5;{}m{}", step < kFirstBright ? 255 : 16, kColours[step], content(weight));
  }

  void add_legend() {
    std::string line(static_cast<size_t>(left_), ' ');
    int width = left_;
    if (options_.colour) {
      line += "0 % ";
      for (int colour : kColours) line += fmt::format("\x1b[48;5;{}m ", colour);
      line += "\x1b[0m 100 %";
      width += 10 + static_cast<int>(kColours.size());
    } else {
      for (auto s = kShades.rbegin() + 1; s != kShades.rend(); ++s) line += fmt::format("{} {} %  ", s->cell, s->name);
      line.pop_back();
      line += "and more";
      width = display_width(line);
    }
    if (width > options_.width) return;  // a line that wraps explains nothing
    out_ += "\n";
    end_line(std::move(line));
  }

  void end_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }

  Tensor weights_;
  DrawOptions options_;
  int cell_, left_ = 0;
  std::vector<std::string> rows_, columns_;
  std::string out_;
};

void check_shape(const Attention& a, const char* op) {
  const auto rows = static_cast<int64_t>(a.rows.size()), columns = static_cast<int64_t>(a.columns.size());
  if (rows == 0 || columns == 0) return;
  check(a.weights.dtype == DType::f32, op, "weights are {}, want f32", name_of(a.weights.dtype));
  check(a.weights.rows() == rows && a.weights.cols() == columns, op, "weights are {} for {} rows and {} columns",
        a.weights.shape.text(), rows, columns);
}

}  // namespace

std::string draw(const Attention& attention, const DrawOptions& options) {
  check_shape(attention, "draw_attention");
  if (attention.rows.empty() || attention.columns.empty()) return {};
  return Drawing(attention, options).text();
}

std::string pharaoh(const Attention& attention) {
  check_shape(attention, "alignment");
  const auto columns = static_cast<int64_t>(attention.columns.size());
  std::vector<std::string> pairs;
  for (size_t i = 0; i < attention.rows.size() && columns > 0; ++i) {
    const float* row = attention.weights.row<float>(static_cast<int64_t>(i));
    int64_t best = 0;
    for (int64_t j = 1; j < columns; ++j)
      if (row[j] > row[best] || std::isnan(row[best])) best = j;
    pairs.push_back(fmt::format("{}-{}", best, i));
  }
  return join(pairs, " ");
}

}  // namespace attune::show
