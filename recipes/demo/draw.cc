#include "draw.h"

namespace demo {

const Noun* Draw::noun(unsigned uses, const Noun* other_than) {
  for (;;) {
    const Noun* n = &one_of(nouns());
    if ((n->uses & uses) && n != other_than) return n;
  }
}

int Draw::large_number() {
  for (;;) {
    const int n = chance(70) ? between(13, 99) : between(101, 999);
    if (n % 100 != 1) return n;  // grammars disagree about "hunderteins Hunde"
  }
}

Phrase Draw::definite_phrase(unsigned uses, const Noun* other_than) {
  Phrase p;
  p.noun = noun(uses, other_than);
  p.plural = chance(40);
  p.article = one_of({Article::definite, Article::definite, Article::definite, Article::demonstrative, Article::my,
                      Article::his, Article::her, Article::our});
  if (!p.plural && chance(10)) p.article = Article::each;
  if (p.noun->uses & kUnowned) p.article = one_of({Article::definite, Article::definite, Article::demonstrative});
  if (p.article == Article::definite && p.plural && chance(30)) p.number = between(2, 12);
  while (chance(60) && !p.adjective)
    if (const Adjective& a = one_of(adjectives()); a.uses & p.noun->uses) p.adjective = &a;
  return p;
}

Phrase Draw::phrase(unsigned uses, const Noun* other_than) {
  Phrase p = definite_phrase(uses, other_than);
  if (chance(55)) return p;
  p.number = 0;
  p.article = p.plural ? Article::none : Article::indefinite;
  if (p.plural && chance(60)) p.number = chance(60) ? between(2, 12) : large_number();
  return p;
}

Subject Draw::subject_of(const Phrase& p) {
  return {{p.english(), p.german(Case::nominative)}, p.plural ? Person::they : Person::he};
}

Subject Draw::pronoun() {
  return one_of({Subject{{"I", "ich"}, Person::i}, Subject{{"I", "ich"}, Person::i}, Subject{{"he", "er"}, Person::he},
                 Subject{{"she", "sie"}, Person::he}, Subject{{"we", "wir"}, Person::they},
                 Subject{{"they", "sie"}, Person::they}});
}

Subject Draw::living_subject(const Noun*& noun) {
  noun = nullptr;
  if (chance(30)) return pronoun();
  Phrase p = phrase(kLiving);
  // Large numbers and plain plurals at the beginning of a line would each be seen too rarely.
  if (p.article == Article::none && (p.number == 0 || p.number > 12)) p.number = between(2, 12);
  noun = p.noun;
  return subject_of(p);
}

Pair Draw::place(const Noun* other_than) {
  struct Preposition {
    Pair text;
    unsigned uses;
  };
  static const std::vector<Preposition> all{{{"under ", "unter "}, kPlace},
                                            {{"behind ", "hinter "}, kPlace},
                                            {{"beside ", "neben "}, kPlace},
                                            {{"in front of ", "vor "}, kPlace},
                                            {{"on ", "auf "}, kPlaceOn}};
  const Preposition& where = one_of(all);
  Phrase p = definite_phrase(where.uses, other_than);
  if (p.article == Article::each) p.article = Article::definite;
  if (!p.plural && chance(40)) p.article = Article::indefinite;
  return where.text + Pair{p.english(), p.german(Case::dative)};
}

Pair Draw::date() {
  const int in = below(12);
  const Pair day = ordinal(between(1, days_in(in)));
  return Pair{"the ", ""} + day + Pair{" of ", "en "} + month(in);
}

Pair Draw::day_or_time() {
  switch (below(3)) {
    case 0:
      return Pair{"on ", "am "} + weekday(below(7));
    case 1: {
      const int minutes = 5 * below(12), hour = between(1, 12);  // in this order, whatever the compiler's is
      return Pair{"at ", "um "} + clock_time(hour, minutes);
    }
    default:
      return Pair{"on ", "am "} + date();
  }
}

}  // namespace demo
