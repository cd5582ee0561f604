// The verbs of the demo's corpus, grouped by what they want beside them.
#pragma once
#include <vector>

#include "german.h"

namespace demo {

struct ObjectVerb {
  Verb verb;
  unsigned uses;  // of its objects
  Pair preposition = {};
};
struct TimedVerb {
  Verb verb;
  unsigned uses;  // of its subjects
};

extern const std::vector<ObjectVerb> kAccusative;  // sees the dog
extern const std::vector<Verb> kDative;            // helps the dog
extern const std::vector<Verb> kGiving;            // gives the dog an apple
extern const std::vector<Verb> kStaying;           // sleeps under the table
extern const std::vector<TimedVerb> kTimed;        // leaves at seven o'clock
extern const Verb kLie, kCost;

}  // namespace demo
