#include "compare/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "attune/metric.h"
#include "base/text.h"
#include "compare/files.h"

namespace attune {

namespace {

using Number = std::optional<double>;
using VariantState = ComparedVariant::State;

Number score(const std::vector<std::pair<std::string, double>>& scores, const std::string& name) {
  for (const auto& [known, value] : scores)
    if (known == name) return value;
  return std::nullopt;
}

std::string whole(double x) { return thousands(static_cast<int64_t>(x + 0.5)); }
std::string two_digits(double x) { return fmt::format("{:.2f}", x); }
std::string megabytes(double x) {
  const double mb = x / (1 << 20);
  return mb < 10 ? fmt::format("{:.1f}", mb) : whole(mb);
}

class Sheet {
 public:
  explicit Sheet(const Comparison& c) : comparison_(c) {}

  /// A column of figures, left out where no variant has any.
  void add(const std::string& title, const char* meaning, int better,
           const std::function<Number(const VariantFigures&)>& of, const std::function<std::string(double)>& text) {
    TableColumn column{title, meaning, better, {}, {}};
    bool any = false;
    for (const ComparedVariant& v : comparison_.variants) {
      const Number x = v.state == VariantState::finished ? of(v.figures) : std::nullopt;
      any = any || x;
      column.numbers.push_back(x);
      column.cells.push_back(x ? text(*x) : "");
    }
    if (any) columns.push_back(std::move(column));
  }
  /// The same of a time or a speed: what was taken on a busy machine is marked.
  void add_timed(const std::string& title, const char* meaning, int better,
                 const std::function<double(const VariantFigures&)>& of,
                 const std::function<std::string(double)>& text) {
    const size_t before = columns.size();
    add(
        title, meaning, better, [&](const VariantFigures& f) { return of(f) > 0 ? Number(of(f)) : std::nullopt; },
        text);
    if (columns.size() == before) return;
    TableColumn& column = columns.back();
    for (size_t i = 0; i < column.cells.size(); ++i)
      if (column.numbers[i] && comparison_.variants[i].figures.load.busy()) column.cells[i].insert(0, "~");
  }
  void add_words(const char* title, const char* meaning, const std::function<std::string(const ComparedVariant&)>& of) {
    TableColumn column{title, meaning, 0, {}, {}};
    for (const ComparedVariant& v : comparison_.variants) column.cells.push_back(of(v));
    column.numbers.resize(column.cells.size());
    if (std::any_of(column.cells.begin(), column.cells.end(), [](const std::string& c) { return !c.empty(); }))
      columns.push_back(std::move(column));
  }
  std::vector<TableColumn> columns;

 private:
  const Comparison& comparison_;
};

std::string remark(const ComparedVariant& v) {
  switch (v.state) {
    case VariantState::finished:
      return "";
    case VariantState::refused:
      return "impossible: " + v.reason;
    case VariantState::failed:
      return "failed: " + v.reason;
    case VariantState::interrupted:
      return "interrupted";
    case VariantState::waiting:
      return "not trained yet";
  }
  return "";
}

}  // namespace

bool TableColumn::is_best(size_t row) const {
  if (better == 0 || !numbers[row]) return false;
  bool any_worse = false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!numbers[i] || cells[i] == cells[row]) continue;  // alike as far as is told
    if (better * *numbers[i] > better * *numbers[row]) return false;
    any_worse = true;
  }
  return any_worse;
}

