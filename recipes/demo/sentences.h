// Random sentences in English and German, all words from small tables: the demo's corpus.
#pragma once
#include <cstdint>
#include <vector>

#include "german.h"

namespace demo {

struct Corpus {
  std::vector<Pair> train, valid, test;
};

/// Distinct sentences, none in two of the three parts. A pure function of the seed.
Corpus make_corpus(uint64_t seed);

constexpr uint64_t kSeed = 1;  // of what ships

}  // namespace demo
