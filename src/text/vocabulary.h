// The pieces a tokenizer knows, and the file they live in: FOLDER/vocabulary.txt, UTF-8, one thing per line:
//
//   attune vocabulary 1          what it is, and the version of this format
//   kind = bpe                   bpe | word | char
//   lowercase = false            whether lines are lower-cased before they are cut
//   size = 8000                  so many pieces follow, the first one being id 0
//   <pad>                        the four marks, always these, in this order
//   <s>
//   </s>
//   <unk>
//   ▁the                         then the pieces. bpe: in the order they merge; "▁" stands for the space before a word
//   ...
//   hash = 0123456789abcdef      XXH3 of all lines above, so that damage is noticed and models can name what they need
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attune::text {

/// How text is cut into pieces.
enum class TokenizerKind { bpe, word, character };
/// "bpe", "word", "char": as recipes and files call them.
const std::vector<std::string>& tokenizer_kinds();

/// Ids with a meaning of their own. No text is ever encoded as one of the first three.
inline constexpr int32_t kPad = 0, kBegin = 1, kEnd = 2, kUnknown = 3, kMarks = 4;
inline constexpr std::string_view kMarkNames[kMarks] = {"<pad>", "<s>", "</s>", "<unk>"};
inline constexpr std::string_view kSpacePiece = "\u2581";  // "▁"

class Vocabulary {
 public:
  /// `pieces` without the marks, which are put before them. Throws ErrorKind::model for what the file may not hold.
  Vocabulary(TokenizerKind kind, bool lowercase, std::vector<std::string> pieces);
  /// From the text of a file. Errors name `path` and the line.
  static Vocabulary parse(std::string_view text, const std::string& path);
  std::string to_text() const;

  // Moving keeps the pieces where they are; a copy would leave the index pointing at the original.
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  TokenizerKind kind() const { return kind_; }
  bool lowercase() const { return lowercase_; }
  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  const std::string& piece(int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  /// kUnknown for a piece that is not there.
  int32_t id(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? kUnknown : found->second;
  }
  bool contains(std::string_view piece) const { return ids_.contains(piece); }
  /// Of all that matters to encoding and decoding.
  uint64_t hash() const { return hash_; }

 private:
  std::string body() const;  // the file without its last line

  TokenizerKind kind_;
  bool lowercase_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string_view, int32_t> ids_;
  uint64_t hash_ = 0;
};

}  // namespace attune::text
