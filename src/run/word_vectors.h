// First values of embeddings from a file of word vectors (word2vec, GloVe, fastText as text): a word and its numbers a
// line, plain or .gz, perhaps after a line that says how many there are.
#pragma once
#include <string>

#include "data/tokenizers.h"
#include "model/model.h"

namespace attune {

/// Gives them to every piece that is a whole word of the file. A sentence on how many have one. ErrorKind::data, with
/// the line, for vectors of another width than model.d_model or what is no number; ErrorKind::io.
std::string give_word_vectors(const std::string& file, const text::Tokenizer& tokenizer, Model& model);

}  // namespace attune
