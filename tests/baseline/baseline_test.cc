// What baselines say about small tasks whose answers are known.
#include "baseline/baseline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/files.h"
#include "inference/predictor.h"
#include "recipe/settings.h"

namespace attune::test {
namespace {

/// A recipe's data as a run reads it.
struct BaselineData {
  TempFolder folder{memory_folder()};
  Recipe recipe;
  Tokenizers tokenizers;
  TrainingData data;

  /// Files by their names; the recipe is about train and valid.
  BaselineData(const std::string& recipe_text, const std::vector<std::pair<std::string, std::string>>& files,
               bool on_disk = false) {
    for (const auto& [name, text] : files) put(folder / name, text);
    put(folder / "recipe.toml", recipe_text);
    recipe = load_recipe_for_run(folder / "recipe.toml");
    tokenizers = learn_tokenizers(recipe);
    CorpusPlace place;
    place.folder = folder.path();
    place.in_memory = on_disk ? 10 : place.in_memory;
    data = read_training_data(recipe.data, encoders_of(recipe, tokenizers), 1, nullptr, &place);
    EXPECT_EQ(data.train.stored != nullptr, on_disk);
  }
  BaselineTask task() const { return {recipe, data, tokenizers}; }
  /// By its name; empty where it does not fit.
  BaselineGuess guess(const std::string& name) const {
    for (BaselineGuess& g : guess_by_baselines(task()))
      if (g.name == name) return g;
    return {};
  }
  std::vector<std::string> lines(const std::string& name) const { return guess(name).lines; }
};

using Lines = std::vector<std::string>;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string recipe_of(const std::string& task, const std::string& data, const std::string& more = "") {
  return "task = \"" + task + "\"\n[data]\n" + data + more;
}

constexpr const char* kTsv = "train = [\"train.txt\"]\nvalid = [\"valid.txt\"]\n";

TEST(Baselines, HaveNamesAndSentences) {
  std::set<std::string> names;
  for (const BaselineKind& k : baseline_kinds()) {
    EXPECT_TRUE(names.insert(k.name).second) << k.name;
    EXPECT_GT(std::string(k.sentence).size(), 10u) << k.name;
  }
  EXPECT_TRUE(names.contains("n-grams"));
}

TEST(Baselines, TagAWordAsItIsTaggedMost) {
  const BaselineData d(
      recipe_of("tag", std::string(kTsv) + "format = \"conll\"\ncolumns = [1, 2]\n", "[tokenizer]\nkind = \"byte\"\n"),
      {{"train.txt", "the DET\ncan NOUN\n\n" + repeated("we PRON\ncan AUX\n\n", 2) +
                         "walking VERB\nTalking VERB\nran VERB\n\ndog NOUN\ncat NOUN\ncow NOUN\n\n"},
       {"valid.txt", "can NOUN\n\nThe X\nTHE X\nsinging X\ndog X\n\nqqq X\n\n"}});
  // Known; by small letters; by the last letters; nothing known of it: the most frequent.
  EXPECT_EQ(d.lines("most frequent tag per word"), (Lines{"AUX", "DET DET VERB NOUN", "NOUN"}));
  EXPECT_TRUE(d.lines("most frequent answer").empty());
}

TEST(Baselines, ClassifyByWordsAndByWhatIsMost) {
  const BaselineData d(
      recipe_of("classify", kTsv),
      {{"train.txt",
        repeated("good\tI like it\ngood\tlike this\nbad\tI hate it\nbad\thate that\n", 8) + "bad\tso so\n"},
       {"valid.txt", "good\twe like that\nbad\twe hate this\ngood\tso\n"}});
  EXPECT_EQ(d.lines("bag of words"), (Lines{"good", "bad", "bad"}));
  EXPECT_EQ(d.lines("most frequent answer"), (Lines{"bad", "bad", "bad"}));
}

TEST(Baselines, ClassifyTwoTextsByWhatBothHave) {
  std::string train;
  const std::vector<std::string> words{"red", "blue", "green", "black", "white", "brown"};
  for (const std::string& a : words)
    for (const std::string& b : words)
      train += (a == b ? repeated("same\t" + a + "\t" + b + "\n", 5) : "other\t" + a + "\t" + b + "\n");
  const BaselineData d(
      recipe_of("classify", kTsv),
      {{"train.txt", train}, {"valid.txt", "same\tred blue\tred blue\nother\tred blue\tblack white\n"}});
  EXPECT_EQ(d.lines("bag of words"), (Lines{"same", "other"}));
}

TEST(Baselines, GiveSetsOfLabels) {
  const BaselineData d(
      recipe_of("classify", kTsv, "[model]\nhead = \"labels\"\n"),
      {{"train.txt", repeated("x y\ta b\nx\ta c\ny\tb c\n\tc d\n", 10)}, {"valid.txt", "x y\ta b\nx\ta\n\td\n"}});
  EXPECT_EQ(d.lines("bag of words"), (Lines{"x y", "x", ""}));
}

TEST(Baselines, GiveNumbers) {
  const BaselineData d(recipe_of("classify", kTsv, "[model]\nhead = \"number\"\n"),
                       {{"train.txt", repeated("1\tbad\n3\tgood\n", 40)}, {"valid.txt", "1\tbad\n3\tgood\n"}});
  EXPECT_EQ(d.lines("most frequent answer"), (Lines{"2", "2"}));
  const Lines said = d.lines("bag of words");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NEAR(std::stod(said[0]), 1, 0.1);
  EXPECT_NEAR(std::stod(said[1]), 3, 0.1);
}

TEST(Baselines, AnswerForEachOfSeveralHeads) {
  const BaselineData d(
      recipe_of("classify", std::string(kTsv) + "answers = 2\n",
                "[model]\nhead = { kind = \"several\", heads = \"label number\" }\n"),
      {{"train.txt", repeated("no\t1\tbad\nyes\t3\tgood\n", 40) + "yes\t3\tgood\n"}, {"valid.txt", "no\t1\tbad\n"}});
  EXPECT_TRUE(d.lines("most frequent answer")[0].starts_with("yes\t2.0")) << d.lines("most frequent answer")[0];
  EXPECT_TRUE(d.lines("bag of words")[0].starts_with("no\t")) << d.lines("bag of words")[0];
}

TEST(Baselines, TranslateByCopyingAndWordByWord) {
  const std::string data = "train = [\"train.en\", \"train.de\"]\nvalid = [\"valid.en\", \"valid.de\"]\n";
  const BaselineData d(recipe_of("translate", data, "[tokenizer]\nkind = \"word\"\n"),
                       {{"train.en", repeated("the dog\nthe cat\na dog\na cat\n", 5)},
                        {"train.de", repeated("der Hund\nder Kater\nein Hund\nein Kater\n", 5)},
                        {"valid.en", "the cat , a DOG dog\n\n"},
                        {"valid.de", "der Kater\n\n"}});
  EXPECT_EQ(d.lines("copy"), d.data.valid_source);
  const Lines said = d.lines("word by word");
  ASSERT_EQ(said.size(), d.data.valid_source.size());
  EXPECT_EQ(said[0], "der Kater , ein DOG Hund");  // what is not known stays
}

TEST(Baselines, NgramsCostWhatTextsDoATokenAsTheModelIsAsked) {
  // Each letter follows from the one before: all that is left is which line it is.
  const std::string lines = repeated("abcd\nefgh\n", 50);
  for (const bool stream : {false, true}) {
    const BaselineData d(recipe_of("language", std::string(kTsv) + (stream ? "stream = true\nmax_length = 16\n" : ""),
                                   "[tokenizer]\nkind = \"char\"\n"),
                         {{"train.txt", lines}, {"valid.txt", repeated("abcd\nefgh\n", 4)}});
    const auto loss = d.guess("n-grams").loss;
    ASSERT_TRUE(loss.has_value());
    EXPECT_GT(*loss, stream ? 0.0 : std::log(2.0) / 5);
    EXPECT_LT(*loss, 0.25) << stream;
  }
}

TEST(Baselines, NgramsSayNothingOfMissingWords) {
  const BaselineData d(recipe_of("language", kTsv, "[model]\nshape = \"encoder\"\n"),
                       {{"train.txt", repeated("a b c\n", 20)}, {"valid.txt", "a b\n"}});
  EXPECT_TRUE(guess_by_baselines(d.task()).empty());
}

TEST(Baselines, LookAtSoManyTokensAtMost) {
  // The first half of the text is another one than the second: of few tokens both are seen.
  const BaselineData d(
      recipe_of("language", kTsv, "[tokenizer]\nkind = \"char\"\n"),
      {{"train.txt", repeated("aaaa\n", 400) + repeated("bbbb\n", 400)}, {"valid.txt", "aaaa\nbbbb\n"}});
  BaselineTask task = d.task();
  const double all = *guess_by_baselines(task)[0].loss;
  task.most_tokens = 100;
  const double some = *guess_by_baselines(task)[0].loss;
  EXPECT_GT(some, all);
  EXPECT_LT(some, 0.5);
}

TEST(Baselines, SayTheSameOfWhatIsOnTheDisk) {
  const std::string texts = repeated("one two\ntwo one three\n", 20), labels = repeated("a\tone\nb\ttwo three\n", 20);
  const std::string pair = "train = [\"train.txt\", \"train.txt\"]\nvalid = [\"valid.txt\", \"valid.txt\"]\n";
  const std::vector<std::pair<std::string, std::string>> tasks{
      {recipe_of("translate", pair), texts},
      {recipe_of("language", kTsv), texts},
      {recipe_of("language", std::string(kTsv) + "stream = true\nmax_length = 8\n"), texts},
      {recipe_of("classify", kTsv), labels},
      {recipe_of("tag", std::string(kTsv) + "format = \"conll\"\ncolumns = [2, 1]\n"),
       repeated("A one\nB two\n\n", 20)}};
  for (const auto& [recipe, text] : tasks) {
    const std::vector<std::pair<std::string, std::string>> files{{"train.txt", text}, {"valid.txt", text}};
    const BaselineData memory(recipe, files), disk(recipe, files, true);
    for (const int64_t most : {1'000'000, 30}) {
      BaselineTask a = memory.task(), b = disk.task();
      a.most_tokens = b.most_tokens = most;
      const auto x = guess_by_baselines(a), y = guess_by_baselines(b);
      ASSERT_EQ(x.size(), y.size());
      ASSERT_FALSE(x.empty()) << recipe;
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(x[i].lines, y[i].lines) << recipe;
        EXPECT_EQ(x[i].loss, y[i].loss) << recipe;
      }
    }
  }
}

std::string big_endian(uint32_t x) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(x >> shift & 255);
  return bytes;
}

