#include "attune/new_recipe.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "advise/corpus_look.h"
#include "advise/recipe_sizes.h"
#include "base/text.h"
#include "data/files.h"
#include "data/files/pairs.h"
#include "recipe/reader.h"
#include "recipe/settings.h"
#include "text/trainer.h"
#include "text/utf8.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

/// `lines` lines of `words` words each, of a vocabulary of a few thousand.
std::string sentences(int64_t lines, int64_t words, const std::string& end = " .", uint32_t seed = 1) {
  std::string out;
  for (int64_t i = 0; i < lines; ++i) {
    for (int64_t w = 0; w < words; ++w) {
      seed = seed * 1664525 + 1013904223;
      if (w > 0) out += ' ';
      for (uint32_t n = (seed >> 16) % 4000 + 17; n > 0; n /= 17) out += static_cast<char>('a' + n % 17);
    }
    out += end + "\n";
  }
  return out;
}

/// Writes the proposal beside the files and reads it as training would.
Recipe loaded(const NewRecipe& n, const std::string& path) {
  save_recipe(n, path);
  return load_recipe(path);
}

struct NewRecipeTest : testing::Test {
  TempFolder dir;
  std::string out = dir / "translate.toml";
  NewRecipe propose(const std::vector<std::string>& files, NewRecipeOptions options = {}) {
    options.out = out;
    options.measure = false;
    return propose_recipe("translate", files, options);
  }
};

