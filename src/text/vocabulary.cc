#include "text/vocabulary.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

constexpr std::string_view kVocabularyFirstLine = "attune vocabulary 1";
constexpr const char* kTrainTokenizerAgain = "\n  fix: copy the file again, or train the tokenizer again";

/// A piece of a file that may hold anything, fit to stand in a message.
std::string shown(std::string_view text) {
  std::string out = repaired(text.substr(0, 80));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = '?';
  return out;
}

/// What is wrong with a piece, "" if nothing.
std::string fault_of(std::string_view piece, TokenizerKind kind) {
  if (piece.empty()) return "is empty";
  if (!is_utf8(piece)) return "is not UTF-8";
  for (const char c : piece)
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F) return "holds white space or a control character";
  if (kind == TokenizerKind::character && first_character(piece).bytes != piece.size())
    return "is longer than a character";
  // So that no piece reaches over two words, and words can be encoded one by one.
  if ((kind == TokenizerKind::bpe || kind == TokenizerKind::unigram) &&
      piece.find(kSpacePiece, 1) != std::string_view::npos)
    return "has a space mark that is not its first character";
  if (kind == TokenizerKind::wordpiece && piece == kInside) return "has nothing behind its ##";
  return "";
}

/// "<0x41>": a byte as a piece, as SentencePiece calls it.
std::string byte_name(int byte) { return fmt::format("<0x{:02X}>", byte); }

/// The lines of a file, counted, for errors that say where.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}
  template <class... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> text, Args&&... args) const {
    fail(ErrorKind::model, "{}:{}: {}{}", path_, line_, fmt::format(text, std::forward<Args>(args)...),
         kTrainTokenizerAgain);
  }
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view next(std::string_view wanted) {
    ++line_;
    if (at_end()) fail_here("the file ends where {} should stand", wanted);
    const size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) fail_here("the file ends in the middle of a line");
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }
  /// The value of a line "key = value".
  std::string_view value(std::string_view key) {
    const std::string wanted = fmt::format("'{} = ...'", key);
    const std::string_view line = next(wanted);
    if (!line.starts_with(key) || !line.substr(key.size()).starts_with(" = "))
      fail_here("{} should stand here, not '{}'", wanted, shown(line));
    return line.substr(key.size() + 3);
  }

 private:
  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  int64_t line_ = 0;
};

template <class T, class... Base>
bool read_number(std::string_view text, T& number, Base... base) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  return r.ec == std::errc{} && r.ptr == text.data() + text.size();
}

/// The piece of a line "piece<TAB>score".
std::string_view take_score(std::string_view line, const LineReader& lines, std::vector<float>& scores) {
  const size_t tab = std::min(line.find('\t'), line.size());
  float score = 0;
  if (tab == line.size() || !read_number(line.substr(tab + 1), score) || !std::isfinite(score))
    lines.fail_here("a piece, a tab and a score should stand here, not '{}'", shown(line));
  scores.push_back(score);
  return line.substr(0, tab);
}

}  // namespace

const std::vector<std::string>& tokenizer_kinds() {
  static const std::vector<std::string> kinds{"bpe", "unigram", "wordpiece", "byte", "char", "word"};
  return kinds;
}

Vocabulary::Vocabulary(VocabularyContents c)
    : kind_(c.kind),
      lowercase_(c.lowercase),
      byte_fallback_(c.byte_fallback),
      pieces_(std::begin(kMarkNames), std::end(kMarkNames)),
      scores_(std::move(c.scores)) {
  check(scores_.size() == (kind_ == TokenizerKind::unigram ? c.pieces.size() : 0), "vocabulary",
        "{} scores for {} pieces of kind {}", scores_.size(), c.pieces.size(),
        tokenizer_kinds()[static_cast<size_t>(kind_)]);
  pieces_.reserve(c.pieces.size() + static_cast<size_t>(first()));
  for (int byte = 0; has_bytes() && byte < kBytes; ++byte) pieces_.push_back(byte_name(byte));
  for (std::string& p : c.pieces) pieces_.push_back(std::move(p));
  ids_.reserve(pieces_.size());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    std::string wrong = fault(i);
    const auto [at, fresh] = ids_.emplace(pieces_[i], static_cast<int32_t>(i));
    if (wrong.empty() && !fresh)
      wrong = fmt::format("stands in line {} already", static_cast<size_t>(at->second) + 1 + header_lines());
    // The line this piece has in a file; a vocabulary made in code has none, but the number helps too.
    if (!wrong.empty())
      fail(ErrorKind::model, "{}: piece '{}' {}{}", i + 1 + header_lines(), shown(pieces_[i]), wrong,
           kTrainTokenizerAgain);
  }
  if (kind_ == TokenizerKind::bpe) check_letters();
  hash_ = hash64(body());
}

std::string Vocabulary::fault(size_t i) const {
  if (i < static_cast<size_t>(first())) return "";
  if (kind_ == TokenizerKind::byte) return "is one more than the bytes";
  return fault_of(pieces_[i], kind_);
}