/// Pictures of 2 x 2 pixels, one of them lit: the label is which.
std::string pictures_of_a_pixel(int count) {
  std::string all = big_endian(0x803) + big_endian(static_cast<uint32_t>(count)) + big_endian(2) + big_endian(2);
  for (int i = 0; i < count; ++i)
    for (int p = 0; p < 4; ++p) all += static_cast<char>(p == i % 4 ? 255 - i : i % 7);
  return all;
}

std::string labels_of_pixels(int count) {
  std::string all = big_endian(0x801) + big_endian(static_cast<uint32_t>(count));
  for (int i = 0; i < count; ++i) all += static_cast<char>(i % 4);
  return all;
}

TEST(Baselines, SeePicturesByTheirPixels) {
  const BaselineData d(
      recipe_of("image", "train = [\"train\", \"train-labels\"]\nvalid = [\"valid\", \"valid-labels\"]\n"),
      {{"train", pictures_of_a_pixel(80)},
       {"train-labels", labels_of_pixels(80)},
       {"valid", pictures_of_a_pixel(8)},
       {"valid-labels", labels_of_pixels(8)}});
  EXPECT_EQ(d.lines("linear"), (Lines{"0", "1", "2", "3", "0", "1", "2", "3"}));
  EXPECT_EQ(d.lines("most frequent answer"), Lines(8, "0"));
}

TEST(Baselines, GiveNodesTheLabelsOfTheirNeighbours) {
  // A chain a0 - a1 - a2 with one label, b0 - b1 with another, c alone; features say something else.
  const std::string nodes =
      "node\tlabel\tsplit\tfeatures\n"
      "a0\tred\ttrain\t0\na1\tred\tvalid\t1\na2\tred\tvalid\t1\nb0\tblue\ttrain\t1\nb1\tblue\tvalid\t0\n"
      "c\tred\tvalid\t0\nd\tred\ttrain\t0\n";
  const BaselineData d(recipe_of("graph", "train = [\"nodes.tsv\", \"edges.tsv\"]\n"),
                       {{"nodes.tsv", nodes}, {"edges.tsv", "from\tto\na0\ta1\na1\ta2\nb0\tb1\n"}});
  EXPECT_EQ(d.lines("neighbours' labels"), Lines{"red red blue red"});
  EXPECT_EQ(d.lines("most frequent answer"), Lines{"red red red red"});
  EXPECT_EQ(d.lines("linear"), Lines{"blue blue red red"});
}

}  // namespace
}  // namespace attune::test
