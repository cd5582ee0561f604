// Words in a row as ids of their own, above those of the vocabulary: what bags of words count beside single words.
#pragma once
#include <cstdint>
#include <vector>

namespace attune {

/// So many ids are there for all of them: by a hash, so that a few share one (Weinberger et al. 2009, "Feature hashing
/// for large scale multitask learning").
constexpr int64_t kNgramIds = 1 << 18;

/// How many ids `words` words become with those of two in a row, of three, ... up to `most`.
int64_t with_ngrams(int64_t words, int64_t most);
/// Adds them.
void add_ngrams(int64_t vocabulary, int64_t most, std::vector<int32_t>& ids);

}  // namespace attune
