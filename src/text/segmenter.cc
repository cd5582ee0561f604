#include "text/segmenter.h"

namespace attune::text {

void write_spaced(const Vocabulary& vocabulary, int32_t id, bool first, std::string& text) {
  if (id == kUnknown) {
    text += kUnknownText;
    return;
  }
  std::string_view piece = vocabulary.piece(id);
  if (piece.starts_with(kSpacePiece)) {
    piece.remove_prefix(kSpacePiece.size());
    if (!first) text += ' ';
  }
  text += piece;
}

void push_unknown(const Vocabulary& vocabulary, std::string_view line, Token token, std::vector<Token>& out) {
  if (vocabulary.byte_fallback()) {
    if (token.begin == token.end)
      for (const char byte : kSpacePiece) out.push_back({Vocabulary::byte_id(byte), token.begin, token.end});
    for (uint32_t at = token.begin; at < token.end; ++at) out.push_back({Vocabulary::byte_id(line[at]), at, at + 1});
  } else if (!out.empty() && out.back().id == kUnknown) {
    out.back().end = token.end;
  } else {
    out.push_back({kUnknown, token.begin, token.end});
  }
}

}  // namespace attune::text
