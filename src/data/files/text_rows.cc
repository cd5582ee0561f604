#include "data/files/text_rows.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

size_t answers_in(const DataSettings& o, const WantedTexts& w) {
  if (w.sides == Sides::answers) return static_cast<size_t>(o.answers);
  return w.sides == Sides::two && !w.pairs ? 1 : 0;
}

/// The columns of a header that are texts, where those of answers are missing; none: there are no such texts.
Columns texts_of_header(const DataSettings& o, const WantedTexts& w, const Record& header) {
  std::vector<std::string> names = o.columns.texts;
  if (names.empty())
    names = w.sides == Sides::two ? std::vector<std::string>{"source", "target"} : std::vector<std::string>{"text"};
  const size_t answers = o.columns.texts.empty() && w.sides != Sides::two ? 0 : answers_in(o, w);
  names.resize(names.size() - std::min(names.size(), answers));
  Columns c;
  for (const std::string& name : names)
    for (size_t i = 0; i < header.size(); ++i)
      if (trim(header[i]) == name) c.text.push_back(i);
  if (c.text.size() != names.size()) c.text.clear();
  c.count = header.size();
  return c;
}

}  // namespace

TextRows::TextRows(const std::string& file, const DataSettings& options, const WantedTexts& wanted, bool alone)
    : file_(file == "-" ? "stdin" : file),
      options_(options),
      wanted_(wanted),
      records_(open_records(file, options)),
      alone_(alone) {
  if (alone) return;
  const size_t answers = answers_in(options, wanted);
  const bool header = options.header && options.format != DataFormat::conll;
  if (header && !records_->next(row_)) return;  // no rows, no texts
  try {
    columns_ = find_columns(options, wanted.sides, header ? &row_ : nullptr, fmt::format("{}:1", file_));
    texts_.assign(columns_.text.begin(), columns_.text.end() - static_cast<std::ptrdiff_t>(answers));
  } catch (const Error&) {
    if (header) columns_ = texts_of_header(options, wanted, row_);
    if (columns_.text.empty()) throw;
    texts_ = columns_.text;
  }
}

bool TextRows::next_row() {
  if (!records_->next(row_)) return false;
  if (alone_ && texts_.empty())
    for (size_t i = 0; i < row_.size(); ++i) texts_.push_back(i);
  return true;
}

bool TextRows::fits() const {
  if (alone_) return row_.size() == texts_.size();
  const size_t needed = columns_.needed();
  if (columns_.count > 0) return row_.size() == columns_.count;
  return row_.size() >= needed && !(columns_.open && row_.size() > needed + 1);
}

bool TextRows::known() const {
  if (!wanted_.knows || texts_.size() == columns_.text.size()) return false;
  std::string answer;
  for (size_t i = texts_.size(); i < columns_.text.size(); ++i)
    answer.append(i > texts_.size() ? "\t" : "").append(row_[columns_.text[i]]);
  return wanted_.knows(answer);
}

bool TextRows::next(std::string& text) {
  if (!next_row()) return false;
  text.clear();
  const bool empty = row_.size() == 1 && trim(row_[0]).empty();
  if (!empty && !fits()) odd_.add(fmt::format("{}:{}", file_, line()));
  std::vector<size_t> columns = texts_;
  if (columns_.open && texts_.size() == 1 && row_.size() > columns_.needed()) columns.push_back(columns_.needed());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0 && columns[i] < row_.size()) text += '\t';
    if (columns[i] >= row_.size()) continue;
    const size_t from = text.size();
    text += row_[columns[i]];
    std::replace(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), '\t', ' ');  // it would be another text
  }
  return true;
}

std::string TextRows::columns_text() const {
  if (alone_) return "all columns";
  std::vector<std::string> numbers;
  for (const size_t t : texts_) numbers.push_back(std::to_string(t + 1));
  return (numbers.size() == 1 ? "column " : "columns ") + join(numbers, " and ");
}

TextRows::Look TextRows::look(const std::string& file, const DataSettings& options, const WantedTexts& wanted) {
  constexpr int64_t kRows = 50;
  TextRows rows(file, options, wanted);
  Look look;
  while (look.rows < kRows && rows.next_row()) {
    if (rows.row_.size() == 1 && trim(rows.row_[0]).empty()) continue;
    ++look.rows;
    look.alone += rows.row_.size() == rows.texts_.size();
    if (!rows.fits()) continue;
    ++look.fit;
    look.known += rows.known();
  }
  return look;
}

RowSuspicion::RowSuspicion(const DataSettings& data, WantedTexts wanted) : data_(data), wanted_(std::move(wanted)) {
  if (data.format != DataFormat::csv && data.format != DataFormat::tsv) return;
  between_ = data.format == DataFormat::csv ? ',' : '\t';
  if (!data.header && wanted_.knows) columns_ = find_columns(data, wanted_.sides, nullptr, "");
}

void RowSuspicion::look_at(const std::string& line) {
  constexpr int64_t kLines = 20;
  if (between_ == 0 || rows_ == kLines || (data_.header && rows_ > 0) || line.empty()) return;
  ++rows_;
  alike_ += data_.header ? names_columns(line) : has_answer(line);
}

bool RowSuspicion::names_columns(const std::string& line) const {
  const std::vector<std::string> fields = split(line, between_);
  const std::vector<std::string> names =
      data_.columns.texts.empty() ? std::vector<std::string>{"text"} : data_.columns.texts;
  return fields.size() > 1 && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return std::count(fields.begin(), fields.end(), name) > 0;
         });
}

bool RowSuspicion::has_answer(const std::string& line) const {
  const std::vector<std::string> fields = split(line, between_);
  if (columns_.text.empty() || fields.size() < columns_.needed() || data_.answers > 1) return false;
  return wanted_.knows(fields[columns_.text.back()]);
}

}  // namespace attune