std::vector<TableColumn> columns_of(const Comparison& c) {
  Sheet s(c);
  s.add_words("variant", "what was chosen", [](const ComparedVariant& v) { return v.name; });
  s.add(
      "loss", "validation loss per target token", -1, [](const VariantFigures& f) { return f.loss; },
      [](double x) { return fmt::format("{:.4f}", x); });
  std::vector<std::string> names{"bleu", "exact"};
  if (c.metric != "bleu" && c.metric != "exact" && c.metric != "loss" && c.metric != "perplexity")
    names.push_back(c.metric);
  for (const std::string& name : names)
    s.add(
        name, "on the validation set, greedy", less_is_better(name) ? -1 : 1,
        [&](const VariantFigures& f) { return score(f.valid, name); }, two_digits);
  for (const std::string& name : names)
    s.add(
        "test " + name, "on the test set, as `attune test` measures it", less_is_better(name) ? -1 : 1,
        [&](const VariantFigures& f) { return score(f.test, name); }, two_digits);
  const auto positive = [](double x) { return x > 0 ? Number(x) : std::nullopt; };
  s.add_timed(
      "train tok/s", "target tokens a second while training, the median of the run's log", 1,
      [](const VariantFigures& f) { return f.train_tokens_per_s; }, whole);
  s.add_timed(
      "ms/update", "milliseconds of an update, the median of the run's log", -1,
      [](const VariantFigures& f) { return f.ms_per_update; },
      [](double x) {
        return fmt::format("{:.{}f}", x, x < 10 ? 2 : x < 100 ? 1 : 0);
      });
  s.add_timed(
      "decode tok/s",
      "tokens a second, greedy, over the first lines of the validation set; of models that label, tokens they read", 1,
      [](const VariantFigures& f) { return f.decode_tokens_per_s; }, whole);
  s.add(
      "parameters", "numbers that are learned", 0,
      [](const VariantFigures& f) { return Number(static_cast<double>(f.parameters)); }, whole);
  s.add(
      "memory MB", "weights, moments, gradients and activations at most: counted", -1,
      [](const VariantFigures& f) { return Number(static_cast<double>(f.memory)); }, megabytes);
  s.add(
      "resident MB",
      "of the whole process at most while it trained, its corpora and what earlier variants left behind included: "
      "measured",
      0, [&](const VariantFigures& f) { return positive(static_cast<double>(f.resident)); }, megabytes);
  s.add(
      "work ~ n^", "how self-attention's work grows with the length: the exponent between 8,192 and 16,384", -1,
      [&](const VariantFigures& f) { return positive(f.growth); }, two_digits);
  s.add_words("remarks", "why there are no figures", remark);
  return std::move(s.columns);
}

std::string rough_note(const Comparison& c) {
  const Load* most = nullptr;
  for (const ComparedVariant& v : c.variants)
    if (const Load& load = v.figures.load; load.busy() && (!most || load.taken > most->taken)) most = &load;
  if (!most) return "";
  return fmt::format(
      "~ marks what was timed while this machine was busy with other work (up to {:.1f} of {} core{}): times are too "
      "high, speeds too low",
      most->taken, most->cores, most->cores == 1 ? "" : "s");
}

CompareTable table_of(const Comparison& c) {
  CompareTable t;
  t.note = rough_note(c);
  t.rows.resize(c.variants.size());
  for (const TableColumn& column : columns_of(c)) {
    t.head.push_back(column.title);
    for (size_t i = 0; i < t.rows.size(); ++i) t.rows[i].push_back(column.cells[i]);
  }
  return t;
}

std::string comparison_markdown(const Comparison& c) {
  const auto cell = [](std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return text;
  };
  std::string head = "|", line = "|";
  std::vector<std::string> rows(c.variants.size(), "|");
  for (const TableColumn& column : columns_of(c)) {
    head += " " + column.title + " |";
    line += column.better != 0 || column.title == "parameters" ? "---:|" : "---|";
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string text = cell(column.cells[i]);
      rows[i] += column.is_best(i) ? " **" + text + "** |" : " " + text + " |";
    }
  }
  const std::string rough = rough_note(c);
  return fmt::format("# {}\n\n    {}\n\n{}\n{}\n{}\n\n{}, {} thread{}. The best of each column is bold.{}{}\n",
                     c.recipe, c.command, head, line, join(rows, "\n"), c.machine, c.threads, c.threads == 1 ? "" : "s",
                     rough.empty() ? "" : "\n\n", rough);
}

}  // namespace attune
