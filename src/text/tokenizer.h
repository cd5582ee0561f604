// Text <-> ids. A tokenizer is made once, by training or from its file, never changes, and may be shared by threads.
//
//   const Tokenizer t = Tokenizer::load("model/tokenizer");
//   t.decode(t.encode("A dog runs."))      // "A dog runs."
//
// Lines are normalized first (text/normalize.h), so decode(encode(x)) is the normalized x when nothing is unknown:
// always for bytes and with byte fallback.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalize.h"
#include "text/segmenter.h"
#include "text/tokenizer_options.h"
#include "text/vocabulary.h"

namespace attune::text {

/// Ids, and the characters of the original line that each stands for. The space before a word belongs to no piece; a
/// piece that is nothing but that space has an empty span at the word.
struct Encoded {
  std::vector<int32_t> ids;
  std::vector<Span> spans;
};

class Tokenizer {
 public:
  explicit Tokenizer(Vocabulary vocabulary);

  /// Reads FOLDER/vocabulary.txt; throws ErrorKind::model, with the line, when it is not as it should be.
  static Tokenizer load(const std::string& folder);
  /// Writes it, making the folder if need be. The bytes depend on the vocabulary alone.
  void save(const std::string& folder) const;

  /// Never fails, whatever the bytes are. With `end_mark`, kEnd follows.
  std::vector<int32_t> encode(std::string_view line, bool end_mark = false) const;
  Encoded encode_with_spans(std::string_view line) const;
  /// Text as people write it: UTF-8 without control characters, whatever the ids are. kPad, kBegin and kEnd add
  /// nothing, kUnknown a "⁇". Throws for ids that are none.
  std::string decode(std::span<const int32_t> ids) const;

  TokenizerKind kind() const { return vocabulary_->kind(); }
  /// What every token is, for figures that can be compared: "character", "byte"; "" where it differs.
  std::string_view unit() const;
  int32_t size() const { return vocabulary_->size(); }
  const std::string& piece(int32_t id) const;
  /// kUnknown for what is no piece.
  int32_t id(std::string_view piece) const { return vocabulary_->id(piece); }
  /// As in the file, for models to name the vocabulary they were trained with.
  uint64_t hash() const { return vocabulary_->hash(); }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  std::unique_ptr<const Vocabulary> vocabulary_;  // on the heap: the segmenter points at it
  std::unique_ptr<const Segmenter> segmenter_;
};

}  // namespace attune::text
