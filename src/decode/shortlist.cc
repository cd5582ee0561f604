#include "decode/shortlist.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace attune {

namespace {

constexpr std::string_view kTitle = "attune shortlist 1: ", kAlways = "always";

/// Reads a shortlist line by line, and says where it is when something is wrong.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : left_(text), name_(name) {}

  bool next_line() {
    if (left_.empty()) return false;
    const size_t end = left_.find('\n');
    if (end == std::string_view::npos) wrong("the line has no end");
    line_ = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    ++number_;
    return true;
  }
  bool take(std::string_view word) {
    if (!line_.starts_with(word)) return false;
    line_.remove_prefix(word.size());
    return true;
  }
  void want(std::string_view word) {
    if (!take(word)) wrong(fmt::format("'{}' is missing", word));
  }
  /// A number from `least` to below `end`.
  int64_t number(int64_t least, int64_t end) {
    int64_t n = 0;
    const auto [at, error] = std::from_chars(line_.data(), line_.data() + line_.size(), n);
    if (error != std::errc()) wrong("a number is missing");
    if (n < least || n >= end) wrong(fmt::format("{} is not from {} to {}", n, least, end - 1));
    line_.remove_prefix(static_cast<size_t>(at - line_.data()));
    return n;
  }
  /// The rest of the line: ascending numbers below `end`, a space before each.
  void numbers(int64_t end, std::vector<int32_t>& to) {
    for (int64_t least = 0; !line_.empty(); least = to.back() + 1) {
      want(" ");
      to.push_back(static_cast<int32_t>(number(least, end)));
    }
  }
  bool at_end() const { return line_.empty(); }
  [[noreturn]] void wrong(const std::string& what) const {
    fail(ErrorKind::model,
         "{}:{}: {}: this is no shortlist of the model\n  fix: make it anew: attune quantize --shortlist", name_,
         number_ + (number_ == 0), what);
  }

 private:
  std::string_view left_, line_;
  const std::string& name_;
  int64_t number_ = 0;
};

void append(std::string& out, std::span<const int32_t> ids) {
  for (const int32_t id : ids) {
    out += ' ';
    out += std::to_string(id);
  }
  out += '\n';
}

}  // namespace

Shortlist::Shortlist(int64_t target_words, std::vector<int32_t> always,
                     const std::vector<std::vector<int32_t>>& translations)
    : target_words_(target_words), always_(std::move(always)) {
  const auto sort = [&](std::vector<int32_t>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    check(ids.empty() || (ids.front() >= 0 && ids.back() < target_words), "shortlist", "there are {} words, not {}",
          target_words, ids.empty() ? 0 : ids.back());
  };
  sort(always_);
  std::vector<int32_t> own;
  for (const std::vector<int32_t>& t : translations) {
    own = t;
    sort(own);
    std::set_difference(own.begin(), own.end(), always_.begin(), always_.end(), std::back_inserter(ids_));
    start_.push_back(std::ssize(ids_));
  }
}

std::span<const int32_t> Shortlist::translations(int64_t source) const {
  const auto s = static_cast<size_t>(source);
  return std::span(ids_).subspan(static_cast<size_t>(start_[s]), static_cast<size_t>(start_[s + 1] - start_[s]));
}

std::vector<int32_t> Shortlist::ids_of(std::span<const int32_t> source) const {
  // A bit for each word: they come out in order, and each once, without sorting.
  std::vector<uint64_t> bits(static_cast<size_t>((target_words_ + 63) / 64));
  const auto add = [&](std::span<const int32_t> ids) {
    for (const int32_t id : ids) bits[static_cast<size_t>(id) / 64] |= uint64_t{1} << (id % 64);
  };
  add(always_);
  for (const int32_t s : source)
    if (s >= 0 && s < source_words()) add(translations(s));
  std::vector<int32_t> ids;
  for (size_t i = 0; i < bits.size(); ++i)
    for (uint64_t left = bits[i]; left != 0; left &= left - 1)
      ids.push_back(static_cast<int32_t>(64 * i) + std::countr_zero(left));
  return ids;
}

std::string Shortlist::text() const {
  std::string out =
      fmt::format("{}{} source words, {} target words\n{}:", kTitle, source_words(), target_words_, kAlways);
  append(out, always_);
  for (int64_t s = 0; s < source_words(); ++s) {
    if (translations(s).empty()) continue;
    out += std::to_string(s) + ':';
    append(out, translations(s));
  }
  return out;
}

Shortlist Shortlist::parse(const std::string& text, const std::string& name, int64_t source_words,
                           int64_t target_words) {
  Reader in(text, name);
  if (!in.next_line() || !in.take(kTitle)) in.wrong(fmt::format("it does not begin with '{}'", kTitle));
  const auto size = [&](int64_t wanted, const char* side) {
    if (const int64_t n = in.number(0, INT64_MAX); n != wanted)
      in.wrong(fmt::format("{} {} words, the model has {}", n, side, wanted));
  };
  size(source_words, "source");
  in.want(" source words, ");
  size(target_words, "target");
  in.want(" target words");
  if (!in.at_end()) in.wrong("the line goes on after the sizes");
  if (!in.next_line()) in.wrong("it ends after the first line");
  in.want(kAlways);
  in.want(":");
  Shortlist list(target_words, {}, {});
  in.numbers(target_words, list.always_);
  std::vector<int32_t> own;
  while (in.next_line()) {
    const int64_t word = in.number(list.source_words(), source_words);
    in.want(":");
    list.start_.resize(static_cast<size_t>(word) + 1, std::ssize(list.ids_));
    own.clear();
    in.numbers(target_words, own);
    list.ids_.insert(list.ids_.end(), own.begin(), own.end());
    list.start_.push_back(std::ssize(list.ids_));
  }
  list.start_.resize(static_cast<size_t>(source_words) + 1, std::ssize(list.ids_));
  return list;
}

Shortlist Shortlist::load(const std::string& path, int64_t source_words, int64_t target_words) {
  return parse(read_regular_file(path, int64_t{1} << 30), path, source_words, target_words);
}

}  // namespace attune
