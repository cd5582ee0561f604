#include "data/pairs.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

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
  if (surplus > 0)
    out.push_back(fmt::format("{} line{} of the longer side left out", thousands(surplus), surplus == 1 ? "" : "s"));
  return out;
}

PairReader::PairReader(const std::vector<std::string>& files, const DataSettings& options, const std::string& key,
                       Sides sides)
    : files_(pair_files(files, options.format, key, sides)),
      format_(options.format),
      truncate_(options.truncate),
      keep_empty_(sides == Sides::one && options.stream) {
  report_.sides = sides;
  if (std::count(files.begin(), files.end(), "-") > 1)
    fail(ErrorKind::data, "{}: the standard input (-) can be read only once\n  fix: put one side into a file", key);
}

std::string PairReader::place(const PairPlace& place, int side) const {
  const std::string& file = files_[static_cast<size_t>(place.files)][static_cast<size_t>(side)];
  return fmt::format("{}:{}", file == "-" ? "stdin" : file, place.line);
}

bool PairReader::next(TextPair& pair) {
  for (;;) {
    if (!source_) {
      if (open_ + 1 == static_cast<int32_t>(files_.size())) return false;
      const auto& [source, target] = files_[static_cast<size_t>(++open_)];
      source_ = std::make_unique<LineReader>(source);
      if (format_ == DataFormat::lines && report_.sides == Sides::two) target_ = std::make_unique<LineReader>(target);
    }
    if (!next_of_files(pair)) {
      source_.reset();
      target_.reset();
      continue;
    }
    ++report_.pairs;
    const bool two = report_.sides == Sides::two;
    const auto add = [&](std::string_view side) {  // no side contains a line end: no two texts meet
      hash_.add(side);
      hash_.add("\n");
    };
    if (two) add(pair.source);
    add(pair.target);
    const bool no_source = two && trim(pair.source).empty();
    if (keep_empty_ || (!no_source && !trim(pair.target).empty())) return true;
    report_.empty.add(place(pair.place, no_source ? 0 : 1));
  }
}

bool PairReader::next_of_files(TextPair& pair) {
  if (report_.sides == Sides::one) {
    if (!source_->next(pair.target)) return false;
    pair.place = {open_, source_->line()};
    return true;
  }
  if (format_ == DataFormat::tsv) {
    std::string_view line;
    if (!source_->next(line)) return false;
    pair.place = {open_, source_->line()};
    split_columns(line, pair);
    return true;
  }
  const bool has_source = source_->next(pair.source), has_target = target_->next(pair.target);
  pair.place = {open_, source_->line()};
  if (has_source && has_target) return true;
  if (has_source || has_target) finish_lines(has_source, has_target);
  return false;
}

/// One side has ended before the other.
void PairReader::finish_lines(bool has_source, bool has_target) {
  std::string_view rest;
  while (has_source && source_->next(rest)) {}  // so that the message can say how many there are
  while (has_target && target_->next(rest)) {}
  const int64_t source = source_->line(), target = target_->line();
  if (!truncate_)
    fail(ErrorKind::data,
         "corpora differ in length: {} has {} line{}, {} has {}\n"
         "  fix: look for a lost last line, or set data.truncate = true",
         source_->file(), thousands(source), source == 1 ? "" : "s", target_->file(), thousands(target));
  report_.surplus += std::abs(source - target);
}

void PairReader::split_columns(std::string_view line, TextPair& pair) const {
  const size_t tab = line.find('\t');
  const auto columns = std::count(line.begin(), line.end(), '\t') + 1;
  if (columns == 1 && trim(line).empty()) {  // an empty line is an empty pair
    pair.source = pair.target = {};
    return;
  }
  if (columns != 2)
    fail(ErrorKind::data, "{}: {} column{}, wanted 2: source, tab, target\n  fix: {}", place(pair.place, 0), columns,
         columns == 1 ? "" : "s",
         columns == 1 ? "look at that line, or set data.format = \"lines\" for a file per side"
                      : "keep two columns by cut -f1,2");
  pair.source = line.substr(0, tab);
  pair.target = line.substr(tab + 1);
}

}  // namespace attune
