// A sentence before its words are put in order: who does what, when it happens, and the rest. English and German order
// it differently; this is where the verb moves.
#pragma once
#include "german.h"

namespace demo {

enum class Tense { present, past, perfect, future, can, want, must };
enum class Order {
  statement,    // the verb comes second
  question,     // first
  subordinate,  // last
};

struct Subject {
  Pair text;
  Person person = Person::he;
};

struct Clause {
  Subject subject;
  const Verb* verb = nullptr;
  Tense tense = Tense::present;
  Pair rest;              // objects and places
  bool negated = false;   // English says "not"; German too, unless the rest has "kein"
  bool not_first = true;  // German "nicht" stands before the rest (places, adjectives) or after it (objects)
  bool has_kein = false;
};

/// Both languages without capital letter and end mark. `opening` ("yesterday", "I know that") may be empty.
Pair spoken(const Clause& clause, Order order, const Pair& opening = {});

}  // namespace demo
