// German beside English for the demo's corpus: nouns, adjectives, verbs, numbers, days and times, each with all the
// forms that are needed. Pure tables and functions on text; sentences.cc puts them together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// The same thing said in both languages.
struct Pair {
  std::string en, de;
};
Pair operator+(const Pair& a, const Pair& b);

enum class Gender { masculine, feminine, neuter };
enum class Case { nominative, accusative, dative };

/// What a noun can be used for, as bits.
enum Use : unsigned {
  kLiving = 1,
  kThing = 2,     // can be bought
  kItem = 4,      // ... and lies about
  kPlace = 8,     // one can be beside it
  kPlaceOn = 16,  // ... or on it
  kVehicle = 32,
  kShow = 64,
  kShop = 128,
  kUnowned = 256,  // nobody says "my" of it
};

struct Noun {
  const char *en, *en_plural, *de, *de_plural;
  Gender gender;
  unsigned uses;
  bool weak = false;  // der Junge, den Jungen
};
const std::vector<Noun>& nouns();
std::string german_noun(const Noun& noun, bool plural, Case c);

struct Adjective {
  const char *en, *stem, *alone;  // "expensive", "teur" + ending, "teuer"
  unsigned uses;
  const char *en_more = nullptr, *de_more = nullptr;  // comparatives, where they are used
};
const std::vector<Adjective>& adjectives();

/// The word before a noun. It decides the ending of the adjective between them.
enum class Article { definite, indefinite, none, each, demonstrative, my, his, her, our, negative };
struct Phrase {
  const Noun* noun = nullptr;
  const Adjective* adjective = nullptr;  // or none
  Article article = Article::definite;
  int number = 0;  // "three" dogs; 0: none is said
  bool plural = false;
  std::string english() const;
  std::string german(Case c) const;
};

/// Who does it; a verb agrees with this.
enum class Person { i, he, they };  // I; he, she, one; we, they, several

struct Verb {
  const char *en, *en_he, *en_past, *en_participle;  // "see", "sees", "saw", "seen"
  const char *infinitive, *i, *he, *past, *past_plural, *participle;
  const char* prefix = "";  // separable: "auf" of "hebt ... auf"
  bool by_sein = false;     // "ist gefolgt"
};
extern const Verb kBe;

/// 1 to 999: "forty-seven", "siebenundvierzig".
Pair number_words(int n);
/// 1 to 31, "twenty-first" and "einundzwanzigst", which takes an ending.
Pair ordinal(int n);
/// 0 to 6.
Pair weekday(int day);
/// 0 to 11.
Pair month(int month);
int days_in(int month);
/// Half past seven and "halb acht"; hour 1 to 12, minute a multiple of five.
Pair clock_time(int hour, int minute);
/// "three euros and one cent", in the accusative that "kosten" wants; one of the two may be 0.
Pair price(int euros, int cents);
/// With a large first letter.
std::string capitalized(std::string text);

}  // namespace demo
