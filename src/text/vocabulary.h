// The pieces a tokenizer knows, and the file they live in: FOLDER/vocabulary.txt, UTF-8, one thing per line:
//
//   attune vocabulary 1          what it is, and the version of this format
//   kind = bpe                   bpe | unigram | wordpiece | byte | char | word
//   lowercase = false            whether lines are lower-cased before they are cut
//   byte_fallback = true         only where it is so: what is no piece is cut into bytes
//   size = 8000                  so many pieces follow, the first one being id 0
//   <pad>                        the four marks, always these, in this order
//   <s>
//   </s>
//   <unk>
//   <0x00>                       byte fallback and kind byte: the 256 bytes
//   ...
//   ▁the                         then the pieces. bpe: in the order they merge; bpe, unigram: "▁" stands for the space
//   ...                          before a word; wordpiece: "##" for being inside of one; unigram: a tab and the score
//   hash = 0123456789abcdef      XXH3 of all lines above, so that damage is noticed and models can name what they need
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attune::text {

/// How text is cut into pieces.
enum class TokenizerKind { bpe, unigram, wordpiece, byte, character, word };
/// Their names in recipes and files, in the order of the enum.
const std::vector<std::string>& tokenizer_kinds();

/// Ids with a meaning of their own. No text is ever encoded as one of the first three.
inline constexpr int32_t kPad = 0, kBegin = 1, kEnd = 2, kUnknown = 3, kMarks = 4;
inline constexpr std::string_view kMarkNames[kMarks] = {"<pad>", "<s>", "</s>", "<unk>"};
inline constexpr int32_t kBytes = 256;
inline constexpr std::string_view kSpacePiece = "\u2581";  // "▁"
inline constexpr std::string_view kInside = "##";          // wordpiece: not at the beginning of a word

/// What a vocabulary is made of.
struct VocabularyContents {
  TokenizerKind kind = TokenizerKind::bpe;
  bool lowercase = false;
  bool byte_fallback = false;            // bpe, unigram, char
  std::vector<std::string> pieces = {};  // without the marks and the bytes, which are put before them
  std::vector<float> scores = {};        // unigram: log-probabilities of the pieces
};

class Vocabulary {
 public:
  /// Throws ErrorKind::model for what the file may not hold.
  explicit Vocabulary(VocabularyContents contents);
  Vocabulary(TokenizerKind kind, bool lowercase, std::vector<std::string> pieces)
      : Vocabulary(VocabularyContents{kind, lowercase, false, std::move(pieces), {}}) {}
  /// From the text of a file. Errors name `path` and the line.
  static Vocabulary parse(std::string_view text, const std::string& path);
  std::string to_text() const;

  // Moving keeps the pieces where they are; a copy would leave the index pointing at the original.
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  TokenizerKind kind() const { return kind_; }
  bool lowercase() const { return lowercase_; }
  /// Whether what is no piece is cut into bytes.
  bool byte_fallback() const { return byte_fallback_; }
  bool has_bytes() const { return byte_fallback_ || kind_ == TokenizerKind::byte; }
  static int32_t byte_id(char byte) { return kMarks + static_cast<unsigned char>(byte); }
  bool is_byte(int32_t id) const { return id >= kMarks && id < first(); }
  /// The first id that is neither a mark nor a byte: those spell no text, whatever they look like.
  int32_t first() const { return has_bytes() ? kMarks + kBytes : kMarks; }
  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  const std::string& piece(int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  /// kUnknown for a piece that is not there.
  int32_t id(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? kUnknown : found->second;
  }
  /// What an id spells, blanks and marks left out; a byte is the character of that number, what is unknown U+FFFD.
  std::u32string letters(int32_t id) const;
  bool contains(std::string_view piece) const { return ids_.contains(piece); }
  /// Of a unigram's piece that is neither a mark nor a byte.
  float score(int32_t id) const { return scores_[static_cast<size_t>(id - first())]; }
  /// Of all that matters to encoding and decoding.
  uint64_t hash() const { return hash_; }

 private:
  std::string fault(size_t i) const;  // what is wrong with a piece
  void check_letters() const;
  size_t header_lines() const { return byte_fallback_ ? 5 : 4; }
  std::string body() const;  // the file without its last line

  TokenizerKind kind_;
  bool lowercase_, byte_fallback_;
  std::vector<std::string> pieces_;
  std::vector<float> scores_;
  std::unordered_map<std::string_view, int32_t> ids_;
  uint64_t hash_ = 0;
};

}  // namespace attune::text
