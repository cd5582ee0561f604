#include "inference/word_alignment.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "text/piece_words.h"

namespace attune {

std::vector<float> attention_weights(const Model& model, const SentencePair& pair, const std::string& place,
                                     Arena& arena) {
  Ctx ctx(arena);
  AttentionTap tap;
  tap.place = place;
  Pass pass{ctx, model.parameters(), nullptr, &tap};
  const Rows source = rows_of(pair.source, Segments::single(std::ssize(pair.source)));
  if (!model.decoder()) {
    model.encode(pass, source);
    return std::move(tap.weights);
  }
  std::vector<int32_t> said{text::kBegin};
  said.insert(said.end(), pair.target.begin(), pair.target.end() - 1);
  model.decode(pass, source, rows_of(said, Segments::single(std::ssize(said))));
  return std::move(tap.weights);
}

std::vector<float> cross_attention(const Model& model, const SentencePair& pair, int64_t layer, Arena& arena) {
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
