#include "sentences.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "clause.h"
#include "draw.h"
#include "verbs.h"

namespace demo {

namespace {

constexpr size_t kTrain = 20000, kValid = 300, kTest = 300;

/// One function for each kind of sentence.
class Writer : private Draw {
 public:
  using Draw::Draw;
  Pair sentence();

 private:
  /// Puts the clause in one of its orders and adds what opens and ends it.
  Pair finished(const Clause& c, bool may_be_subordinate = true);
  void choose_tense(Clause& c, bool may_be_negated = true);
  /// The object of a verb; makes it "kein" where "not" wants it.
  Pair object(Clause& c, Phrase p, Case needed, const Pair& preposition = {});

  Pair with_accusative();
  Pair with_dative();
  Pair giving();
  Pair staying();
  Pair being();
  Pair costing();
  Pair existing();
  Pair dated();
  Pair timed();
};

void Writer::choose_tense(Clause& c, bool may_be_negated) {
  c.tense = one_of({Tense::present, Tense::present, Tense::past, Tense::past, Tense::perfect, Tense::future, Tense::can,
                    Tense::want, Tense::must});
  if (std::string_view(c.verb->en) == "need" && c.tense > Tense::future) c.tense = Tense::present;
  // "must not" is no "muss nicht".
  c.negated = may_be_negated && c.tense != Tense::must && chance(15);
}

Pair Writer::finished(const Clause& c, bool may_be_subordinate) {
  const int kind = below(100);
  if (kind < 15 && !c.negated && c.subject.person != Person::i) {
    Clause question = c;
    // "Kaufte er ...?" is grammar; nobody says it.
    if (c.tense == Tense::past && c.verb != &kBe) question.tense = Tense::present;
    const Pair s = spoken(question, Order::question);
    return {capitalized(s.en) + "?", capitalized(s.de) + "?"};
  }
  Pair s;
  if (kind < 35 && may_be_subordinate) {
    static const std::vector<Pair> openings{{"I know that", "ich weiß, dass"},
                                            {"he says that", "er sagt, dass"},
                                            {"she hopes that", "sie hofft, dass"},
                                            {"we think that", "wir glauben, dass"},
                                            {"I am happy because", "ich bin froh, weil"}};
    s = spoken(c, Order::subordinate, one_of(openings));
  } else if (kind < 65 && c.tense != Tense::perfect) {  // English has no "yesterday he has seen"
    Pair when = c.tense == Tense::past     ? Pair{"yesterday", "gestern"}
                : c.tense == Tense::future ? Pair{"tomorrow", "morgen"}
                                           : Pair{"today", "heute"};
    // What costs or is something does so all day.
    if (chance(50) && c.verb != &kBe && c.verb != &kCost) when = day_or_time();
    s = spoken(c, Order::statement, when);
  } else {
    s = spoken(c, Order::statement);
  }
  return {capitalized(s.en) + ".", capitalized(s.de) + "."};
}

Pair Writer::object(Clause& c, Phrase p, Case needed, const Pair& preposition) {
  const std::string en = p.english();
  const bool prepositional = !preposition.en.empty();
  const bool indefinite = p.article == Article::indefinite || (p.article == Article::none && p.number == 0);
  if (c.negated && indefinite && !prepositional) {
    p.article = Article::negative;
    c.has_kein = true;
  }
  c.not_first = prepositional;
  return preposition + Pair{en, p.german(needed)};
}

Pair Writer::with_accusative() {
  Clause c;
  const Noun* who = nullptr;
  c.subject = living_subject(who);
  const ObjectVerb& v = one_of(kAccusative);
  c.verb = &v.verb;
  choose_tense(c);
  Phrase p = phrase(v.uses, who);
  if (c.negated && p.number > 0 && p.article == Article::none) p.number = 0;  // "not three dogs" would mean four
  if (c.negated && p.article == Article::each) p.article = Article::definite;
  c.rest = object(c, p, Case::accusative, v.preposition);
  const bool trade = std::string_view(v.verb.en) == "buy" || std::string_view(v.verb.en) == "sell";
  if (trade && !c.negated && chance(30)) c.rest = c.rest + Pair{" for ", " für "} + price(between(1, 99), 0);
  return finished(c);
}

Pair Writer::with_dative() {
  Clause c;
  const Noun* who = nullptr;
  c.subject = living_subject(who);
  c.verb = &one_of(kDative);
  choose_tense(c);
  Phrase p = phrase(kLiving, who);
  if (c.negated && p.number > 0 && p.article == Article::none) p.number = 0;
  if (c.negated && p.article == Article::each) p.article = Article::definite;
  c.rest = object(c, p, Case::dative);
  return finished(c);
}

Pair Writer::giving() {
  Clause c;
  const Noun* who = nullptr;
  c.subject = living_subject(who);
  c.verb = &one_of(kGiving);
  choose_tense(c);
  const Phrase to = definite_phrase(kLiving, who);
  Phrase what = phrase(kItem);
  if (c.negated && what.number > 0 && what.article == Article::none) what.number = 0;
  if (c.negated && what.article == Article::each) what.article = Article::definite;
  c.rest = Pair{to.english(), to.german(Case::dative)} + Pair{" ", " "} + object(c, what, Case::accusative);
  return finished(c);
}

Pair Writer::staying() {
  Clause c;
  const Noun* who = nullptr;
  if (chance(30)) {
    const Phrase p = definite_phrase(kItem);
    who = p.noun;
    c.subject = subject_of(p);
    c.verb = &kLie;
    c.tense = one_of({Tense::present, Tense::past});
    c.negated = chance(10);
    c.rest = place(who);
    return finished(c);
  }
  c.subject = living_subject(who);
  c.verb = &one_of(kStaying);
  choose_tense(c);
  if (std::string_view(c.verb->en) == "play" && chance(70)) {
    const Phrase p = phrase(chance(60) ? kLiving : kItem, who);
    c.rest = Pair{"with ", "mit "} + Pair{p.english(), p.german(Case::dative)};
  } else {
    c.rest = place(who);
  }
  return finished(c);
}

Pair Writer::being() {
  Clause c;
  c.verb = &kBe;
  c.tense = one_of({Tense::present, Tense::past});
  c.negated = chance(15);
  const unsigned uses = chance(50) ? kLiving : kThing;
  const Adjective* a = nullptr;
  do a = &one_of(adjectives());
  while (!(a->uses & uses));
  Phrase p = definite_phrase(uses);
  const bool compared = a->en_more && chance(50);
  if (!compared) p.adjective = nullptr;  // "the old girl is young"
  c.subject = subject_of(p);
  if (uses == kLiving && chance(20)) c.subject = pronoun();
  if (!compared) {
    c.rest = {a->en, a->alone};
    return finished(c);
  }
  const Phrase than = definite_phrase(uses, p.noun);
  c.rest = {std::string(a->en_more) + " than " + than.english(),
            std::string(a->de_more) + " als " + than.german(Case::nominative)};
  return finished(c, false);  // "als ..." likes to stand behind the verb of a subordinate clause, but need not
}

Pair Writer::costing() {
  Clause c;
  Phrase p = definite_phrase(kThing);
  if (p.plural && chance(40)) {
    p.article = Article::none;
    p.number = between(2, 12);
  }
  c.subject = subject_of(p);
  c.verb = &kCost;
  const int euros = chance(75) ? between(1, 99) : large_number();
  const int kind = below(3);
  const int cents = kind == 0 ? 0 : between(1, 99);  // before the euros, whatever the compiler's order is
  c.rest = kind == 0 ? price(euros, 0) : price(kind == 1 ? 0 : between(1, 30), cents);
  return finished(c);
}

/// There is a dog behind the house: German begins with the house and has the dog in the accusative.
Pair Writer::existing() {
  Phrase what = phrase(chance(50) ? kLiving : kItem);
  what.article = what.plural ? Article::none : Article::indefinite;
  if (what.plural && what.number == 0 && chance(70)) what.number = chance(40) ? between(2, 12) : large_number();
  const Pair where = place(what.noun);
  const bool past = chance(40);
  const std::string en =
      past ? (what.plural ? "There were " : "There was ") : (what.plural ? "There are " : "There is ");
  return {en + what.english() + " " + where.en + ".",
          capitalized(where.de) + (past ? " gab es " : " gibt es ") + what.german(Case::accusative) + "."};
}

Pair Writer::dated() {
  const int kind = below(10);
  if (kind < 2) {
    const int in = below(12);
    const Pair day = ordinal(between(1, days_in(in))), name = weekday(below(7));
    return {"Today is " + name.en + ", the " + day.en + " of " + month(in).en + ".",
            "Heute ist " + name.de + ", der " + day.de + "e " + month(in).de + "."};
  }
  if (kind < 5) {
    const Phrase p = definite_phrase(kVehicle);
    const Pair day = date(), name = weekday(below(7));
    const Pair who{capitalized(p.english()), capitalized(p.german(Case::nominative))};
    return {who.en + " will arrive on " + name.en + ", " + day.en + ".",
            who.de + (p.plural ? " werden am " : " wird am ") + name.de + ", dem " + day.de + ", ankommen."};
  }
  Phrase p = definite_phrase(kLiving);
  p.adjective = nullptr;
  if (p.article == Article::each) p.article = Article::definite;
  const Subject s = chance(20) ? pronoun() : subject_of(p);
  const bool many = s.person == Person::they;
  const Pair day = date();
  const std::string year = std::to_string(between(1950, 2024));
  return {capitalized(s.text.en) + (many ? " were born on " : " was born on ") + day.en + " " + year + ".",
          capitalized(s.text.de) + (many ? " wurden am " : " wurde am ") + day.de + " " + year + " geboren."};
}

Pair Writer::timed() {
  const int minutes = 5 * below(12), hour = between(1, 12);
  const Pair time = clock_time(hour, minutes);
  if (chance(10)) return {"It is " + time.en + ".", "Es ist " + time.de + "."};
  Clause c;
  const TimedVerb& v = one_of(kTimed);
  c.verb = &v.verb;
  c.subject = subject_of(definite_phrase(v.uses));
  c.tense = one_of({Tense::present, Tense::present, Tense::past, Tense::future, Tense::must});
  c.negated = c.tense != Tense::must && chance(10);
  c.rest = Pair{"at ", "um "} + time;
  if (!c.negated && c.tense != Tense::present && chance(30)) {
    const Pair s = spoken(c, Order::statement, Pair{"on ", "am "} + weekday(below(7)));
    return {capitalized(s.en) + ".", capitalized(s.de) + "."};
  }
  const Order order = one_of({Order::statement, Order::statement, Order::question, Order::subordinate});
  const bool question = order == Order::question && !c.negated && c.tense != Tense::past;
  const bool subordinate = order == Order::subordinate;
  const Pair s = question      ? spoken(c, Order::question)
                 : subordinate ? spoken(c, Order::subordinate, {"we hope that", "wir hoffen, dass"})
                               : spoken(c, Order::statement);
  const char* mark = question ? "?" : ".";
  return {capitalized(s.en) + mark, capitalized(s.de) + mark};
}

Pair Writer::sentence() {
  const int kind = below(100);
  if (kind < 26) return with_accusative();
  if (kind < 36) return with_dative();
  if (kind < 46) return giving();
  if (kind < 58) return staying();
  if (kind < 67) return being();
  if (kind < 75) return costing();
  if (kind < 81) return existing();
  if (kind < 90) return dated();
  return timed();
}

/// Calls f with each word: what stands between spaces, full stops and their like.
template <class F>
void for_each_word(std::string_view text, F&& f) {
  constexpr std::string_view kBetween = " .,?-";
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    if (end > begin) f(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// How often each word was seen; a held-out line combines known words anew.
class Words {
 public:
  void add(const Pair& p) {
    for (const std::string& side : {p.en, p.de})
      for_each_word(side, [&](std::string_view w) { ++seen_[std::string(w)]; });
  }
  bool know(const Pair& p) const {
    bool all = true;
    for (const std::string& side : {p.en, p.de})
      for_each_word(side, [&](std::string_view w) {
        // German writes a large number as one word: most of them are new, and made of known parts.
        if (w.find("hundert") != std::string_view::npos) return;
        const auto at = seen_.find(std::string(w));
        all = all && at != seen_.end() && at->second >= kOften;
      });
    return all;
  }

 private:
  static constexpr int kOften = 8;
  std::unordered_map<std::string, int> seen_;
};

}  // namespace

Corpus make_corpus(uint64_t seed) {
  Writer writer(seed);
  Corpus corpus;
  std::unordered_map<std::string, std::string> seen;
  Words words;
  while (corpus.test.size() < kTest) {
    Pair p = writer.sentence();
    const auto [at, is_new] = seen.emplace(p.en, p.de);
    if (!is_new) {
      // One English sentence with two translations could not be learned.
      if (at->second != p.de) throw std::logic_error(p.en + ": " + at->second + " or " + p.de);
    } else if (corpus.train.size() < kTrain) {
      words.add(p);
      corpus.train.push_back(std::move(p));
    } else if (words.know(p)) {
      (corpus.valid.size() < kValid ? corpus.valid : corpus.test).push_back(std::move(p));
    }
  }
  return corpus;
}

}  // namespace demo
