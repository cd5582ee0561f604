#include "attune/tokenizer.h"

#include "text/tokenizer.h"
#include "text/trainer.h"

namespace attune {

struct Tokenizer::Body {
  text::Tokenizer tokenizer;
  std::string note;
};

Tokenizer::Tokenizer(std::shared_ptr<const Body> body) : body_(std::move(body)) {}

Tokenizer::Tokenizer(const std::string& folder)
    : body_(std::make_shared<const Body>(Body{text::Tokenizer::load(folder), ""})) {}

Tokenizer Tokenizer::train(const std::function<bool(std::string&)>& next_line, const TokenizerTraining& options) {
  text::TokenizerOptions o{.size = options.size,
                           .lowercase = options.lowercase,
                           .byte_fallback = options.byte_fallback,
                           .character_coverage = options.character_coverage};
  set_field(o, "kind", std::string_view(options.kind), ErrorKind::usage);
  text::TrainedTokenizer trained = text::train_tokenizer(next_line, o);
  return Tokenizer(std::make_shared<const Body>(Body{std::move(trained.tokenizer), std::move(trained.note)}));
}

void Tokenizer::save(const std::string& folder) const { body_->tokenizer.save(folder); }

std::vector<int32_t> Tokenizer::encode(std::string_view line) const { return body_->tokenizer.encode(line); }

std::vector<TokenizerPiece> Tokenizer::pieces(std::string_view line) const {
  const text::Encoded e = body_->tokenizer.encode_with_spans(line);
  std::vector<TokenizerPiece> pieces;
  for (size_t i = 0; i < e.ids.size(); ++i)
    pieces.push_back({e.ids[i], piece(e.ids[i]), e.spans[i].begin, e.spans[i].end});
  return pieces;
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const { return body_->tokenizer.decode(ids); }

int32_t Tokenizer::size() const { return body_->tokenizer.size(); }
const std::string& Tokenizer::piece(int32_t id) const { return body_->tokenizer.piece(id); }
int32_t Tokenizer::id(std::string_view piece) const { return body_->tokenizer.id(piece); }
const std::string& Tokenizer::note() const { return body_->note; }

}  // namespace attune