TEST_F(NewRecipeTest, ACorpusOfMiddlingSize) {
  const std::string en = put(dir / "train.en", sentences(29'000, 5)), de = put(dir / "train.de", sentences(29'000, 5));
  const std::string val_en = put(dir / "val.en.gz", gzipped(sentences(30, 5)));
  const std::string val_de = put(dir / "val.de.gz", gzipped(sentences(30, 5)));
  const NewRecipe n = propose({en, de, val_en, val_de}, {.threads = 1});
  const Recipe r = loaded(n, out);
  EXPECT_EQ(r.data.train, (std::vector<std::string>{"train.en", "train.de"}));
  EXPECT_EQ(r.data.valid, (std::vector<std::string>{"val.en.gz", "val.de.gz"}));
  EXPECT_EQ(r.data.languages, (std::vector<std::string>{"en", "de"}));
  EXPECT_TRUE(r.data.test.empty());
  EXPECT_EQ(r.model.d_model, 128);
  EXPECT_EQ(r.model.encoder_layers, 4);
  EXPECT_EQ(r.train.batch_tokens.tokens, 4096);
  EXPECT_EQ(r.train.stop.text(), "12000u");
  EXPECT_EQ(r.train.schedule, Schedule::cosine);
  EXPECT_EQ(r.model.position.kind, "rope");
  EXPECT_EQ(r.train.metric_options.tokenize, "none");
  EXPECT_EQ(n.pairs, 29'000);
  EXPECT_EQ(n.source_words, 29'000 * 6);
  EXPECT_EQ(n.valid_pairs, 30);
  EXPECT_FALSE(n.held_out);
  EXPECT_GT(n.parameters, 1'000'000);
  // Every key says why, on its line or the line before.
  EXPECT_EQ(n.settings[0], (std::pair<std::string, std::string>{"task", "\"translate\""}));
  std::string before;
  for (const std::string& line : split(n.text, '\n')) {
    if (line.find(" = ") != std::string::npos) {
      EXPECT_TRUE(before.starts_with("#") || line.find("  # ") != std::string::npos) << line;
    }
    before = line;
  }
}

TEST_F(NewRecipeTest, WhatItWritesLoadsWhateverTheFilesAre) {
  std::string chinese;
  for (char32_t c = 0x4E00; c < 0x4E00 + 3000; ++c) {
    text::append_utf8(chinese, c);
    chinese += c % 10 == (0x4E00 - 1) % 10 ? "\n" : "";
  }
  const struct {
    const char* name;
    std::string source, target;
  } cases[] = {
      {"one pair", "a\n", "b\n"},
      {"two letters", "a b a\nb b a\n", "a\nb\n"},
      {"no line end", "x y", "y x"},
      {"windows",
       "\xef\xbb\xbf"
       "a b\r\nc d\r\n",
       "e f\r\ng h\r\n"},
      {"one long line", sentences(50, 5) + sentences(1, 9000), sentences(51, 4)},
      {"all long", sentences(20, 700), sentences(20, 600)},
      {"chinese", sentences(300, 4), chinese},
      {"untokenized", sentences(700, 4, "."), sentences(700, 4, ".")},
      {"empty sides", "\na\n\nb\n", "x\ny\n\nz\n"},
      {"compatibility letters", "½ ⅓ ㎏ ﬁ Ⅷ\n", "ǆ ㍿ ½ ﷺ\n"},
  };
  int i = 0;
  for (const auto& c : cases) {
    const std::string folder = dir / std::to_string(i++);
    fs::create_directories(folder + "/data");
    const std::string a = put(folder + "/data/a.en", c.source), b = put(folder + "/data/a.xx", c.target);
    out = folder + "/r.toml";
    const Recipe r = loaded(propose({a, b}), out);
    EXPECT_EQ(r.data.train, (std::vector<std::string>{"data/a.en", "data/a.xx"})) << c.name;
    EXPECT_TRUE(c.name != std::string("one long line") || r.data.max_length <= 512) << r.data.max_length;
    EXPECT_GE(r.train.batch_tokens.tokens, 2 * r.data.max_length) << c.name << ": a pair may not fit into a batch";
    DataSettings data = r.data;
    for (std::string& f : data.train) f = beside_recipe(out, f);
    // The tokenizer it asks for can be made.
    PairReader reader(data.train, data, "train");
    std::vector<std::string> lines;
    for (TextPair p; reader.next(p);) lines.insert(lines.end(), {std::string(p.source), std::string(p.target)});
    size_t at = 0;
    const auto next = [&](std::string& line) {
      if (at == lines.size()) return false;
      line = lines[at++];
      return true;
    };
    const text::Tokenizer t = text::train_tokenizer(next, r.tokenizer).tokenizer;
    int64_t overlong = 0;
    for (const std::string& line : lines) overlong += std::ssize(t.encode(line)) > r.data.max_length;
    EXPECT_LE(20 * overlong, std::ssize(lines)) << c.name << ": too much would be skipped";
  }
}

TEST_F(NewRecipeTest, LettersDecideMetricAndCoverage) {
  std::string chinese;
  for (char32_t c = 0x4E00; c < 0x4E00 + 3000; ++c) {
    text::append_utf8(chinese, c);
    chinese += c % 10 == (0x4E00 - 1) % 10 ? "\n" : "";
  }
  const std::string en = put(dir / "a.en", sentences(300, 4, ".")), zh = put(dir / "a.zh", chinese);
  const Recipe to_zh = loaded(propose({en, zh}), out);
  EXPECT_EQ(to_zh.train.metric, "loss");
  EXPECT_LT(to_zh.tokenizer.character_coverage, 1);
  EXPECT_GT(to_zh.tokenizer.size, 3000);
  EXPECT_TRUE(to_zh.tokenizer.joint);
  const Recipe to_en = loaded(propose({zh, en}), out + "2");
  EXPECT_EQ(to_en.train.metric, "bleu");
  EXPECT_EQ(to_en.train.metric_options.tokenize, "13a");
}

TEST_F(NewRecipeTest, AFileOfTwoColumns) {
  std::string tsv;
  for (int i = 0; i < 40; ++i) tsv += "a b c\td e f g\n";
  const NewRecipe n = propose({put(dir / "pairs.txt", tsv)});
  const Recipe r = loaded(n, out);
  EXPECT_EQ(r.data.format, DataFormat::tsv);
  EXPECT_EQ(r.data.train, (std::vector<std::string>{"pairs.txt"}));
  EXPECT_TRUE(r.data.languages.empty());
  EXPECT_TRUE(n.held_out);
  EXPECT_EQ(n.valid_pairs, 1);
  EXPECT_LT(r.tokenizer.size, 60) << "seven words need no hundreds of pieces";
}

TEST_F(NewRecipeTest, PathsAreFromTheRecipesFolder) {
  fs::create_directories(dir / "data");
  fs::create_directories(dir / "recipes");
  put(dir / "data/real", "a\nb\n");
  const std::string de = put(dir / "data/a.de", "a\nb\n");
  fs::create_symlink("real", dir / "data/a.en");
  out = dir / "recipes/r.toml";
  const std::string relative = fs::path(dir / "data/a.en").lexically_relative(fs::current_path()).string();
  const Recipe r = loaded(propose({relative, de}), out);
  EXPECT_EQ(r.data.train[0], "../data/a.en") << "a link keeps its name";
  EXPECT_EQ(r.data.train[1], de) << "named from the root, and elsewhere";
  for (const std::string& f : r.data.train) EXPECT_TRUE(fs::exists(beside_recipe(out, f))) << f;
  const std::string odd = put(dir / "data/qu\"o\\te \t.de", "a\nb\n");
  EXPECT_EQ(loaded(propose({relative, odd}), out + "2").data.train[1], odd);
  EXPECT_EQ(error_with_kind([&] { propose({relative, put(dir / "data/\xff.de", "a\nb\n")}); }).substr(0, 6), "usage:");
  // Names can't break out of a comment.
  const NewRecipe n = propose_recipe("translate", {relative, de}, {.out = dir / "a\nb.toml"});
  EXPECT_EQ(loaded(n, dir / "a\nb.toml").task, Task::translate);
}

TEST_F(NewRecipeTest, FilesThatWillNotDo) {
  fs::create_directories(dir / "folder");
  const std::string three = put(dir / "three.en", "a\nb\nc\n"), two = put(dir / "two.de", "a\nb\n");
  const std::string nothing = put(dir / "nothing.en", ""), nothing2 = put(dir / "nothing.de", "");
  const std::string blank = put(dir / "blank.en", " \n\n"),
                    binary = put(dir / "binary.de", std::string("a\nb\0c\n", 6));
  const std::string latin = put(dir / "latin.de", "f\xfcr\nb\xe4r\n"), wide = put(dir / "wide.tsv", "a\tb\tc\n");
  const struct {
    std::vector<std::string> files;
    std::string says;
  } cases[] = {
      {{three, two},
       "data: corpora differ in length: " + three + " has 3 lines, " + two +
           " has 2\n  fix: look for a lost last line, or use the lines that both have by --truncate"},
      {{nothing, nothing2}, "data: " + nothing + " is empty\n  fix: "},
      {{nothing, two}, "data: corpora differ in length: " + nothing + " has 0 lines, " + two + " has 2\n"},
      {{blank, two}, "data: " + blank + " and " + two + ": every pair has an empty side\n  fix: "},
      {{two, binary}, "data: " + binary + ":2 has zero bytes: this is not a text file\n  fix: "},
      {{two, put(dir / "odd.de", "\x81\xff\n\xfe\x82\n")},
       "data: " + (dir / "odd.de") + " is not in UTF-8, and its letters make no language that is known here\n  fix: "},
      {{put(dir / "two.fr", "été\nça\n"), latin},
       "data: " + (dir / "two.fr") + " is in utf-8, and " + latin +
           " in windows-1252: one data.encoding serves all "
           "files\n  fix: iconv -f windows-1252 -t utf-8 " +
           latin + " > " + latin + ".utf-8"},
      {{two, put(dir / "wide.de", std::string("\xff\xfe"
                                              "a\0b\0\n\0",
                                              8))},
       "data: " + (dir / "wide.de") + " is in utf-16, and " + two + " is not: one data.encoding serves all files\n"},
      {{dir / "tow.de", three}, "io: cannot read " + (dir / "tow.de") + ": No such file or directory\n  fix: did you"},
      {{wide}, "data: " + wide + ":1: 3 columns, wanted 2: source, tab, target\n  fix: "},
      {{two, dir / "folder"}, "io: cannot read " + (dir / "folder") + ": Is a directory\n  fix: name a file in it"},
  };
  for (const auto& c : cases) {
    const std::string text = error_with_kind([&] { propose(c.files); });
    EXPECT_TRUE(text.starts_with(c.says)) << text << "\nwanted " << c.says;
  }
  const NewRecipe n = propose({three, two}, {.truncate = true});
  EXPECT_EQ(n.pairs, 2);
  EXPECT_TRUE(loaded(n, out).data.truncate);
}

TEST_F(NewRecipeTest, TasksAndMixedUpWords) {
  const struct {
    std::string task;
    std::vector<std::string> files;
    std::string says;
  } cases[] = {
      {"a.en", {"a.de"}, "'a.en' is a file, and the task comes first\n  fix: attune new translate a.en a.de"},
      {"a.en",
       {"a.de", "translate"},
       "'a.en' is a file, and the task comes first\n  fix: attune new translate a.en a.de"},
      {"tarnslate", {"a"}, "unknown task 'tarnslate'. Did you mean 'translate'?"},
      {"xyzzy", {"a"}, "unknown task 'xyzzy'. Known: translate, language, classify, tag, image, graph"},
      {"clasify", {"a"}, "unknown task 'clasify'. Did you mean 'classify'?"},
  };
  for (const auto& c : cases) EXPECT_EQ(error_with_kind([&] { propose_recipe(c.task, c.files); }), "usage: " + c.says);
}

TEST_F(NewRecipeTest, TextsWithLabels) {
  std::string first, last, pairs, csv = "review,label\n";
  for (int i = 0; i < 60; ++i) {
    const std::string label = i % 3 ? "good" : "bad", text = fmt::format("word{} word{}", i, i + 1);
    first += label + "\t" + text + "\n";
    last += text + "\t" + label + "\n";
    pairs += label + "\t" + text + "\t" + text + " too\n";
    csv += "\"" + text + "\"," + label + "\n";
  }
  const auto proposed = [&](const std::string& name, const std::string& text) {
    out = dir / (name + ".toml");
    const NewRecipe n = propose_recipe("classify", {put(dir / name, text), put(dir / ("valid-" + name), text)},
                                       {.out = out, .threads = 1, .measure = false});
    EXPECT_NE(n.notes[0].find("60 texts to train on, "), std::string::npos) << n.notes[0];
    EXPECT_NE(n.notes[0].find("2 labels: good, bad"), std::string::npos) << n.notes[0];
    EXPECT_EQ(n.valid_pairs, 60);
    return loaded(n, out);
  };
  const Recipe a = proposed("first.tsv", first), b = proposed("last.tsv", last), c = proposed("pairs.tsv", pairs),
               d = proposed("named.csv", csv);
  EXPECT_EQ(a.task, Task::classify);
  EXPECT_EQ(a.model.shape, ModelShape::encoder);
  EXPECT_TRUE(a.data.columns.texts.empty());
  EXPECT_EQ(a.data.valid, std::vector<std::string>{"valid-first.tsv"});
  EXPECT_EQ(b.data.columns.texts, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(c.model.pool.kind, "pair");
  EXPECT_EQ(d.data.format, DataFormat::csv);
  EXPECT_TRUE(d.data.header);
  EXPECT_EQ(d.data.columns.texts, (std::vector<std::string>{"review", "label"}));
  const std::string wide = put(dir / "wide.tsv", "a\tb\tc\td\n");
  EXPECT_NE(error_with_kind([&] {
              propose_recipe("classify", {wide});
            }).find("has 4 columns: which are the text and the label?"),
            std::string::npos);
}

TEST_F(NewRecipeTest, WordsWithLabels) {
  std::string two, ten;
  for (int i = 0; i < 40; ++i) {
    two += fmt::format("word{} X\nword{} Y\n\n", i, i + 1);
    ten += fmt::format("1\tword{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n", i);
  }
  out = dir / "tag.toml";
  const NewRecipe n =
      propose_recipe("tag", {put(dir / "train.conll", two)}, {.out = out, .threads = 1, .measure = false});
  EXPECT_NE(n.notes[0].find("40 texts to train on, 80 words; 2 labels: X, Y"), std::string::npos) << n.notes[0];
  const Recipe r = loaded(n, out);
  EXPECT_EQ(r.task, Task::tag);
  EXPECT_EQ(r.data.columns.texts, (std::vector<std::string>{"1", "2"}));
  out = dir / "tag-u.toml";
  const NewRecipe u =
      propose_recipe("tag", {put(dir / "train.conllu", ten)}, {.out = out, .threads = 1, .measure = false});
  EXPECT_TRUE(loaded(u, out).data.columns.texts.empty());
}

TEST_F(NewRecipeTest, RowsWithOddColumnsAreToldOfEveryFile) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += fmt::format("{}\ttext {}\n", i % 2 ? "yes" : "no", i);
  const std::string train = put(dir / "train.tsv", rows + "yes\tone\ttwo\n");
  const std::string valid = put(dir / "valid.tsv", "no\ta\nno\ta\tb\n");
  const NewRecipe n = propose_recipe("classify", {train, valid}, {.out = dir / "c.toml", .threads = 1});
  const std::string said = join(n.notes, "\n");
  const std::string odd = "1 row has another number of columns than the first of the file (";
  EXPECT_NE(said.find("\n" + odd + train + ":31)"), std::string::npos) << said;
  EXPECT_NE(said.find("\nvalidation data: " + odd + valid + ":2)"), std::string::npos) << said;
}

TEST_F(NewRecipeTest, NothingIsOverwritten) {
  const NewRecipe n = propose({put(dir / "a.en", "a\nb\n"), put(dir / "a.de", "a\nb\n")});
  put(out, "mine");
  EXPECT_EQ(error_with_kind([&] { save_recipe(n, out); }),
            "usage: " + out + " is there already\n  fix: choose another name by --out, or replace it by --force");
  EXPECT_EQ(slurp(out), "mine");
  save_recipe(n, out, true);
  EXPECT_EQ(slurp(out), n.text);
  error_with_kind([&] { save_recipe(n, dir / "a.de", true); });
  EXPECT_EQ(slurp(dir / "a.de"), "a\nb\n") << "data is never taken for a recipe";
  EXPECT_EQ(error_with_kind([&] { save_recipe(n, dir.path()); }).substr(0, 6), "usage:");
  EXPECT_EQ(error_with_kind([&] { save_recipe(n, dir / "none/r.toml"); }).substr(0, 26), "usage: there is no folder ");
}

}  // namespace
}  // namespace attune::test
