#include "text/tokenizer.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

constexpr const char* kFileName = "vocabulary.txt";

std::string file_in(const std::string& folder) { return (std::filesystem::path(folder) / kFileName).string(); }

std::unique_ptr<const Segmenter> make_segmenter(const Vocabulary& vocabulary) {
  switch (vocabulary.kind()) {
    case TokenizerKind::bpe:
      return make_bpe(vocabulary);
    case TokenizerKind::unigram:
      return make_unigram(vocabulary);
    case TokenizerKind::wordpiece:
      return make_wordpiece(vocabulary);
    case TokenizerKind::byte:
      return make_bytes();
    case TokenizerKind::character:
      return make_characters(vocabulary);
    case TokenizerKind::word:
      return make_words(vocabulary);
  }
  fail(ErrorKind::internal, "[tokenizer] no such kind: {}", static_cast<int>(vocabulary.kind()));
}

/// Text that was put together of bytes by a model, which can say anything: what is no UTF-8 becomes U+FFFD, and so do
/// control characters and separators of lines, so that a line stays a line. A "▁" was a space.
std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (Character c : Characters(bytes)) {
    const bool control = c.code < U' ' || (c.code >= 0x7F && c.code < 0xA0) || c.code == 0x2028 || c.code == 0x2029;
    std::string letter;
    append_utf8(letter, control ? kReplacement : c.code);
    if (letter != kSpacePiece)
      text += letter;
    else if (!text.empty())
      text += ' ';
  }
  return text;
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::make_unique<const Vocabulary>(std::move(vocabulary))),
      segmenter_(make_segmenter(*vocabulary_)) {}

namespace {
constexpr int64_t kLargestVocabulary = int64_t{1} << 28;  // in bytes
}

Tokenizer Tokenizer::load(const std::string& folder) {
  const std::string path = file_in(folder);
  return Tokenizer(Vocabulary::parse(read_regular_file(path, kLargestVocabulary), path));
}

void Tokenizer::save(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::io, "cannot make the folder {}: {}", folder, error.message());
  write_file(file_in(folder), vocabulary_->to_text());
}

std::vector<int32_t> Tokenizer::encode(std::string_view line, bool end_mark) const {
  const std::string text = normalize(line, vocabulary_->lowercase());
  std::vector<Token> tokens;
  segmenter_->segment(text, tokens);
  std::vector<int32_t> ids;
  ids.reserve(tokens.size() + end_mark);
  for (const Token& t : tokens) ids.push_back(t.id);
  if (end_mark) ids.push_back(kEnd);
  return ids;
}

Encoded Tokenizer::encode_with_spans(std::string_view line) const {
  std::vector<Span> from;
  const std::string text = normalize(line, vocabulary_->lowercase(), &from);
  std::vector<Token> tokens;
  segmenter_->segment(text, tokens);
  Encoded result;
  for (const Token& t : tokens) {
    Span span = from[t.begin];
    if (t.begin == t.end) span.end = span.begin;
    // Accents may have changed places on the way: the outermost characters count.
    for (uint32_t i = t.begin; i < t.end; ++i)
      span = {std::min(span.begin, from[i].begin), std::max(span.end, from[i].end)};
    result.ids.push_back(t.id);
    result.spans.push_back(span);
  }
  return result;
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  bool first = true, bytes = false;
  for (const int32_t id : ids) {
    check(id >= 0 && id < size(), "decode", "id {} is not one of the {} pieces", id, size());
    if (id == kPad || id == kBegin || id == kEnd) continue;
    if (vocabulary_->is_byte(id)) {
      text += static_cast<char>(id - kMarks);
      bytes = true;
    } else {
      segmenter_->write(id, first, text);
    }
    first = false;
  }
  return bytes ? text_of_bytes(text) : text;
}

std::string_view Tokenizer::unit() const {
  if (kind() == TokenizerKind::byte) return "byte";
  return kind() == TokenizerKind::character && !vocabulary_->byte_fallback() ? "character" : "";
}

const std::string& Tokenizer::piece(int32_t id) const {
  check(id >= 0 && id < size(), "piece", "id {} is not one of the {} pieces", id, size());
  return vocabulary_->piece(id);
}

}  // namespace attune::text
