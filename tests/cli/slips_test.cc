// Slips of people who are new to the program: each is answered by one line that names the place, and a way out.
#include <gtest/gtest.h>

#include "cli/shell.h"
#include "data/files.h"

namespace attune::test {
namespace {

struct Slip {
  const char* words;  // behind `attune`
  int code;
  const char *says, *fix;  // parts of its first line, and of the way out, on the second or in the first itself
};

constexpr Slip kSlips[] = {
    // names of commands, files and folders
    {"trian t.toml", 2, "unknown command 'trian'", "Did you mean 'train'?"},
    {"train", 2, "RECIPE is required", "attune train --help"},
    {"train t.tml", 3, "cannot read t.tml: No such file", "did you mean t.toml?"},
    {"train a.en", 3, "a.en:1: cannot read this line", "attune new"},
    {"train t.toml c.toml", 2, "unknown argument 'c.toml'", "attune train --help"},
    {"train t.toml --out a.en", 2, "a.en is a file", "choose another name"},
    {"translate", 2, "MODEL is required", "attune translate --help"},
    {"translate t.toml a.en", 5, "t.toml is not a model folder", "attune train t.toml makes the model"},
    {"translate m/model.safetensors a.en", 5, "is not a model folder", "name its folder, m"},
    {"translate mm a.en", 5, "mm is not a model folder: there is nothing of that name", "did you mean"},
    {"translate m missing.txt", 6, "cannot read missing.txt: No such file", "fix: "},
    {"test mm", 5, "mm is not a model folder", "fix: "},
    {"info mechanisms bigbrid", 2, "there is no mechanism 'bigbrid'", "Did you mean 'bigbird'?"},
    {"info mechanisms --picture", 2, "a picture of which mechanism?", "attune info mechanisms bigbird --picture"},
    {"info mechanisms luna --picture --causal", 2, "luna has no pattern to draw in a decoder", "such as bigbird"},
    {"info bigbird --picture", 2, "'bigbird' is a mechanism", "attune info mechanisms 'bigbird' --picture"},
    {"look m w1 --at nowhere", 2, "--at nowhere is not known", "cross, encoder or decoder"},
    {"info scores dot", 2, "info scores takes no more words: 'dot'", "attune info scores"},
    {"info mechanism", 2, "nothing is known about 'mechanism'", "Did you mean 'mechanisms'?"},
    {"tokenizer encode mm", 6, "cannot read mm/vocabulary.txt", "fix: "},
    // keys and values of a recipe
    {"train t.toml --set model.d_modle=8", 3, "unknown key 'model.d_modle'", "Did you mean 'model.d_model'?"},
    {"train t.toml --set d_model=16", 3, "unknown key 'd_model'", "Did you mean 'model.d_model'?"},
    {"train t.toml --set model.heads=3", 3, "model.d_model = 8 is not a multiple of model.heads = 3", "heads of"},
    {"train t.toml --set train.stop=5", 3, "train.stop is 5, not a period", "8000u"},
    {"train t.toml --set train.stop=5x", 3, "train.stop is \"5x\", not a period", "8000u"},
    {"train t.toml --set train.learning_rate=0,001", 3, "is \"0,001\", not a number", "learning_rate = 0.003"},
    {"train t.toml --set train.learning_rate=-1", 3, "train.learning_rate = -1 is out of range",
     "learning_rate = 0.003"},
    {"train t.toml --set train.batch_tokens=9223372036854775807", 3, "train.batch_tokens is 9223372036854775807",
     "whole number from 1 to"},
    {"train t.toml --set 'model.position={ kind = \"t5\", buckets = 4, farthest = 1 }'", 3, "out of range: 2 to",
     "farthest = 128"},
    {"train t.toml --set 'model.position={ kind = \"t5\", buckets = 8, farthest = 2 }'", 3,
     "--set: model.position = { kind = \"t5\", buckets = 8, farthest = 2 }", "farthest = 3 or more"},
    {"train t.toml --set model.attention=sofmax", 3, "\"sofmax\" is not known", "Did you mean \"softmax\"?"},
    {"train t.toml --out m --set model.d_model=16", 3, "model.d_model was 8, is 16", "undo the change"},
    {"test m --set data.test=a.en", 3, "data.test is \"a.en\", not a list", "for example test = ["},
    {"test m", 3, "names no test set", "--set 'data.test="},
    {"test m a.de", 2, "it takes a model and no files: 'a.de'", "--set 'data.test=[\"a.de\"]'"},
    {"compare m --over model.d_ff=8,16", 3, "m is a folder, not a recipe", "name the recipe in it: m/recipe.toml"},
    // options of other programs
    {"train t.toml --epochs 3", 2, "unknown option '--epochs'", "--set train.stop=10e"},
    {"train t.toml --lr 0.1", 2, "unknown option '--lr'", "--set train.learning_rate="},
    {"train t.toml --batch-size 32", 2, "unknown option '--batch-size'", "--set train.batch_tokens="},
    {"train t.toml --gpu", 2, "unknown option '--gpu'", "--threads"},
    {"train t.toml --fressh", 2, "unknown option '--fressh'", "Did you mean '--fresh'?"},
    {"translate --model m a.en", 2, "unknown option '--model'", "first word behind the command"},
    {"translate m a.en -o b.de", 2, "unknown option '-o'", "> FILE"},
    {"translate m a.en --beam 0", 2, "--beam", "1 to 1000"},
    {"translate m a.en --temperature 0.5", 2, "--temperature requires --sample", "attune translate --help"},
    // a model for something else
    {"translate cm a.en", 5, "cm is a model for another task: it classifies texts", "attune classify"},
    {"classify m a.en", 5, "m is a model for another task: it translates", "attune translate"},
    {"tag m a.en", 5, "m is a model for another task: it translates", "attune translate"},
    {"generate m --prompt hello", 5, "m translates", "attune translate m"},
    // what is measured and looked at
    {"metric blue --ref a.de a.de", 2, "unknown metric 'blue'", "Did you mean 'bleu'?"},
    {"metric bleu a.de a.de", 2, "--ref is required", "attune metric --help"},
    {"metric bleu --ref missing a.de", 6, "cannot read missing", "check the name"},
    {"metric bleu --ref a.de t.toml", 4, "t.toml has 17 lines, a.de has 60", "a line must stand for a line"},
    {"look m 'a b' --layer 9", 2, "there is no layer 9", "layers 0 to 0"},
    {"look m 'a b' --head 9", 2, "there is no head 9", "heads 0 to 1"},
    {"score m a.en", 4, "a.en:1 has no tab", "attune score m SOURCE TARGET"},
    // models that are made of models
    {"quantize m", 2, "--out is required", "attune quantize --help"},
    {"quantize m --out m", 2, "m is the model itself", "choose another --out"},
    {"average m --out mean", 2, "m has only one checkpoint", "name several model folders"},
    {"compare t.toml", 2, "--over is required", "attune compare --help"},
    // new recipes
    {"new", 2, "TASK is required", "attune new --help"},
    {"new translate", 2, "no files to learn from", "attune new translate train.en train.de"},
    {"new translate a.en", 2, "a.en is one side", "attune new translate a.en OTHER"},
    {"new translate a.en a.dee", 6, "cannot read a.dee", "did you mean a.de?"},
    {"new translate a.en a.de --out m", 2, "m is a folder", "--out m/translate.toml"},
    {"new translate a.en a.de --time 10", 2, "--time 10: how long is that?", "90s, 10m or 2h"},
    {"new classify a.en", 4, "a.en has one column", "fix: "},
    {"new classify w.conll", 4, "w.conll has a word a line", "fix: attune new tag w.conll"},
    {"new tag c.tsv", 4, "c.tsv has texts in column 2", "fix: attune new classify c.tsv"},
    {"new classify c.tsv --valid c3.tsv", 4, "c3.tsv has 3 columns, and c.tsv has 2", "fix: leave it out"},
    {"tokenizer train a.en --size 40 --kind word --out m/tokenizer", 2, "m/tokenizer holds a vocabulary", "--force"},
    {"look m \"w1 w2\" --png t.toml", 6, "t.toml is there, and is something else", "another name"},
    {"new classify j.jsonl", 4, "j.jsonl looks like JSON", "write a label, a tab and the text a line"},
    {"new classify r.csv", 4, "r.csv has lines that end in a carriage return alone", "tr '\\r' '\\n' < r.csv"},
    {"new translate a.en a.de --valid b.de b.en", 2, "b.de and b.en stand together, but a.en and a.de have en first",
     "fix: b.en b.de"},
    {"new image a.en a.de", 4, "a.en: no IDX file", "fix: "},
    {"new chat a.en", 2, "unknown task 'chat'", "Known: translate, language"},
    {"new a.en a.de", 2, "'a.en' is a file, and the task comes first", "attune new translate a.en a.de"},
    {"tokenizer train --kind bpee --size 100 --out p a.en", 2, "kind = 'bpee' is not known", "Did you mean 'bpe'?"},
    {"tokenizer train --kind bpe --size 10 --out p a.en", 4, "size 10 is too small", "set size to 15 or more"},
};

/// Sixty lines "a b c3", their translations, texts with labels, and a model of each.
void make_models(const TempFolder& dir) {
  std::string en, de, labelled;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i % 7);
    en += "a b c" + n + "\n";
    de += "x y z" + n + "\n";
    labelled += "l" + std::to_string(i % 3) + "\ta b c" + n + "\n";
  }
  put(dir / "a.en", en);
  put(dir / "a.de", de);
  put(dir / "c.tsv", labelled);
  put(dir / "b.en", en);
  put(dir / "b.de", de);
  put(dir / "j.jsonl", "{\"text\": \"a b\", \"label\": \"l1\"}\n{\"text\": \"b\", \"label\": \"l2\"}\n");
  put(dir / "r.csv", "text\ra\rb\rc\r");
  std::string words, wide;
  for (int i = 0; i < 40; ++i) words += "w" + std::to_string(i) + "\tO\nx\tB-X\n\n";
  for (int i = 0; i < 40; ++i) wide += "l" + std::to_string(i % 2) + "\ta b c\tmore of it\n";
  put(dir / "w.conll", words);
  put(dir / "c3.tsv", wide);
  const std::string rest =
      "[tokenizer]\nkind = \"word\"\nsize = 100\n[model]\nd_model = 8\nd_ff = 8\nheads = 2\nencoder_layers = 1\n"
      "decoder_layers = 1\n[train]\nstop = \"2u\"\nbatch_tokens = 600\nvalidate = \"2u\"\naverage = 1\n";
  put(dir / "t.toml", "task = \"translate\"\n[data]\ntrain = [\"a.en\", \"a.de\"]\n" + rest);
  put(dir / "c.toml", "task = \"classify\"\n[data]\ntrain = [\"c.tsv\"]\nformat = \"tsv\"\n" +
                          rest.substr(0, rest.find("decoder")) + rest.substr(rest.find("[train]")));
  const Outcome o = shell("", "cd " + dir.path() + " && $A train t.toml --out m && $A train c.toml --out cm");
  ASSERT_EQ(o.code, 0) << o.err;
}

