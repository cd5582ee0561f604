#include "data/files/pairs.h"

#include <algorithm>
#include <charconv>

#include "base/choice.h"
#include "base/error.h"
#include "base/text.h"
#include "text/utf8.h"

namespace attune {

void Tally::add(std::string place) {
  ++count;
  if (places.size() < kPlaces) places.push_back(std::move(place));
}

std::vector<std::string> PairReport::sentences(Overlong overlong_is) const {
  std::vector<std::string> out;
  const auto tell = [&](const Tally& t, const std::string& fault, const char* became) {
    if (t.count == 0) return;
    const bool more = t.count > static_cast<int64_t>(t.places.size()), one = t.count == 1;
    const std::string what = sides == Sides::one ? fmt::format("{} line{}", fault, one ? "" : "s")
                                                 : fmt::format("pair{} with an {} side", one ? "" : "s", fault);
    out.push_back(
        fmt::format("{} {} {} ({}{})", thousands(t.count), what, became, join(t.places, ", "), more ? ", ..." : ""));
  };
  tell(empty, "empty", "skipped");
  tell(overlong, "overlong", overlong_is == Overlong::crop ? "cropped" : "skipped");
  if (broken.count > 0)
    out.push_back(fmt::format("{} line{} not UTF-8: U+FFFD stands for what is broken ({}{})", thousands(broken.count),
                              broken.count == 1 ? " is" : "s are", join(broken.places, ", "),
                              broken.count > std::ssize(broken.places) ? ", ..." : ""));
  if (odd.count > 0)
    out.push_back(fmt::format("{} {} another number of columns than the first of the file ({}{}): read all the same",
                              thousands(odd.count), odd.count == 1 ? "row has" : "rows have", join(odd.places, ", "),
                              odd.count > std::ssize(odd.places) ? ", ..." : ""));
  if (surplus > 0)
    out.push_back(fmt::format("{} line{} of the longer side left out", thousands(surplus), surplus == 1 ? "" : "s"));
  return out;
}

PairReader::PairReader(const std::vector<std::string>& files, const DataSettings& options, const std::string& key,
                       Sides sides)
    : files_(pair_files(files, options.format, key, sides)),
      options_(options),
      keep_empty_(sides == Sides::one && options.stream) {
  report_.sides = sides;
  if (std::count(files.begin(), files.end(), "-") > 1)
    fail(ErrorKind::data, "{}: the standard input (-) can be read only once\n  fix: put one side into a file", key);
  auto& weights = options_.weights.texts;
  if (key != "data.train") weights.clear();
  if (!weights.empty() && weights.size() != files_.size())
    fail(ErrorKind::recipe, "data.weights names {} file{}, data.train has {}{}\n  fix: name one for each",
         weights.size(), weights.size() == 1 ? "" : "s", files_.size(),
         files_[0][0] == files_[0][1] ? "" : " pairs of files");
  if (options_.format != DataFormat::lines && !options_.header) columns_ = find_columns(options_, sides, nullptr, "");
}

std::string PairReader::place(const PairPlace& place, int side) const {
  const std::string& file = files_[static_cast<size_t>(place.files)][static_cast<size_t>(side)];
  return fmt::format("{}:{}", file == "-" ? "stdin" : file, place.line);
}

bool PairReader::next(TextPair& pair) {
  for (;;) {
    if (!is_open_ && !open_files()) return false;
    if (!next_of_files(pair)) {
      std::string_view rest;
      if (weights_ && !options_.truncate && weights_->next(rest))
        fail(ErrorKind::data, "{}: more weights than {} has lines\n  fix: write one number for each line",
             weights_->place(), files_[static_cast<size_t>(open_)][0]);
      is_open_ = false;
      continue;
    }
    ++report_.pairs;
    look_at(pair);
    const bool no_source = has_source(report_.sides) && trim(pair.source).empty();
    const bool no_target = trim(pair.target).empty() && !options_.empty_answers;
    if (keep_empty_ || (!no_source && !no_target)) return true;
    report_.empty.add(place(pair.place, no_source ? 0 : 1));
  }
}

/// All that is read, whether it is kept or not.
void PairReader::look_at(const TextPair& pair) {
  const bool two = has_source(report_.sides);
  const auto add = [&](std::string_view side) {  // no side contains a line end: no two texts meet
    hash_.add(side);
    hash_.add("\n");
  };
  if (two) add(pair.source);
  add(pair.target);
  if (!weight_.empty()) add(weight_);
  const bool broken = two && !text::is_utf8(pair.source);
  if (broken || !text::is_utf8(pair.target)) report_.broken.add(place(pair.place, broken ? 0 : 1));
}

bool PairReader::open_files() {
  source_.reset();
  target_.reset();
  if (open_ + 1 == static_cast<int32_t>(files_.size())) return false;
  const auto& [source, target] = files_[static_cast<size_t>(++open_)];
  begins_.push_back(report_.pairs);
  const Encoding encoding = encoding_of(options_.encoding);
  is_open_ = true;
  if (!options_.weights.texts.empty())
    weights_ = std::make_unique<LineReader>(options_.weights.texts[static_cast<size_t>(open_)]);
  if (options_.format == DataFormat::lines) {
    source_ = std::make_unique<LineReader>(source, encoding);
    if (has_source(report_.sides)) target_ = std::make_unique<LineReader>(target, encoding);
    return true;
  }
  records_ = open_records(source, options_);
  width_ = 0;
  if (!options_.header) return true;
  if (!records_->next(row_))
    fail(ErrorKind::data, "{}: an empty file, and data.header = true wants a line of names\n  fix: check the file",
         source);
  columns_ = find_columns(options_, report_.sides, &row_, place({open_, records_->line()}, 0));
  return true;
}

bool PairReader::next_of_files(TextPair& pair) {
  pair.weight = 1;
  weight_.clear();
  if (records_) {
    if (!next_record(pair)) return false;
  } else if (report_.sides == Sides::one) {
    if (!source_->next(pair.target)) return false;
    pair.place = {open_, source_->line()};
  } else {
    const bool has_source = source_->next(pair.source), has_target = target_->next(pair.target);
    pair.place = {open_, source_->line()};
    if (has_source != has_target) finish_lines(has_source, has_target);
    if (!has_source || !has_target) return false;
  }
  read_weight(pair);
  return true;
}

bool PairReader::next_record(TextPair& pair) {
  if (!records_->next(row_)) return false;
  pair.place = {open_, records_->line()};
  pair.source = pair.target = {};
  if (row_.size() == 1 && trim(row_[0]).empty()) return true;  // an empty line is an empty pair
  check_row(pair.place);
  if (width_ == 0) width_ = row_.size();
  if (row_.size() != width_) report_.odd.add(place(pair.place, 0));
  if (has_source(report_.sides)) pair.source = row_[columns_.text[0]];
  pair.target = row_[columns_.text.back()];
  if (report_.sides == Sides::answers) {
    const std::vector<size_t>& c = columns_.text;
    const size_t first_answer = c.size() - static_cast<size_t>(options_.answers);
    const bool second = first_answer > 1 || (columns_.open && row_.size() > columns_.needed());
    if (second) {
      texts_.assign(pair.source).append("\t").append(row_[first_answer > 1 ? c[1] : columns_.needed()]);
      pair.source = texts_;
    }
    if (options_.answers > 1) {
      answers_.assign(row_[c[first_answer]]);
      for (size_t i = first_answer + 1; i < c.size(); ++i) answers_.append("\t").append(row_[c[i]]);
      pair.target = answers_;
    }
  }
  if (columns_.weight >= 0) weight_ = trim(row_[static_cast<size_t>(columns_.weight)]);
  return true;
}

bool PairReader::fits(const Record& row) const {
  const size_t has = row.size(), needed = columns_.needed();
  return columns_.count > 0 ? has == columns_.count : has >= needed && !(columns_.open && has > needed + 1);
}

void PairReader::check_row(const PairPlace& at) {
  if (fits(row_)) return;
  const size_t has = row_.size(), needed = columns_.needed();
  const bool csv = options_.format == DataFormat::csv, two = has_source(report_.sides);
  const std::string between = options_.delimiter != "auto" ? in_quotes(options_.delimiter) : csv ? "comma" : "tab";
  std::string wanted = columns_.count > 0 ? std::to_string(columns_.count)
                       : has > needed     ? fmt::format("{} or {}", needed, needed + 1)
                                          : fmt::format("at least {}", needed);
  if (options_.columns.texts.empty() && !options_.header && options_.format != DataFormat::conll)
    wanted += report_.sides == Sides::answers ? fmt::format(": label, {}, text", between)
              : two                           ? fmt::format(": source, {}, target", between)
                                              : ": a text";
  std::string fix = "look at that line, or set data.columns to those that are there";
  const bool conll = options_.format == DataFormat::conll;
  if ((has > columns_.count || (conll && has > 1)) && options_.columns.texts.empty() && !options_.header)
    fix = conll ? fmt::format("name the words' column, then the labels', by data.columns = [{}, {}]",
                              has > 2 && (row_[0] == "1" || row_[0].starts_with("1 2")) ? 2 : 1, has)
          : report_.sides == Sides::answers ? "name texts, then the label, by data.columns = [2, 1]"
          : two                             ? "name two of them by data.columns = [1, 2]"
                                            : "name one of them by data.columns = [1]";
  if (has == 1 && csv && row_[0].find_first_of(";\t") != std::string_view::npos)
    fix = "fields of csv are separated by commas unless data.delimiter says otherwise: \";\" or \"\\t\"";
  else if (has == 1 && two)
    fix = report_.sides == Sides::answers ? "write the label and a tab in front of each text"
                                          : "look at that line, or set data.format = \"lines\" for a file per side";
  int64_t more = 0;  // such rows behind this one
  while (records_->next(row_)) more += !(row_.size() == 1 && trim(row_[0]).empty()) && !fits(row_);
  fail(ErrorKind::data, "{}: {} column{}, wanted {}{}\n  fix: {}", place(at, 0), has, has == 1 ? "" : "s", wanted,
       more > 0 ? fmt::format("; {} more such row{} below", thousands(more), more == 1 ? "" : "s") : "", fix);
}

void PairReader::read_weight(TextPair& pair) {
  const bool from_file = weights_ != nullptr;
  if (keep_empty_ && columns_.weight >= 0)
    fail(ErrorKind::data, "{}: a column of weights, but data.stream = true reads on over lines\n  fix: leave one out",
         place(pair.place, 0));
  if (from_file) {
    std::string_view line;
    if (!weights_->next(line))
      fail(ErrorKind::data, "{}: {} weights, and {} has more lines\n  fix: write one number for each line",
           weights_->file(), thousands(weights_->line()), files_[static_cast<size_t>(open_)][0]);
    weight_ = trim(line);
  } else if (columns_.weight < 0 || row_.size() == 1) {
    return;
  }
  double w = -1;
  const auto [end, error] = std::from_chars(weight_.data(), weight_.data() + weight_.size(), w);
  if (error != std::errc{} || end != weight_.data() + weight_.size() || !(w >= 0 && w <= 1e30))
    fail(ErrorKind::data,
         "{}: the weight \"{}\" is not a number of at least 0\n  fix: write one like 1 or 0.25; 0 leaves "
         "the line out",
         from_file ? weights_->place() : place(pair.place, 0), weight_);
  pair.weight = static_cast<float>(w);
}

/// One side has ended before the other.
void PairReader::finish_lines(bool has_source, bool has_target) {
  std::string_view rest;
  while (has_source && source_->next(rest)) {}  // so that the message can say how many there are
  while (has_target && target_->next(rest)) {}
  const int64_t source = source_->line(), target = target_->line();
  if (!options_.truncate)
    fail(ErrorKind::data,
         "corpora differ in length: {} has {} line{}, {} has {}\n"
         "  fix: look for a lost last line, or set data.truncate = true",
         source_->file(), thousands(source), source == 1 ? "" : "s", target_->file(), thousands(target));
  report_.surplus += std::abs(source - target);
}

}  // namespace attune
