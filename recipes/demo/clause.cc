#include "clause.h"

namespace demo {

namespace {

/// Joins what is not empty by spaces.
template <class... Words>
std::string words(const Words&... all) {
  std::string text;
  for (const std::string& word : {std::string(all)...})
    if (!word.empty()) text += text.empty() ? word : " " + word;
  return text;
}

std::string by_person(Person p, const char* i, const char* he, const char* they) {
  return p == Person::i ? i : p == Person::he ? he : they;
}

/// An English verb in two parts: what moves to the front in a question, and what stays.
struct English {
  std::string finite, base;
};

English english_be(const Clause& c) {
  const Person p = c.subject.person;
  if (c.tense == Tense::past) return {p == Person::they ? "were" : "was", ""};
  return {by_person(p, "am", "is", "are"), ""};
}

/// The helping verb that questions and "not" ask for, and the rest.
English english_helped(const Clause& c) {
  const Person p = c.subject.person;
  const std::string base = c.verb->en;
  const bool he = p == Person::he;
  switch (c.tense) {
    case Tense::present:
      return {he ? "does" : "do", base};
    case Tense::past:
      return {"did", base};
    case Tense::perfect:
      return {he ? "has" : "have", c.verb->en_participle};
    case Tense::future:
      return {"will", base};
    case Tense::can:
      return {"can", base};
    case Tense::must:
      return {"must", base};
    default:
      return {he ? "does" : "do", "want to " + base};
  }
}

/// One verb alone where English needs no helper.
std::string english_plain(const Clause& c) {
  const bool he = c.subject.person == Person::he;
  switch (c.tense) {
    case Tense::present:
      return he ? c.verb->en_he : c.verb->en;
    case Tense::past:
      return c.verb->en_past;
    case Tense::want:
      return std::string(he ? "wants" : "want") + " to " + c.verb->en;
    default: {
      const English e = english_helped(c);
      return e.finite + " " + e.base;
    }
  }
}

std::string english(const Clause& c, Order order) {
  const bool be = c.verb == &kBe && (c.tense == Tense::present || c.tense == Tense::past);
  const English helped = be ? english_be(c) : english_helped(c);
  if (order == Order::question)
    return words(helped.finite, c.subject.text.en, c.negated ? "not" : "", helped.base, c.rest.en);
  if (c.negated) {
    const std::string finite = helped.finite == "can" ? "cannot" : helped.finite + " not";
    return words(c.subject.text.en, finite, helped.base, c.rest.en);
  }
  return words(c.subject.text.en, be ? helped.finite : english_plain(c), c.rest.en);
}

/// A German verb: the part that is conjugated, and what waits at the end of the sentence.
struct German {
  std::string finite, last;
};

German german_verb(const Clause& c) {
  const Verb& v = *c.verb;
  const Person p = c.subject.person;
  const std::string prefix = v.prefix;
  switch (c.tense) {
    case Tense::present:
      return {by_person(p, v.i, v.he, kBe.infinitive == v.infinitive ? "sind" : v.infinitive), prefix};
    case Tense::past:
      return {by_person(p, v.past, v.past, v.past_plural), prefix};
    case Tense::perfect:
      return {v.by_sein ? by_person(p, "bin", "ist", "sind") : by_person(p, "habe", "hat", "haben"),
              prefix + v.participle};
    case Tense::future:
      return {by_person(p, "werde", "wird", "werden"), prefix + v.infinitive};
    case Tense::can:
      return {by_person(p, "kann", "kann", "können"), prefix + v.infinitive};
    case Tense::must:
      return {by_person(p, "muss", "muss", "müssen"), prefix + v.infinitive};
    default:
      return {by_person(p, "will", "will", "wollen"), prefix + v.infinitive};
  }
}

std::string german(const Clause& c, Order order, const std::string& opening) {
  const German verb = german_verb(c);
  const std::string nicht = c.negated && !c.has_kein ? "nicht" : "";
  const std::string middle = c.not_first ? words(nicht, c.rest.de) : words(c.rest.de, nicht);
  const std::string& who = c.subject.text.de;
  if (order == Order::question) return words(verb.finite, who, middle, verb.last);
  if (order == Order::subordinate) {
    const bool simple = c.tense == Tense::present || c.tense == Tense::past;
    // A prefix that waits at the end meets its verb there: "aufhebt".
    const std::string verbs = simple ? verb.last + verb.finite : verb.last + " " + verb.finite;
    return words(opening, who, middle, verbs);
  }
  return opening.empty() ? words(who, verb.finite, middle, verb.last)
                         : words(opening, verb.finite, who, middle, verb.last);
}

}  // namespace

Pair spoken(const Clause& clause, Order order, const Pair& opening) {
  return {words(opening.en, english(clause, order)), german(clause, order, opening.de)};
}

}  // namespace demo
