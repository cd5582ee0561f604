#include "text/vocabulary.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

constexpr std::string_view kFirstLine = "attune vocabulary 1";
constexpr int kHeaderLines = 4;
constexpr const char* kFix = "\n  fix: copy the file again, or train the tokenizer again";

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
  if (kind == TokenizerKind::bpe && piece.find(kSpacePiece, 1) != std::string_view::npos)
    return "has a space mark that is not its first character";
  return "";
}

/// The lines of a file, counted, for errors that say where.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}
  template <class... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> text, Args&&... args) const {
    fail(ErrorKind::model, "{}:{}: {}{}", path_, line_, fmt::format(text, std::forward<Args>(args)...), kFix);
  }
  bool at_end() const { return at_ >= text_.size(); }
  size_t position() const { return at_; }
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

template <class T>
bool read_number(std::string_view text, T& number, int base) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return r.ec == std::errc{} && r.ptr == text.data() + text.size();
}

}  // namespace

const std::vector<std::string>& tokenizer_kinds() {
  static const std::vector<std::string> kinds{"bpe", "word", "char"};
  return kinds;
}

Vocabulary::Vocabulary(TokenizerKind kind, bool lowercase, std::vector<std::string> pieces)
    : kind_(kind), lowercase_(lowercase), pieces_(std::begin(kMarkNames), std::end(kMarkNames)) {
  pieces_.reserve(pieces.size() + kMarks);
  for (std::string& p : pieces) pieces_.push_back(std::move(p));
  ids_.reserve(pieces_.size());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    // The line this piece has in a file, for errors; a vocabulary made in code has none, but the number helps too.
    const auto wrong = [&](const std::string& what) {
      fail(ErrorKind::model, "{}: piece '{}' {}{}", i + 1 + kHeaderLines, shown(pieces_[i]), what, kFix);
    };
    const std::string fault = i < kMarks ? "" : fault_of(pieces_[i], kind);
    if (!fault.empty()) wrong(fault);
    const auto [at, fresh] = ids_.emplace(pieces_[i], static_cast<int32_t>(i));
    if (!fresh) wrong(fmt::format("stands in line {} already", at->second + 1 + kHeaderLines));
  }
  if (kind == TokenizerKind::bpe)  // merging starts from characters: each must be there
    for (size_t i = kMarks; i < pieces_.size(); ++i)
      for (Character c : Characters(pieces_[i])) {
        std::string letter;
        append_utf8(letter, c.code);
        if (!ids_.contains(letter))
          fail(ErrorKind::model, "{}: piece '{}' holds '{}', which is no piece itself{}", i + 1 + kHeaderLines,
               pieces_[i], letter, kFix);
      }
  hash_ = hash64(body());
}

std::string Vocabulary::body() const {
  std::string text = fmt::format("{}\nkind = {}\nlowercase = {}\nsize = {}\n", kFirstLine,
                                 tokenizer_kinds()[static_cast<size_t>(kind_)], lowercase_, pieces_.size());
  for (const std::string& p : pieces_) (text += p) += '\n';
  return text;
}

std::string Vocabulary::to_text() const { return body() + fmt::format("hash = {:016x}\n", hash_); }

Vocabulary Vocabulary::parse(std::string_view text, const std::string& path) {
  LineReader lines(text, path);
  const std::string_view first = lines.next("'attune vocabulary 1'");
  if (first != kFirstLine) {
    if (first.starts_with("attune vocabulary "))
      lines.fail_here("version '{}' of the format is not known to this attune, which reads version 1",
                      shown(first.substr(18, 20)));
    lines.fail_here("this is no vocabulary: the first line should be '{}'", kFirstLine);
  }
  const std::string_view kind_name = lines.value("kind");
  const auto& kinds = tokenizer_kinds();
  const auto kind = std::find(kinds.begin(), kinds.end(), kind_name);
  if (kind == kinds.end()) lines.fail_here("kind '{}' is none of {}", shown(kind_name), join(kinds, ", "));
  const std::string_view lowercase = lines.value("lowercase");
  if (lowercase != "true" && lowercase != "false")
    lines.fail_here("lowercase is true or false, not '{}'", shown(lowercase));
  const std::string_view size_text = lines.value("size");
  int32_t size = 0;
  if (!read_number(size_text, size, 10) || size < kMarks)
    lines.fail_here("size is a number of at least {}, not '{}'", kMarks, shown(size_text));

  std::vector<std::string> pieces;
  for (int32_t id = 0; id < size; ++id) {
    const std::string_view piece = lines.next(fmt::format("piece {} of {}", id + 1, size));
    if (id >= kMarks)
      pieces.emplace_back(piece);
    else if (piece != kMarkNames[id])
      lines.fail_here("'{}' should stand here, not '{}'", kMarkNames[id], shown(piece));
  }
  const std::string_view hash_text = lines.value("hash");
  uint64_t hash = 0;
  if (hash_text.size() != 16 || !read_number(hash_text, hash, 16))
    lines.fail_here("hash is 16 hexadecimal digits, not '{}'", shown(hash_text));
  if (!lines.at_end()) lines.fail_here("more follows than the {} pieces that 'size' announces", size);

  try {
    Vocabulary v(static_cast<TokenizerKind>(kind - kinds.begin()), lowercase == "true", std::move(pieces));
    if (v.hash() != hash)
      lines.fail_here("the pieces have hash {:016x}, not {:016x}: the file was changed", v.hash(), hash);
    return v;
  } catch (const Error& e) {
    const std::string_view what = e.what();  // the constructor knows the line, not the file
    if (what.starts_with(path)) throw;
    fail(ErrorKind::model, "{}:{}", path, what);
  }
}

}  // namespace attune::text
