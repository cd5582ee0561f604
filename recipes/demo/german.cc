#include "german.h"

#include <array>

namespace demo {

namespace {

constexpr auto m = Gender::masculine, f = Gender::feminine, n = Gender::neuter;

const char* const kUnits[] = {"",         "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
                              "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
                              "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
const char* const kTens[] = {"",        "",        "zwanzig", "dreißig", "vierzig",
                             "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};
const char* const kEnglishUnits[] = {"",         "one",     "two",     "three",     "four",     "five",    "six",
                                     "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                     "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
const char* const kEnglishTens[] = {"",      "",      "twenty",  "thirty", "forty",
                                    "fifty", "sixty", "seventy", "eighty", "ninety"};

/// "ein" inside a larger number, "eins" at its end.
std::string german_below_hundred(int number) {
  if (number < 20) return kUnits[number];
  const std::string tens = kTens[number / 10];
  const int unit = number % 10;
  return unit == 0 ? tens : (unit == 1 ? std::string("ein") : kUnits[unit]) + "und" + tens;
}

std::string english_below_hundred(int number) {
  if (number < 20) return kEnglishUnits[number];
  const std::string tens = kEnglishTens[number / 10];
  return number % 10 == 0 ? tens : tens + "-" + kEnglishUnits[number % 10];
}

bool begins_with_vowel(std::string_view word) { return std::string_view("aeiou").find(word[0]) != std::string::npos; }

/// The endings of der and die and das, as "dies-" and "jed-" take them; "d" + these is the article but for der, die,
/// das.
std::string strong_ending(Gender g, bool plural, Case c) {
  if (plural) return c == Case::dative ? "en" : "e";
  switch (c) {
    case Case::nominative:
      return g == m ? "er" : g == f ? "e" : "es";
    case Case::accusative:
      return g == m ? "en" : g == f ? "e" : "es";
    default:
      return g == f ? "er" : "em";
  }
}

std::string definite_article(Gender g, bool plural, Case c) {
  const std::string ending = strong_ending(g, plural, c);
  return ending == "e" ? "die" : ending == "es" ? "das" : "d" + ending;
}

/// ein, mein, kein: like the strong endings, but bare where the gender is not shown.
std::string ein_word(const std::string& stem, Gender g, bool plural, Case c) {
  const bool bare = !plural && g != f && (c == Case::nominative || (c == Case::accusative && g == n));
  return bare ? stem : stem + strong_ending(g, plural, c);
}

bool is_ein_word(Article a) {
  return a == Article::indefinite || a == Article::negative || a == Article::my || a == Article::his ||
         a == Article::her || a == Article::our;
}

std::string adjective_ending(Article a, Gender g, bool plural, Case c) {
  if (a == Article::none) return strong_ending(g, plural, c);  // kleine Hunde: the adjective shows the case itself
  if (plural || c == Case::dative) return "en";
  if (c == Case::accusative && g == m) return "en";
  return is_ein_word(a) ? strong_ending(g, plural, c) : "e";  // ein kleiner Hund, der kleine Hund
}

}  // namespace

Pair operator+(const Pair& a, const Pair& b) { return {a.en + b.en, a.de + b.de}; }

const std::vector<Noun>& nouns() {
  static const std::vector<Noun> all{
      {"dog", "dogs", "Hund", "Hunde", m, kLiving},
      {"man", "men", "Mann", "Männer", m, kLiving | kUnowned},
      {"boy", "boys", "Junge", "Jungen", m, kLiving, true},
      {"king", "kings", "König", "Könige", m, kLiving},
      {"bird", "birds", "Vogel", "Vögel", m, kLiving},
      {"bear", "bears", "Bär", "Bären", m, kLiving, true},
      {"teacher", "teachers", "Lehrer", "Lehrer", m, kLiving},
      {"brother", "brothers", "Bruder", "Brüder", m, kLiving},
      {"woman", "women", "Frau", "Frauen", f, kLiving | kUnowned},
      {"cat", "cats", "Katze", "Katzen", f, kLiving},
      {"sister", "sisters", "Schwester", "Schwestern", f, kLiving},
      {"queen", "queens", "Königin", "Königinnen", f, kLiving},
      {"mouse", "mice", "Maus", "Mäuse", f, kLiving},
      {"cow", "cows", "Kuh", "Kühe", f, kLiving},
      {"child", "children", "Kind", "Kinder", n, kLiving},
      {"girl", "girls", "Mädchen", "Mädchen", n, kLiving},
      {"horse", "horses", "Pferd", "Pferde", n, kLiving},
      {"pig", "pigs", "Schwein", "Schweine", n, kLiving},
      {"apple", "apples", "Apfel", "Äpfel", m, kThing | kItem},
      {"ball", "balls", "Ball", "Bälle", m, kThing | kItem},
      {"hat", "hats", "Hut", "Hüte", m, kThing | kItem},
      {"letter", "letters", "Brief", "Briefe", m, kThing | kItem},
      {"key", "keys", "Schlüssel", "Schlüssel", m, kThing | kItem},
      {"table", "tables", "Tisch", "Tische", m, kThing | kPlace | kPlaceOn},
      {"chair", "chairs", "Stuhl", "Stühle", m, kThing | kPlace | kPlaceOn},
      {"tree", "trees", "Baum", "Bäume", m, kPlace},
      {"flower", "flowers", "Blume", "Blumen", f, kThing | kItem},
      {"lamp", "lamps", "Lampe", "Lampen", f, kThing | kPlace},
      {"cup", "cups", "Tasse", "Tassen", f, kThing | kItem},
      {"bag", "bags", "Tasche", "Taschen", f, kThing | kItem},
      {"pear", "pears", "Birne", "Birnen", f, kThing | kItem},
      {"bridge", "bridges", "Brücke", "Brücken", f, kPlace | kPlaceOn},
      {"door", "doors", "Tür", "Türen", f, kPlace},
      {"book", "books", "Buch", "Bücher", n, kThing | kItem},
      {"house", "houses", "Haus", "Häuser", n, kPlace},
      {"bicycle", "bicycles", "Fahrrad", "Fahrräder", n, kThing | kItem},
      {"picture", "pictures", "Bild", "Bilder", n, kThing | kItem},
      {"egg", "eggs", "Ei", "Eier", n, kThing | kItem},
      {"car", "cars", "Auto", "Autos", n, kPlace},
      {"bed", "beds", "Bett", "Betten", n, kThing | kPlace | kPlaceOn},
      {"train", "trains", "Zug", "Züge", m, kVehicle},
      {"bus", "buses", "Bus", "Busse", m, kVehicle},
      {"ship", "ships", "Schiff", "Schiffe", n, kVehicle},
      {"film", "films", "Film", "Filme", m, kShow},
      {"party", "parties", "Feier", "Feiern", f, kShow},
      {"concert", "concerts", "Konzert", "Konzerte", n, kShow},
      {"shop", "shops", "Laden", "Läden", m, kShop},
      {"school", "schools", "Schule", "Schulen", f, kShop},
      {"museum", "museums", "Museum", "Museen", n, kShop},
  };
  return all;
}

std::string german_noun(const Noun& noun, bool plural, Case c) {
  std::string word = plural ? noun.de_plural : noun.de;
  const char last = word.back();
  if (plural) return c == Case::dative && last != 'n' && last != 's' ? word + "n" : word;
  if (noun.weak && c != Case::nominative) word += last == 'e' ? "n" : "en";
  return word;
}

const std::vector<Adjective>& adjectives() {
  constexpr unsigned any = ~0u, goods = kThing | kPlace;
  static const std::vector<Adjective> all{
      {"small", "klein", "klein", any, "smaller", "kleiner"},
      {"big", "groß", "groß", any, "bigger", "größer"},
      {"old", "alt", "alt", any, "older", "älter"},
      {"young", "jung", "jung", kLiving, "younger", "jünger"},
      {"beautiful", "schön", "schön", any, "more beautiful", "schöner"},
      {"clever", "klug", "klug", kLiving, "cleverer", "klüger"},
      {"strong", "stark", "stark", kLiving, "stronger", "stärker"},
      {"tired", "müd", "müde", kLiving},
      {"hungry", "hungrig", "hungrig", kLiving},
      {"new", "neu", "neu", goods | kVehicle | kShow | kShop, "newer", "neuer"},
      {"heavy", "schwer", "schwer", kThing, "heavier", "schwerer"},
      {"expensive", "teur", "teuer", goods | kShop, "more expensive", "teurer"},
      {"red", "rot", "rot", goods},
      {"green", "grün", "grün", goods},
      {"white", "weiß", "weiß", goods},
  };
  return all;
}

std::string Phrase::english() const {
  const std::string body = (adjective ? std::string(adjective->en) + " " : "") + (plural ? noun->en_plural : noun->en);
  const std::string rest = number > 0 ? number_words(number).en + " " + body : body;
  switch (article) {
    case Article::definite:
      return "the " + rest;
    case Article::indefinite:
      return (begins_with_vowel(rest) ? "an " : "a ") + rest;
    case Article::each:
      return "every " + rest;
    case Article::demonstrative:
      return (plural ? "these " : "this ") + rest;
    case Article::my:
      return "my " + rest;
    case Article::his:
      return "his " + rest;
    case Article::her:
      return "her " + rest;
    case Article::our:
      return "our " + rest;
    default:
      return rest;
  }
}

std::string Phrase::german(Case c) const {
  const Gender g = noun->gender;
  std::string text;
  switch (article) {
    case Article::definite:
      text = definite_article(g, plural, c);
      break;
    case Article::indefinite:
      text = ein_word("ein", g, plural, c);
      break;
    case Article::negative:
      text = ein_word("kein", g, plural, c);
      break;
    case Article::each:
      text = "jed" + strong_ending(g, plural, c);
      break;
    case Article::demonstrative:
      text = "dies" + strong_ending(g, plural, c);
      break;
    case Article::my:
      text = ein_word("mein", g, plural, c);
      break;
    case Article::his:
      text = ein_word("sein", g, plural, c);
      break;
    case Article::her:
      text = ein_word("ihr", g, plural, c);
      break;
    case Article::our:
      text = ein_word("unser", g, plural, c);
      break;
    case Article::none:
      break;
  }
  if (!text.empty()) text += " ";
  if (number > 0) text += number_words(number).de + " ";
  if (adjective) text += adjective->stem + adjective_ending(article, g, plural, c) + " ";
  return text + german_noun(*noun, plural, c);
}

const Verb kBe{"be", "is", "was", "been", "sein", "bin", "ist", "war", "waren", "gewesen", "", true};

Pair number_words(int number) {
  Pair text;
  if (number >= 100) {
    const int hundreds = number / 100;
    text = {english_below_hundred(hundreds) + " hundred",
            (hundreds == 1 ? std::string("ein") : kUnits[hundreds]) + "hundert"};
    number %= 100;
    if (number == 0) return text;
    text.en += " and ";
  }
  return text + Pair{english_below_hundred(number), german_below_hundred(number)};
}

Pair ordinal(int number) {
  static const char* const kEnglish[] = {"",        "first",  "second", "third", "fourth",   "fifth",  "sixth",
                                         "seventh", "eighth", "ninth",  "tenth", "eleventh", "twelfth"};
  const int last = number < 20 ? number : number % 10;
  std::string en;
  if (number >= 20)
    en = last == 0 ? (number == 20 ? "twentieth" : "thirtieth") : std::string(kEnglishTens[number / 10]) + "-";
  if (last > 0) en += last <= 12 ? std::string(kEnglish[last]) : std::string(kEnglishUnits[last]) + "th";
  std::string de = german_below_hundred(number) + (number < 20 ? "t" : "st");
  if (number == 1) de = "erst";
  if (number == 3) de = "dritt";
  if (number == 7) de = "siebt";
  if (number == 8) de = "acht";
  return {en, de};
}

Pair weekday(int day) {
  static const Pair kDays[] = {{"Monday", "Montag"},       {"Tuesday", "Dienstag"}, {"Wednesday", "Mittwoch"},
                               {"Thursday", "Donnerstag"}, {"Friday", "Freitag"},   {"Saturday", "Samstag"},
                               {"Sunday", "Sonntag"}};
  return kDays[day];
}

Pair month(int month) {
  static const Pair kMonths[] = {{"January", "Januar"},  {"February", "Februar"},  {"March", "März"},
                                 {"April", "April"},     {"May", "Mai"},           {"June", "Juni"},
                                 {"July", "Juli"},       {"August", "August"},     {"September", "September"},
                                 {"October", "Oktober"}, {"November", "November"}, {"December", "Dezember"}};
  return kMonths[month];
}

int days_in(int month) {
  constexpr std::array days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[static_cast<size_t>(month)];
}

Pair clock_time(int hour, int minute) {
  const int next = hour % 12 + 1;
  const std::string now_en = kEnglishUnits[hour], now_de = kUnits[hour];
  const std::string next_en = kEnglishUnits[next], next_de = kUnits[next];
  const auto minutes = [](int count) { return number_words(count); };
  if (minute == 0) return {now_en + " o'clock", (hour == 1 ? "ein" : now_de) + " Uhr"};
  if (minute == 15) return {"quarter past " + now_en, "Viertel nach " + now_de};
  if (minute == 30) return {"half past " + now_en, "halb " + next_de};
  if (minute == 45) return {"quarter to " + next_en, "Viertel vor " + next_de};
  // Around the half hour German counts from it, and the half hour is named after the hour to come.
  if (minute == 25) return {"twenty-five past " + now_en, "fünf vor halb " + next_de};
  if (minute == 35) return {"twenty-five to " + next_en, "fünf nach halb " + next_de};
  if (minute < 30) return {minutes(minute).en + " past " + now_en, minutes(minute).de + " nach " + now_de};
  return {minutes(60 - minute).en + " to " + next_en, minutes(60 - minute).de + " vor " + next_de};
}

Pair price(int euros, int cents) {
  const auto coins = [](int count, const Pair& coin) {
    if (count == 1) return Pair{"one ", "einen "} + coin;
    return number_words(count) + Pair{" ", " "} + Pair{coin.en + "s", coin.de};
  };
  if (cents == 0) return coins(euros, {"euro", "Euro"});
  if (euros == 0) return coins(cents, {"cent", "Cent"});
  return coins(euros, {"euro", "Euro"}) + Pair{" and ", " und "} + coins(cents, {"cent", "Cent"});
}

std::string capitalized(std::string text) {
  const auto byte = [&](size_t i) -> char& { return text[i]; };
  if (byte(0) >= 'a' && byte(0) <= 'z') byte(0) = static_cast<char>(byte(0) - 0x20);
  // ä, ö, ü are C3 A4, C3 B6, C3 BC; their large forms are 0x20 below, as in ASCII.
  const std::string_view start = std::string_view(text).substr(0, 2);
  if (start == "ä" || start == "ö" || start == "ü") byte(1) = static_cast<char>(byte(1) - 0x20);
  return text;
}

}  // namespace demo
