#include "api/word_alignment.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "text/piece_words.h"

namespace attune {

namespace {

/// Of one decoder that reads the source too: the part of its attention that goes from target to source, or to itself.
std::vector<float> prefix_weights(const Transformer& model, const SentencePair& pair, const std::string& place,
                                  Arena& arena) {
  constexpr std::string_view kCross = ".cross";
  const bool cross = place.ends_with(kCross);
  Ctx ctx(arena);
  AttentionTap tap;
  tap.place = cross ? place.substr(0, place.size() - kCross.size()) + ".self" : place;
  Pass pass{ctx, model.parameters(), nullptr, &tap};
  std::vector<int32_t> said{text::kBegin};
  said.insert(said.end(), pair.target.begin(), pair.target.end() - 1);
  const auto n = std::ssize(pair.source), m = std::ssize(said), all = n + m;
  const Segments sources = Segments::single(n), targets = Segments::single(m);
  model.decode_after(pass, {Tensor(pair.source.data(), Shape{n}), &sources}, {Tensor(said.data(), Shape{m}), &targets});
  std::vector<float> own;
  for (int64_t row = 0; !tap.weights.empty() && row < tap.heads * all; ++row) {
    if (row % all < n) continue;
    const auto first = tap.weights.begin() + row * all + (cross ? 0 : n);
    own.insert(own.end(), first, first + (cross ? n : m));
  }
  return own;
}

}  // namespace

std::vector<float> attention_weights(const Transformer& model, const SentencePair& pair, const std::string& place,
                                     Arena& arena) {
  if (model.options().shape == ModelShape::prefix) return prefix_weights(model, pair, place, arena);
  Ctx ctx(arena);
  AttentionTap tap;
  tap.place = place;
  Pass pass{ctx, model.parameters(), nullptr, &tap};
  const Segments sources = Segments::single(std::ssize(pair.source));
  Var encoded;
  if (has_encoder(model.options().shape))
    encoded = model.encode(pass, {Tensor(pair.source.data(), Shape{std::ssize(pair.source)}), &sources});
  if (!has_decoder(model.options().shape)) return std::move(tap.weights);
  std::vector<int32_t> said{text::kBegin};
  said.insert(said.end(), pair.target.begin(), pair.target.end() - 1);
  const Segments targets = Segments::single(std::ssize(said));
  model.decode(pass, {Tensor(said.data(), Shape{std::ssize(said)}), &targets}, encoded, &sources);
  return std::move(tap.weights);
}

std::vector<float> cross_attention(const Transformer& model, const SentencePair& pair, int64_t layer, Arena& arena) {
  return attention_weights(model, pair, fmt::format("decoder.{}.cross", layer), arena);
}

std::vector<float> of_head(const std::vector<float>& weights, int64_t heads, int64_t head) {
  const size_t each = weights.size() / static_cast<size_t>(heads);
  if (head >= 0) {
    const float* first = weights.data() + static_cast<size_t>(head) * each;
    return {first, first + each};
  }
  std::vector<float> mean(each, 0.0f);
  for (size_t i = 0; i < weights.size(); ++i) mean[i % each] += weights[i];
  for (float& x : mean) x /= static_cast<float>(heads);
  return mean;
}

std::vector<std::string> pieces_of(const text::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

std::vector<int> words_of_target(const text::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  // A piece belongs to the word that the text up to it ends in.
  std::vector<int> out;
  std::string before;
  for (size_t i = 0; i < ids.size(); ++i) {
    std::string text = tokenizer.decode({ids.data(), i + 1});
    const bool says = text.size() > before.size() && !text::is_space(static_cast<unsigned char>(text.back()));
    out.push_back(says ? text::words_of_characters(text).back() : -1);
    before = std::move(text);
  }
  return out;
}

std::vector<std::pair<int, int>> align_words(const std::vector<float>& weights, const std::vector<int>& source,
                                             const std::vector<int>& target, int64_t source_tokens) {
  std::set<std::pair<int, int>> pairs;
  for (size_t i = 0; i < target.size(); ++i) {
    const float* row = weights.data() + static_cast<int64_t>(i) * source_tokens;
    const auto best = static_cast<size_t>(std::max_element(row, row + source_tokens) - row);
    if (target[i] >= 0 && best < source.size() && source[best] >= 0) pairs.emplace(source[best], target[i]);
  }
  return {pairs.begin(), pairs.end()};
}

}  // namespace attune
