#include "advise/corpus_look.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "data/files/pairs.h"
#include "text/utf8.h"

namespace attune {

namespace {

/// Letters of Chinese, Japanese, Thai, Lao, Khmer and Burmese text.
bool is_ideograph(char32_t c) {
  return (c >= 0x2E80 && c <= 0x9FFF && !(c >= 0x3000 && c <= 0x303F)) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF) || (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1780 && c <= 0x17FF) ||
         (c >= 0x1000 && c <= 0x109F);
}

bool ends_sentence(std::string_view word) {
  return !word.empty() && std::string_view(".!?").find(word.back()) != std::string_view::npos;
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Counts what goes by.
class Looker {
 public:
  explicit Looker(CorpusLook& look) : look_(look), seen_(0x110000) {}

  void see(const TextPair& pair) {
    ++look_.pairs;
    look_.same += pair.source == pair.target;
    const int64_t longer = std::max(see(pair.source, look_.source), see(pair.target, look_.target));
    look_.lengths.resize(CorpusLook::kLongest + 1);
    ++look_.lengths[static_cast<size_t>(std::min(longer, CorpusLook::kLongest))];
  }

 private:
  /// About how many tokens the line will be.
  int64_t see(std::string_view line, SideLook& side) {
    const int64_t before = side.tokens;
    side.broken += !text::is_utf8(line);
    std::string_view last;
    constexpr std::string_view kSpaces = " \t\r\v\f";
    for (size_t at = line.find_first_not_of(kSpaces); at != std::string_view::npos;) {
      const size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
      see_word(last = line.substr(at, end - at), side);
      at = line.find_first_not_of(kSpaces, end);
    }
    side.ends += ends_sentence(last);
    side.spaced_ends += ends_sentence(last) && last.size() == 1;
    return side.tokens - before;
  }

  void see_word(std::string_view word, SideLook& side) {
    int64_t letters = 0, ideographs = 0;
    for (const text::Character c : text::Characters(word)) {
      ++(is_ideograph(c.code) ? ideographs : letters);
      if (seen_[c.code]) continue;
      seen_[c.code] = true;
      ++look_.different_characters;
    }
    ++side.words;
    side.characters += letters + ideographs;
    side.ideographs += ideographs;
    // Most words are one subword, long ones are several; of ideographs most are one by themselves.
    side.tokens += (letters > 0 ? 1 + letters / 10 : 0) + (3 * ideographs + 3) / 4;
    if (look_.different_words < CorpusLook::kMostWords && words_.insert(hash64(word)).second) ++look_.different_words;
  }

  CorpusLook& look_;
  std::vector<bool> seen_;  // of all characters there are
  std::unordered_set<uint64_t> words_;
};

void refuse_binary(const PairReader& reader, const TextPair& pair) {
  const std::array<std::string_view, 2> sides{pair.source, pair.target};
  for (int side = 0; side < 2; ++side)
    if (sides[static_cast<size_t>(side)].find('\0') != std::string_view::npos)
      fail(ErrorKind::data, "{} has zero bytes: this is not a text file\n  fix: name text files, a sentence a line",
           reader.place(pair.place, side));
}

void refuse_other_letters(const SideLook& side, int64_t pairs, const std::string& file) {
  if (100 * side.broken > pairs)
    fail(ErrorKind::data, "{} is not in UTF-8: {} of {} lines are broken\n  fix: convert it, for example by {}", file,
         thousands(side.broken), thousands(pairs), "iconv -f latin1 -t utf-8");
}

/// "--columns 1,2" instead of "data.columns = [1, 2]".
std::string with_columns_option(std::string text) {
  const std::string key = "data.columns = [";
  const size_t at = text.find(key), end = text.find(']', at);
  if (at == std::string::npos || end == std::string::npos) return text;
  std::string numbers = text.substr(at + key.size(), end - at - key.size());
  std::erase(numbers, ' ');
  return text.replace(at, end + 1 - at, "--columns " + numbers);
}

/// What PairReader says of files that differ names a key, but there is no recipe yet to set it in.
[[noreturn]] void rethrow_with_option(const Error& e) {
  if (e.kind() == ErrorKind::data && std::string_view(e.what()).starts_with("corpora differ"))
    fail(ErrorKind::data, "{}\n  fix: look for a lost last line, or use the lines that both have by --truncate",
         first_line_of(e.what()));
  throw Error(e.kind(), with_columns_option(e.what()));
}

}  // namespace

int64_t CorpusLook::length_of_all_but(int64_t rest) const {
  const int64_t wanted = pairs - pairs / rest;
  int64_t seen = 0;
  for (size_t length = 0; length < lengths.size(); ++length)
    if ((seen += lengths[length]) >= wanted) return static_cast<int64_t>(length);
  return kLongest;
}

int64_t CorpusLook::longer_than(int64_t length) const {
  int64_t count = 0;
  for (size_t i = static_cast<size_t>(length) + 1; i < lengths.size(); ++i) count += lengths[i];
  return count;
}

CorpusLook look_at(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                   Sides sides) {
  CorpusLook look;
  Looker looker(look);
  PairReader reader(files, options, key, sides);
  try {
    for (TextPair pair; reader.next(pair);) {
      refuse_binary(reader, pair);
      looker.see(pair);
    }
  } catch (const Error& e) { rethrow_with_option(e); }
  const bool one_file = sides == Sides::one || options.format != DataFormat::lines;
  const std::string& target_file = files[one_file ? 0 : 1];
  if (reader.report().pairs == 0)
    fail(ErrorKind::data, "{} is empty\n  fix: check the name; a sentence a line is wanted", files[0]);
  if (sides == Sides::one && look.target.words == 0)
    fail(ErrorKind::data, "{}: every line is empty\n  fix: check the file", join(files, ", "));
  if (look.pairs == 0)
    fail(ErrorKind::data, "{} and {}: every pair has an empty side\n  fix: check the files", files[0], target_file);
  refuse_other_letters(look.source, look.pairs, files[0]);
  refuse_other_letters(look.target, look.pairs, target_file);
  PairReport report = reader.report();
  report.broken = {};  // told below, for both sides
  look.remarks = report.sentences(options.overlong);
  if (const int64_t broken = look.source.broken + look.target.broken; broken > 0)
    look.remarks.push_back(fmt::format("{} line{} broken UTF-8: U+FFFD will stand for those letters", thousands(broken),
                                       broken == 1 ? " has" : "s have"));
  if (look.same == look.pairs) look.remarks.push_back("both sides are the same in every pair: is that what you want?");
  return look;
}

}  // namespace attune
