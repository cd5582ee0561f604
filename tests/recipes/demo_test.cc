// The demo's corpus: what ships is what the generator writes, its German is right, and the test set is unseen.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "clause.h"
#include "data/files/line_reader.h"
#include "places.h"
#include "recipe/reader.h"
#include "recipe/settings.h"
#include "sentences.h"

namespace demo {
namespace {

const std::string kFolder = attune::test::source_dir() + "/recipes/demo/";

const Corpus& corpus() {
  static const Corpus made = make_corpus(kSeed);
  return made;
}

void expect_shipped(const std::vector<Pair>& pairs, const std::string& stem, const std::string& ending) {
  const std::vector<std::string> en = attune::read_lines(kFolder + stem + ".en" + ending);
  const std::vector<std::string> de = attune::read_lines(kFolder + stem + ".de" + ending);
  ASSERT_EQ(en.size(), pairs.size()) << stem;
  ASSERT_EQ(de.size(), pairs.size()) << stem;
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(en[i], pairs[i].en) << stem << " line " << i + 1;
    ASSERT_EQ(de[i], pairs[i].de) << stem << " line " << i + 1;
  }
}

TEST(DemoCorpus, ShipsAsGenerated) {
  expect_shipped(corpus().train, "train", ".gz");
  expect_shipped(corpus().valid, "valid", "");
  expect_shipped(corpus().test, "test", "");
}

TEST(DemoCorpus, SeedDecides) { EXPECT_NE(make_corpus(kSeed + 1).train.front().en, corpus().train.front().en); }

TEST(DemoCorpus, NoLineTwice) {
  std::set<std::string> seen;
  size_t lines = 0;
  for (const auto* part : {&corpus().train, &corpus().valid, &corpus().test})
    for (const Pair& p : *part) {
      seen.insert(p.en);
      ++lines;
    }
  EXPECT_EQ(seen.size(), lines);
  EXPECT_GE(corpus().train.size(), 12000u);
  EXPECT_EQ(corpus().test.size(), 300u);
}

std::set<std::string> words_of(const std::vector<Pair>& pairs, std::string Pair::*side) {
  std::set<std::string> words;
  for (const Pair& p : pairs) {
    std::string word;
    for (char c : p.*side + " ") {
      if (std::string_view(" .,?-").find(c) == std::string_view::npos) {
        word += c;
      } else if (!word.empty()) {
        words.insert(word);
        word.clear();
      }
    }
  }
  return words;
}

TEST(DemoCorpus, HeldOutLinesAreMadeOfKnownWords) {
  for (auto side : {&Pair::en, &Pair::de}) {
    const std::set<std::string> known = words_of(corpus().train, side);
    for (const auto* part : {&corpus().valid, &corpus().test})
      for (const std::string& word : words_of(*part, side))
        EXPECT_TRUE(known.contains(word) || word.find("hundert") != std::string::npos) << word;
  }
}

const Noun& noun(std::string_view en) {
  for (const Noun& n : nouns())
    if (n.en == en) return n;
  throw std::runtime_error("no such noun");
}
const Adjective* adjective(std::string_view en) {
  for (const Adjective& a : adjectives())
    if (a.en == en) return &a;
  return nullptr;
}

/// Nominative, accusative, dative.
std::vector<std::string> cases(const char* what, const char* how, Article article, bool plural, int number = 0) {
  const Phrase p{&noun(what), adjective(how), article, number, plural};
  return {p.german(Case::nominative), p.german(Case::accusative), p.german(Case::dative)};
}
using Forms = std::vector<std::string>;

TEST(DemoGerman, AdjectivesAgree) {
  EXPECT_EQ(cases("dog", "small", Article::definite, false),
            (Forms{"der kleine Hund", "den kleinen Hund", "dem kleinen Hund"}));
  EXPECT_EQ(cases("cat", "small", Article::definite, false),
            (Forms{"die kleine Katze", "die kleine Katze", "der kleinen Katze"}));
  EXPECT_EQ(cases("horse", "small", Article::definite, false),
            (Forms{"das kleine Pferd", "das kleine Pferd", "dem kleinen Pferd"}));
  EXPECT_EQ(cases("dog", "small", Article::indefinite, false),
            (Forms{"ein kleiner Hund", "einen kleinen Hund", "einem kleinen Hund"}));
  EXPECT_EQ(cases("cat", "small", Article::indefinite, false),
            (Forms{"eine kleine Katze", "eine kleine Katze", "einer kleinen Katze"}));
  EXPECT_EQ(cases("horse", "small", Article::indefinite, false),
            (Forms{"ein kleines Pferd", "ein kleines Pferd", "einem kleinen Pferd"}));
  EXPECT_EQ(cases("man", "old", Article::definite, true),
            (Forms{"die alten Männer", "die alten Männer", "den alten Männern"}));
  EXPECT_EQ(cases("man", "old", Article::none, true), (Forms{"alte Männer", "alte Männer", "alten Männern"}));
  EXPECT_EQ(cases("man", "old", Article::none, true, 3),
            (Forms{"drei alte Männer", "drei alte Männer", "drei alten Männern"}));
  EXPECT_EQ(cases("man", "old", Article::definite, true, 3),
            (Forms{"die drei alten Männer", "die drei alten Männer", "den drei alten Männern"}));
  EXPECT_EQ(cases("apple", "expensive", Article::our, false),
            (Forms{"unser teurer Apfel", "unseren teuren Apfel", "unserem teuren Apfel"}));
  EXPECT_EQ(cases("egg", "white", Article::my, true),
            (Forms{"meine weißen Eier", "meine weißen Eier", "meinen weißen Eiern"}));
  EXPECT_EQ(cases("book", "new", Article::demonstrative, false),
            (Forms{"dieses neue Buch", "dieses neue Buch", "diesem neuen Buch"}));
  EXPECT_EQ(cases("book", "new", Article::negative, false),
            (Forms{"kein neues Buch", "kein neues Buch", "keinem neuen Buch"}));
  EXPECT_EQ(cases("boy", "tired", Article::each, false),
            (Forms{"jeder müde Junge", "jeden müden Jungen", "jedem müden Jungen"}));
  EXPECT_EQ(cases("bear", "", Article::definite, false), (Forms{"der Bär", "den Bären", "dem Bären"}));
  EXPECT_EQ(cases("car", "", Article::definite, true), (Forms{"die Autos", "die Autos", "den Autos"}));
}

TEST(DemoGerman, NumbersAndTimes) {
  EXPECT_EQ(number_words(47).en, "forty-seven");
  EXPECT_EQ(number_words(47).de, "siebenundvierzig");
  EXPECT_EQ(number_words(221).en, "two hundred and twenty-one");
  EXPECT_EQ(number_words(221).de, "zweihunderteinundzwanzig");
  EXPECT_EQ(number_words(116).de, "einhundertsechzehn");
  EXPECT_EQ(ordinal(3).de + "en", "dritten");
  EXPECT_EQ(ordinal(21).en, "twenty-first");
  EXPECT_EQ(ordinal(21).de, "einundzwanzigst");
  EXPECT_EQ(ordinal(30).en, "thirtieth");
  EXPECT_EQ(ordinal(18).de, "achtzehnt");
  EXPECT_EQ(clock_time(7, 30).en, "half past seven");
  EXPECT_EQ(clock_time(7, 30).de, "halb acht");
  EXPECT_EQ(clock_time(12, 30).de, "halb eins");
  EXPECT_EQ(clock_time(1, 0).de, "ein Uhr");
  EXPECT_EQ(clock_time(12, 55).en, "five to one");
  EXPECT_EQ(clock_time(12, 55).de, "fünf vor eins");
  EXPECT_EQ(clock_time(7, 25).en, "twenty-five past seven");
  EXPECT_EQ(clock_time(7, 25).de, "fünf vor halb acht");
  EXPECT_EQ(price(1, 21).en, "one euro and twenty-one cents");
  EXPECT_EQ(price(1, 21).de, "einen Euro und einundzwanzig Cent");
}

TEST(DemoGerman, TheVerbFindsItsPlace) {
  const Verb lift{"pick up", "picks up", "picked up", "picked up", "heben", "hebe",
                  "hebt",    "hob",      "hoben",     "gehoben",   "auf"};
  Clause c;
  c.subject = {{"the boy", "der Junge"}, Person::he};
  c.verb = &lift;
  c.rest = {"the ball", "den Ball"};
  c.not_first = false;
  const auto says = [&](Order order, const Pair& opening, const char* en, const char* de) {
    const Pair said = spoken(c, order, opening);
    EXPECT_EQ(said.en, en);
    EXPECT_EQ(said.de, de);
  };
  const Pair today{"today", "heute"}, that{"I know that", "ich weiß, dass"};
  says(Order::statement, {}, "the boy picks up the ball", "der Junge hebt den Ball auf");
  says(Order::statement, today, "today the boy picks up the ball", "heute hebt der Junge den Ball auf");
  says(Order::question, {}, "does the boy pick up the ball", "hebt der Junge den Ball auf");
  says(Order::subordinate, that, "I know that the boy picks up the ball", "ich weiß, dass der Junge den Ball aufhebt");
  c.negated = true;
  says(Order::statement, {}, "the boy does not pick up the ball", "der Junge hebt den Ball nicht auf");
  c.tense = Tense::perfect;
  says(Order::statement, {}, "the boy has not picked up the ball", "der Junge hat den Ball nicht aufgehoben");
  c.tense = Tense::want;
  says(Order::subordinate, that, "I know that the boy does not want to pick up the ball",
       "ich weiß, dass der Junge den Ball nicht aufheben will");
}

TEST(DemoRecipe, NamesFilesThatShip) {
  const std::string path = kFolder + "recipe.toml";
  const auto recipe = attune::read_settings<attune::Recipe>(path);
  attune::check_recipe(recipe);
  for (const auto* files :
       {static_cast<const std::vector<std::string>*>(&recipe.data.train), &recipe.data.valid, &recipe.data.test}) {
    ASSERT_EQ(files->size(), 2u);
    for (const std::string& file : *files)
      EXPECT_TRUE(std::filesystem::exists(attune::beside_recipe(path, file))) << file;
  }
}

}  // namespace
}  // namespace demo
