#include "text/trainer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "text/counts.h"
#include "text/letters.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

bool is_mark(std::string_view word) {
  return std::find(std::begin(kMarkNames), std::end(kMarkNames), word) != std::end(kMarkNames);
}

std::vector<std::string> names_of(const RankedCounts& counts) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(name);
  return names;
}

[[noreturn]] void fail_too_small(int64_t needed, const std::string& by, const TokenizerOptions& options) {
  const bool bytes = options.byte_fallback || options.kind == TokenizerKind::byte;
  fail(ErrorKind::data, "tokenizer size {} is too small for the {}{} marks\n  fix: set size to {} or more{}",
       thousands(options.size), by, int{kMarks}, thousands(needed + kMarks + (bytes ? kBytes : 0)),
       needed > 0 ? ", or leave out rare characters by character_coverage = 0.9995" : "");
}

/// Scripts without spaces make one word of a sentence.
std::string note_on_words(const RankedCounts& words) {
  int64_t spaceless = 0, all = 0;
  for (const auto& [word, count] : words)
    for (Character c : Characters(word)) {
      spaceless += letter_kind(c.code) == LetterKind::spaceless ? count : 0;
      all += count;
    }
  if (2 * spaceless < all) return "";
  return "this text puts no spaces between words, so words are whole sentences: kind unigram, bpe or char suits it "
         "better";
}

/// A bounded share of the lines: all, or every 2nd, 4th, ... The unigram model looks at what follows what, beyond
/// words.
class LineSample {
 public:
  void add(const std::string& line) {
    if (seen_++ % every_ != 0 || line.empty()) return;
    lines_.emplace_back(line, 1);
    bytes_ += line.size();
    if (bytes_ > kMost) thin();
  }
  const RankedCounts& lines() const { return lines_; }
  std::string note() const {
    return every_ == 1 ? "" : fmt::format("a lot of text: the pieces were learned from one line in {}", every_);
  }

 private:
  static constexpr size_t kMost = size_t{64} << 20;  // the trainer needs 25 times as much
  void thin() {
    size_t kept = 0;
    bytes_ = 0;
    for (size_t i = 0; i < lines_.size(); i += 2) {
      bytes_ += lines_[i].first.size();
      std::swap(lines_[kept++], lines_[i]);
    }
    lines_.resize(kept);
    every_ *= 2;
  }
  RankedCounts lines_;
  size_t bytes_ = 0;
  int64_t seen_ = 0, every_ = 1;
};

/// Counts of words in bounded memory: where there are too many different ones, the rarest are forgotten.
class WordCounts {
 public:
  void add(std::string&& word) {
    const size_t size = word.size();
    if (++counts_[std::move(word)] == 1) bytes_ += size;
    ++total_;
    while (different() > kMost || bytes_ > kMostBytes) {  // where there are no spaces, a word may be a whole line
      ++rare_;
      std::erase_if(counts_, [&](const auto& c) {
        const bool rare = c.second <= rare_;
        if (rare) bytes_ -= c.first.size();
        return rare;
      });
    }
  }
  bool empty() const { return counts_.empty(); }
  int64_t total() const { return total_; }
  int64_t different() const { return static_cast<int64_t>(counts_.size()); }
  RankedCounts take() { return ranked(std::exchange(counts_, {})); }
  std::string note() const {
    return rare_ == 0
               ? ""
               : fmt::format(
                     "too many different words: those that had occurred up to {} time{} were forgotten on the way",
                     rare_, rare_ == 1 ? "" : "s");
  }

 private:
  static constexpr int64_t kMost = 1'500'000;  // about 150 MB
  static constexpr size_t kMostBytes = size_t{128} << 20;
  Counts counts_;
  int64_t total_ = 0, rare_ = 0;
  size_t bytes_ = 0;
};

