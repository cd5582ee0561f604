// Chance: draws nouns with their adjectives, places, dates. Every choice comes from one generator, whose numbers the
// C++ standard fixes, so that a seed gives the same sentences everywhere.
#pragma once
#include <initializer_list>
#include <random>
#include <vector>

#include "clause.h"
#include "german.h"

namespace demo {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  int below(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int>(from.size())))];
  }
  template <class T>
  T one_of(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<int>(from.size()))];
  }

  const Noun* noun(unsigned uses, const Noun* other_than = nullptr);
  /// 13 to 999.
  int large_number();
  /// The dog, my dogs, this dog, every dog, the three dogs; with an adjective or without.
  Phrase definite_phrase(unsigned uses, const Noun* other_than = nullptr);
  /// Also a dog, dogs, three dogs.
  Phrase phrase(unsigned uses, const Noun* other_than = nullptr);

  static Subject subject_of(const Phrase& p);
  Subject pronoun();
  /// `noun` tells which one it is; none for a pronoun.
  Subject living_subject(const Noun*& noun);

  /// Behind the house, hinter dem Haus.
  Pair place(const Noun* other_than = nullptr);
  /// The third of March, dritten März.
  Pair date();
  /// On Monday, at half past seven, on the third of March.
  Pair day_or_time();

 private:
  std::mt19937_64 random_;
};

}  // namespace demo
