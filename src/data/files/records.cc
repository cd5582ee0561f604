#include "data/files/records.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

constexpr size_t kLongestField = 64 << 20;  // more than this is not a field but a quote that was forgotten

class TsvReader : public RecordReader {
 public:
  TsvReader(const std::string& file, Encoding encoding, char between) : lines_(file, encoding), between_(between) {}
  bool next(Record& row) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    row.clear();
    for (size_t at = 0;;) {
      const size_t end = std::min(line.find(between_, at), line.size());
      row.push_back(line.substr(at, end - at));
      if (end == line.size()) return true;
      at = end + 1;
    }
  }
  int64_t line() const override { return lines_.line(); }

 private:
  LineReader lines_;
  char between_;
};

class CsvReader : public RecordReader {
 public:
  CsvReader(const std::string& file, Encoding encoding, char between) : lines_(file, encoding), between_(between) {}
  bool next(Record& row) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    first_ = lines_.line();
    text_.clear();
    ends_.clear();
    for (size_t at = 0;; ++at) {  // behind what separates fields
      if (at < line.size() && line[at] == '"') {
        at = quoted_field(line, at + 1);
      } else {
        const size_t end = std::min(line.find(between_, at), line.size());
        text_.append(line.substr(at, end - at));
        at = end;
      }
      ends_.push_back(text_.size());
      if (at == line.size()) break;
    }
    row.clear();
    for (size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++])
      row.push_back(std::string_view(text_).substr(begin, ends_[i] - begin));
    return true;
  }
  int64_t line() const override { return first_; }

 private:
  /// Up to what is behind the closing quote; `line` becomes the line where that is.
  size_t quoted_field(std::string_view& line, size_t at) {
    const size_t begin = text_.size();
    for (;;) {
      const size_t quote = line.find('"', at);
      text_.append(line.substr(at, quote == std::string_view::npos ? quote : quote - at));
      if (quote == std::string_view::npos) {
        if (text_.size() - begin > kLongestField || !lines_.next(line))
          fail(ErrorKind::data, "{}:{}: a field's quote is not closed\n  fix: double the quotes inside of fields: \"\"",
               lines_.file(), first_);
        text_ += ' ';
        at = 0;
      } else if (quote + 1 < line.size() && line[quote + 1] == '"') {
        text_ += '"';
        at = quote + 2;
      } else if (quote + 1 == line.size() || line[quote + 1] == between_) {
        return quote + 1;
      } else {
        fail(ErrorKind::data, "{}: text behind the closing quote of a field\n  fix: double the quotes inside: \"\"",
             lines_.place());
      }
    }
  }

  LineReader lines_;
  char between_;
  int64_t first_ = 0;
  std::string text_;          // of all fields
  std::vector<size_t> ends_;  // of each
};

class ConllReader : public RecordReader {
 public:
  ConllReader(const std::string& file, Encoding encoding) : lines_(file, encoding) {}
  bool next(Record& row) override {
    int64_t words = 0;
    for (std::string_view line; lines_.next(line);) {
      if (trim(line).empty()) {
        if (words > 0) break;
        continue;
      }
      split_line(line);
      if (words == 0 && is_comment(line)) continue;  // inside a sentence it is a word
      if (is_span_or_empty(cells_[0]) || (words == 0 && cells_[0] == "-DOCSTART-")) continue;
      tabs_before_ = tabs_;
      if (words == 0) {
        first_ = lines_.line();
        columns_.assign(cells_.size(), {});
      }
      if (cells_.size() != columns_.size())
        fail(ErrorKind::data, "{}: {} column{}, and {} in the line the sentence begins with\n  fix: {}", lines_.place(),
             cells_.size(), cells_.size() == 1 ? "" : "s", columns_.size(),
             "look at that line; an empty one separates sentences");
      for (size_t i = 0; i < cells_.size(); ++i) {
        if (words > 0) columns_[i] += ' ';
        if (cells_[i].empty()) columns_[i] += '_';
        for (const char c : cells_[i]) columns_[i] += c == ' ' ? '_' : c;
      }
      ++words;
    }
    row.assign(columns_.begin(), columns_.end());
    return words > 0;
  }
  int64_t line() const override { return first_; }

 private:
  void split_line(std::string_view line) {
    cells_.clear();
    tabs_ = line.find('\t') != std::string_view::npos;
    const char* between = tabs_ ? "\t" : " ";
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find_first_of(between, at), line.size());
      if (end > at || tabs_) cells_.push_back(line.substr(at, end - at));
      at = end + 1;
    }
  }
  /// Whether a line with '#' is one, and no word that has its columns: "#monday<TAB>O", "#monday O".
  bool is_comment(std::string_view line) const {
    if (!line.starts_with('#')) return false;
    if (line.size() == 1 || line[1] == ' ') return true;
    return columns_.empty() ? cells_.size() != 2 : cells_.size() != columns_.size() || tabs_ != tabs_before_;
  }
  /// "3-4" or "5.1" in the first of several columns, as CoNLL-U numbers what is no word of its own.
  bool is_span_or_empty(std::string_view id) const {
    const size_t mark = id.find_first_of("-.");
    const auto digits = [](std::string_view s) {
      return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    return cells_.size() == 10 && mark != std::string_view::npos && digits(id.substr(0, mark)) &&
           digits(id.substr(mark + 1));
  }

  LineReader lines_;
  int64_t first_ = 0;
  Record cells_;
  std::vector<std::string> columns_;
  bool tabs_ = false, tabs_before_ = false;  // between the columns of this line, and of the last word
};

}  // namespace

char delimiter_of(const DataSettings& options) {
  return options.delimiter != "auto" ? options.delimiter[0] : options.format == DataFormat::csv ? ',' : '\t';
}

std::unique_ptr<RecordReader> open_records(const std::string& file, const DataSettings& options) {
  const Encoding encoding = encoding_of(options.encoding);
  if (options.format == DataFormat::csv) return std::make_unique<CsvReader>(file, encoding, delimiter_of(options));
  if (options.format == DataFormat::conll) return std::make_unique<ConllReader>(file, encoding);
  return std::make_unique<TsvReader>(file, encoding, delimiter_of(options));
}

}  // namespace attune