TEST(Slips, AreAnsweredWithAWayOut) {
  const TempFolder dir;
  make_models(dir);
  static_assert(std::size(kSlips) >= 50);
  for (const Slip& s : kSlips) {
    const Outcome o = shell("", "cd " + dir.path() + " && $A " + s.words + " </dev/null");
    EXPECT_EQ(o.code, s.code) << "attune " << s.words << "\n" << o.err;
    const std::vector<std::string> lines = lines_of(o.err);
    ASSERT_FALSE(lines.empty()) << "attune " << s.words;
    const std::string last = lines.size() > 1 && lines.back().starts_with("  fix: ")
                                 ? lines[lines.size() - 2] + "\n" + lines.back()
                                 : lines.back();
    EXPECT_NE(last.find(s.says), std::string::npos) << "attune " << s.words << "\n" << o.err;
    EXPECT_NE(last.find(s.fix), std::string::npos) << "attune " << s.words << "\n" << o.err;
    EXPECT_TRUE(last.starts_with("attune")) << "attune " << s.words << "\n" << o.err;
  }
}

TEST(Slips, HelpIsFoundBothWays) {
  const Outcome a = run_attune({"help", "train"}), b = run_attune({"train", "--help"}), c = run_attune({"help"});
  EXPECT_EQ(a.code, 0);
  EXPECT_EQ(a.out, b.out);
  EXPECT_NE(c.out.find("First steps:"), std::string::npos);
}

}  // namespace
}  // namespace attune::test
