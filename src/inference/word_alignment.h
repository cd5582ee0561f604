// What attention says about which word came from which: a model is made to say a given translation, and what it looked
// at on the way is kept.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "text/tokenizer.h"

namespace attune {

/// One sentence and its translation, as ids; the source with its end mark, the target with it or without.
struct SentencePair {
  std::vector<int32_t> source, target;
};

/// What one layer attended to, [heads, queries, keys]: "encoder.0.self", "decoder.1.cross". Nothing where the mechanism
/// has no weights to show.
std::vector<float> attention_weights(const Model& model, const SentencePair& pair, const std::string& place,
                                     Arena& arena);
/// What each target token attended to when it was to be said, [heads, target, source].
std::vector<float> cross_attention(const Model& model, const SentencePair& pair, int64_t layer, Arena& arena);
/// One head of them, [target, source]; -1: the mean of all.
std::vector<float> of_head(const std::vector<float>& weights, int64_t heads, int64_t head);

std::vector<std::string> pieces_of(const text::Tokenizer& tokenizer, const std::vector<int32_t>& ids);

/// The number of the word each piece is part of, words being what stands between white space; -1 for marks and pieces
/// that are nothing but a space. Of a source, which is there as text, text::words_of_pieces tells it.
std::vector<int> words_of_target(const text::Tokenizer& tokenizer, const std::vector<int32_t>& ids);

/// Pairs (source word, target word): for each target piece, the source piece with the largest weight. What looked at
/// the end mark belongs to no word.
std::vector<std::pair<int, int>> align_words(const std::vector<float>& weights, const std::vector<int>& source,
                                             const std::vector<int>& target, int64_t source_tokens);

}  // namespace attune