/// With the pieces that are learned.
VocabularyContents contents_of(const RankedCounts& words, const LineSample& sample, const TokenizerOptions& options) {
  VocabularyContents c{.kind = options.kind, .lowercase = options.lowercase, .byte_fallback = options.byte_fallback};
  const bool bytes = options.byte_fallback || options.kind == TokenizerKind::byte;
  if (bytes && options.size < kMarks + kBytes) fail_too_small(0, "256 bytes and the ", options);
  const auto room = static_cast<size_t>(options.size - kMarks - (bytes ? kBytes : 0));
  if (options.kind == TokenizerKind::byte) return c;
  if (options.kind == TokenizerKind::word) {
    c.pieces = names_of(words);
    std::erase_if(c.pieces, is_mark);  // text can't forge a mark
    c.pieces.resize(std::min(c.pieces.size(), room));
    return c;
  }
  const RankedCounts characters = covered_characters(words, options.character_coverage);
  if (options.kind == TokenizerKind::character) {
    c.pieces = names_of(characters);
    c.pieces.resize(std::min(c.pieces.size(), room));
    return c;
  }
  const auto check_room = [&](size_t count, const char* where) {
    const auto n = static_cast<int64_t>(count);
    if (count > room)
      fail_too_small(
          n, fmt::format("{} characters of the text{}{} and the ", thousands(n), where, bytes ? ", the 256 bytes" : ""),
          options);
  };
  if (options.kind == TokenizerKind::wordpiece) {
    c.pieces = train_wordpiece(words, characters, room);
    check_room(c.pieces.size(), ", at the beginnings of words and inside,");
    return c;
  }
  check_room(characters.size(), "");
  Subwords learned = train_subwords(options.kind == TokenizerKind::bpe ? words : sample.lines(), options);
  c.pieces = std::move(learned.pieces);
  c.scores = std::move(learned.scores);
  return c;
}

}  // namespace

RankedCounts ranked(const Counts& counts) {
  RankedCounts list(counts.begin(), counts.end());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return list;
}

RankedCounts covered_characters(const RankedCounts& words, double coverage) {
  Counts counts;
  int64_t all = 0;
  for (const auto& [word, count] : words) {
    counts[std::string(kSpacePiece)] += count;
    all += count;
    std::string letter;
    for (Character c : Characters(word)) {
      letter.clear();
      append_utf8(letter, c.code);
      counts[letter] += count;
      all += count;
    }
  }
  RankedCounts list = ranked(counts);
  int64_t seen = 0;
  size_t kept = 0;
  while (kept < list.size() && (coverage >= 1 || static_cast<double>(seen) < coverage * static_cast<double>(all)))
    seen += list[kept++].second;
  list.resize(kept);
  return list;
}

TrainedTokenizer train_tokenizer(LineSource next_line, TokenizerOptions options) {
  check_fields(fields_of(options));
  if (options.byte_fallback && !options.can_fall_back())
    fail(ErrorKind::usage, "kind {} has no byte fallback\n  fix: leave it out, or choose bpe, unigram or char",
         tokenizer_kinds()[static_cast<size_t>(options.kind)]);
  options.byte_fallback &= options.kind != TokenizerKind::byte;  // bytes need none
  WordCounts counts;
  LineSample sample;
  int64_t lines = 0;
  for (std::string line; next_line(line); ++lines) {
    const std::string text = normalize(line, options.lowercase);
    if (options.kind == TokenizerKind::unigram) sample.add(text);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      counts.add(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (counts.empty())
    fail(ErrorKind::data, "a tokenizer can't be made of nothing: {} lines, no word in them\n  fix: check the files",
         thousands(lines));
  const int64_t distinct = counts.different();
  const RankedCounts words = counts.take();
  TrainedTokenizer result{Tokenizer(Vocabulary(contents_of(words, sample, options))), lines, counts.total(), distinct,
                          ""};
  result.note = options.kind == TokenizerKind::word ? note_on_words(words) : sample.note();
  if (const std::string forgotten = counts.note(); !forgotten.empty())
    result.note += (result.note.empty() ? "" : "; ") + forgotten;
  if (result.note.empty() && options.kind != TokenizerKind::byte && result.tokenizer.size() < options.size)
    result.note = fmt::format("the text gives no more than {} pieces; {} were asked for",
                              thousands(result.tokenizer.size()), thousands(options.size));
  return result;
}

}  // namespace attune::text