/// Merging starts from characters: each must be there.
void Vocabulary::check_letters() const {
  for (auto i = static_cast<size_t>(first()); i < pieces_.size(); ++i)
    for (Character c : Characters(pieces_[i])) {
      std::string letter;
      append_utf8(letter, c.code);
      if (!ids_.contains(letter))
        fail(ErrorKind::model, "{}: piece '{}' holds '{}', which is no piece itself{}", i + 1 + header_lines(),
             pieces_[i], letter, kTrainTokenizerAgain);
    }
}

std::string Vocabulary::body() const {
  std::string text = fmt::format("{}\nkind = {}\nlowercase = {}\n{}size = {}\n", kVocabularyFirstLine,
                                 tokenizer_kinds()[static_cast<size_t>(kind_)], lowercase_,
                                 byte_fallback_ ? "byte_fallback = true\n" : "", pieces_.size());
  for (int32_t id = 0; id < size(); ++id) {
    text += piece(id);
    if (kind_ == TokenizerKind::unigram && id >= first()) text += fmt::format("\t{}", score(id));  // all its digits
    text += '\n';
  }
  return text;
}

std::string Vocabulary::to_text() const { return body() + fmt::format("hash = {:016x}\n", hash_); }

Vocabulary Vocabulary::parse(std::string_view text, const std::string& path) {
  LineReader lines(text, path);
  const std::string_view first = lines.next("'attune vocabulary 1'");
  if (first != kVocabularyFirstLine) {
    if (first.starts_with("attune vocabulary "))
      lines.fail_here("version '{}' of the format is not known to this attune, which reads version 1",
                      shown(first.substr(18, 20)));
    lines.fail_here("this is no vocabulary: the first line should be '{}'", kVocabularyFirstLine);
  }
  const std::string_view kind_name = lines.value("kind");
  const auto& kinds = tokenizer_kinds();
  const auto kind = std::find(kinds.begin(), kinds.end(), kind_name);
  if (kind == kinds.end()) lines.fail_here("kind '{}' is none of {}", shown(kind_name), join(kinds, ", "));
  const std::string_view lowercase = lines.value("lowercase");
  if (lowercase != "true" && lowercase != "false")
    lines.fail_here("lowercase is true or false, not '{}'", shown(lowercase));
  VocabularyContents c{.kind = static_cast<TokenizerKind>(kind - kinds.begin()), .lowercase = lowercase == "true"};
  if (lines.rest().starts_with("byte_fallback")) {
    const std::string_view fallback = lines.value("byte_fallback");
    if (fallback != "true") lines.fail_here("byte_fallback is true or not there, not '{}'", shown(fallback));
    c.byte_fallback = true;
    if (c.kind != TokenizerKind::bpe && c.kind != TokenizerKind::unigram && c.kind != TokenizerKind::character)
      lines.fail_here("kind {} has no byte fallback", kind_name);
  }
  const int32_t bytes = c.byte_fallback || c.kind == TokenizerKind::byte ? kBytes : 0;
  const std::string_view size_text = lines.value("size");
  int32_t size = 0;
  if (!read_number(size_text, size, 10) || size < kMarks + bytes)
    lines.fail_here("size is a number of at least {}, not '{}'", kMarks + bytes, shown(size_text));

  for (int32_t id = 0; id < size; ++id) {
    const std::string_view piece = lines.next(fmt::format("piece {} of {}", id + 1, size));
    if (id >= kMarks + bytes) {
      c.pieces.emplace_back(c.kind == TokenizerKind::unigram ? take_score(piece, lines, c.scores) : piece);
      continue;
    }
    const std::string wanted = id < kMarks ? std::string(kMarkNames[id]) : byte_name(id - kMarks);
    if (piece != wanted) lines.fail_here("'{}' should stand here, not '{}'", wanted, shown(piece));
  }
  const std::string_view hash_text = lines.value("hash");
  uint64_t hash = 0;
  if (hash_text.size() != 16 || !read_number(hash_text, hash, 16))
    lines.fail_here("hash is 16 hexadecimal digits, not '{}'", shown(hash_text));
  if (!lines.at_end()) lines.fail_here("more follows than the {} pieces that 'size' announces", size);

  try {
    Vocabulary v(std::move(c));
    if (v.hash() != hash)
      lines.fail_here("the pieces have hash {:016x}, not {:016x}: the file was changed", v.hash(), hash);
    return v;
  } catch (const Error& e) {
    const std::string_view what = e.what();  // the constructor knows the line, not the file
    if (what.starts_with(path)) throw;
    fail(ErrorKind::model, "{}:{}", path, what);
  }
}

std::u32string Vocabulary::letters(int32_t id) const {
  if (id == kUnknown) return {kReplacement};
  if (id < kMarks) return {};
  if (is_byte(id)) return id == byte_id(' ') ? std::u32string() : std::u32string(1, static_cast<char32_t>(id - kMarks));
  std::string_view rest = piece(id);
  if (kind_ == TokenizerKind::wordpiece && rest.starts_with(kInside)) rest.remove_prefix(kInside.size());
  std::u32string all;
  const char32_t blank = first_character(kSpacePiece).code;
  for (const Character c : Characters(rest))
    if (c.code != blank) all += c.code;
  return all;
}

}  // namespace attune::text
