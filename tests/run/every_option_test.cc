// Every key of a recipe, at two legal values and more, with every task, shape and family: one update on tiny data is
// learned, or the recipe is refused in its own words. Never a crash, never "a bug in attune".
#include <gtest/gtest.h>

#include "attune/mechanisms.h"
#include "base/fields.h"
#include "checks.h"
#include "data/row_makers.h"
#include "recipe/settings.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

struct OptionCase {
  const char* name;
  const char *task, *data, *model;  // lines of a recipe
};
void PrintTo(const OptionCase& c, std::ostream* out) { *out << c.name; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kEvery = 7;  // each takes ten times as long
#else
constexpr int kEvery = 1;
#endif

const OptionCase kCases[] = {
    {"translate", "translate", R"(train = ["a.en", "a.de"])", ""},
    {"translate_rnn", "translate", R"(train = ["a.en", "a.de"])", "kind = \"rnn\""},
    {"translate_mixed", "translate", R"(train = ["a.en", "a.de"])", "encoder = \"rnn\""},
    {"prefix", "translate", R"(train = ["a.en", "a.de"])", "shape = \"prefix\""},
    {"language_lines", "language", R"(train = ["a.en"])", ""},
    {"language_stream", "language", "train = [\"a.en\"]\nstream = true\nmax_length = 16", ""},
    {"language_rnn", "language", R"(train = ["a.en"])", "kind = \"rnn\""},
    {"language_encoder", "language", R"(train = ["a.en"])", "shape = \"encoder\""},
    {"classify", "classify", R"(train = ["labels.tsv"])", ""},
    {"classify_decoder", "classify", R"(train = ["labels.tsv"])", "shape = \"decoder\""},
    {"classify_rnn", "classify", R"(train = ["labels.tsv"])", "kind = \"rnn\""},
    {"classify_bag", "classify", R"(train = ["labels.tsv"])", "kind = \"bag\""},
    {"classify_pairs", "classify", R"(train = ["pairs.tsv"])", "pool = \"pair\""},
    {"numbers", "classify", R"(train = ["numbers.tsv"])", "head = \"number\""},
    {"tag", "tag", "train = [\"tags.conll\"]\ncolumns = [1, 2]", ""},
    {"tag_decoder", "tag", "train = [\"tags.conll\"]\ncolumns = [1, 2]", "shape = \"decoder\""},
    {"tag_rnn", "tag", "train = [\"tags.conll\"]\ncolumns = [1, 2]", "kind = \"rnn\""},
    {"image", "image", R"(train = ["shapes-images.gz", "shapes-labels"])", ""},
    {"image_rnn", "image", R"(train = ["shapes-images.gz", "shapes-labels"])", "kind = \"rnn\""},
    {"graph", "graph", "", ""},
};

/// The names among which a key that takes a choice chooses.
std::vector<std::string> names_of(const std::string& key) {
  std::vector<std::string> names;
  const auto take = [&](const auto& all) {
    for (const auto& d : all) names.push_back(d.name);
  };
  if (key.ends_with("attention"))
    take(mechanisms());
  else if (key.ends_with("position"))
    take(positions());
  else if (key.ends_with("input"))
    take(inputs());
  else if (key == "model.mixer")
    take(mixers());
  else if (key == "model.head")
    take(heads());
  else if (key == "model.pool")
    take(pools());
  else if (key == "train.optimizer")
    take(optimizers());
  else
    take(models());  // model.kind, encoder, decoder
  return names;
}

/// Legal values of a key, as --set takes them.
std::vector<std::string> values_of_key(const Field& f, const TempFolder& folder, int turn) {
  const std::string& key = f.name;
  const auto in = [&](const char* name) { return "\"" + folder / name + "\""; };
  const auto list = [](const std::string& a) { return "[" + a + "]"; };
  if (key == "data.train" || key == "data.valid" || key == "data.test")
    return {list(in("a.en")), list(in("a.en") + ", " + in("a.de")), list(in("labels.tsv"))};
  if (key == "data.ratio") return {"[1]", "[2, 1]"};
  if (key == "data.weights") return {list(in("weights")), "[]"};
  if (key == "data.columns") return {"[2, 1]", "[\"text\", \"label\"]", "[1, 2, 3]"};
  if (key == "data.languages") return {"[\"en\", \"de\"]", "[\"en\"]"};
  if (key == "data.alignment") return {list(in("a.align")), "[]"};
  if (key == "train.start") return {in("start"), in("nothing")};
  if (key == "train.vectors") return {in("vectors.txt"), in("a.en")};
  if (key == "train.start_parts" || key == "train.freeze") return {"[\"encoder\"]", "[\"embedding\", \"decoder.0\"]"};
  if (key == "train.batch_tokens") return {"32", "\"auto\""};
  if (key == "train.memory") return {"\"1G\"", "\"1K\""};
  if (key == "train.stop") return {"\"1e\"", "\"2u\"", "\"30t\""};
  if (key == "train.save" || key == "train.validate") return {"\"1u\"", "\"1e\"", "\"0u\"", "\"1m\""};
  if (key == "model.activation" && f.rule.choices.empty()) return {"\"gelu\"", "\"swiglu\""};
  std::vector<std::string> all;
  const std::string usual = text_of(f.get());
  const auto legal = [&](const std::string& literal) {
    const bool text = !f.rule.choices.empty() || f.takes_choice();
    try {
      f.set_text(literal);
      if (text_of(f.get()) != usual) all.push_back(text ? "\"" + literal + "\"" : literal);
      f.set_text(usual);
    } catch (const Error&) {}  // not in its range
  };
  if (!f.rule.choices.empty()) {
    for (const std::string& c : f.rule.choices) legal(c);
  } else if (f.takes_choice()) {
    // All where all layers are meant; elsewhere some, others in each test.
    const std::vector<std::string> names = names_of(key);
    const bool whole = key == "model.attention" || key == "model.position" || names.size() < 4;
    for (size_t i = 0; i < (whole ? names.size() : 3); ++i)
      all.push_back("\"" + names[(i + 3 * static_cast<size_t>(turn)) % names.size()] + "\"");
  } else if (std::holds_alternative<bool>(f.get())) {
    for (const char* b : {"true", "false"}) legal(b);
  } else if (std::holds_alternative<int64_t>(f.get())) {
    for (const char* n : {"3", "2", "16", "1"}) legal(n);
    all.resize(std::min<size_t>(all.size(), 3));
  } else {
    for (const char* x : {"0.5", "0.1", "0", "2", "1e-3"}) legal(x);
    all.resize(std::min<size_t>(all.size(), 3));
  }
  return all;
}

class EveryOption : public testing::TestWithParam<OptionCase> {
 protected:
  EveryOption() {
    const OptionCase& c = GetParam();
    put(folder / "a.en", rhymes(40, 1));
    put(folder / "a.de", rhymes(40, 2));
    std::string labels, pairs, numbers, tags, weights, align, vectors;
    for (int i = 0; i < 40; ++i) {
      const std::string text = i % 3 ? "one two buckle" : "my shoe", label = i % 3 ? "yes" : "no";
      labels += label + "\t" + text + "\n";
      pairs += label + "\t" + text + "\tknock two\n";
      numbers += std::to_string(i % 5) + "\t" + text + "\n";
      tags += i % 3 ? "one\tB-x\ntwo\tI-x\nbuckle\tO\n\n" : "my\tO\nshoe\tB-y\n\n";
      weights += i % 2 ? "1\n" : "0.5\n";
      align += "0-0\n";
    }
    for (const char* word : {"one", "two", "shoe"}) vectors += std::string(word) + " 1 2 3 4 5 6 7 8\n";
    put(folder / "labels.tsv", labels);
    put(folder / "pairs.tsv", pairs);
    put(folder / "numbers.tsv", numbers);
    put(folder / "tags.conll", tags);
    put(folder / "weights", weights);
    put(folder / "a.align", align);
    put(folder / "vectors.txt", vectors);
    Shapes(20, 1).put_in(folder.path(), "shapes");
    std::string data = c.data;
    if (data.empty()) {
      const std::vector<std::string> files = put_clubs(folder.path(), 10, 1);
      data = "train = [\"" + files[0] + "\", \"" + files[1] + "\"]";
    }
    const bool rows = reads_rows(task_of(c.task));
    put(folder / "r.toml", "task = \"" + std::string(c.task) + "\"\n[data]\n" + data + "\n" +
                               (rows ? "" : "[tokenizer]\nkind = \"word\"\n") + "[model]\n" + c.model + size() +
                               "\n[train]\n" + (std::string(c.task) == "graph" ? "" : "batch_tokens = 256\n") +
                               "shards = 2\nstop = \"1u\"\nvalidate = \"1u\"\naverage = 1\nbaseline = false\n");
  }
  /// As small as can be, by the keys that the family has a use for.
  static std::string size() {
    const std::string model = GetParam().model;
    if (model.starts_with("kind = \"bag")) return "";
    return model.starts_with("kind = \"rnn")
               ? "\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 8"
               : "\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 8\nd_ff = 8\nheads = 2";
  }
  static Task task_of(const std::string& name) {
    Recipe r;
    set_field(r, "task", std::string_view(name));
    return r.task;
  }
  /// "": it was trained; else why it is refused. Anything else than an Error ends the test.
  std::string train(const Sets& sets) const {
    try {
      Trainer({.recipe = folder / "r.toml", .out = folder / "m", .sets = sets, .fresh = true, .threads = 1}).run();
    } catch (const Error& e) {
      const bool expected = e.kind() == ErrorKind::recipe || e.kind() == ErrorKind::data || e.kind() == ErrorKind::io ||
                            e.kind() == ErrorKind::model || e.kind() == ErrorKind::memory;
      EXPECT_TRUE(expected) << e.what();
      return e.what();
    }
    return "";
  }
  TempFolder folder{memory_folder()};
};

TEST_P(EveryOption, IsLearnedWithOrRefusedInWords) {
  ASSERT_EQ(train({}), "");
  std::filesystem::copy(folder / "m", folder / "start", std::filesystem::copy_options::recursive);
  Recipe recipe = load_recipe(folder / "r.toml");
  const auto same = [](const OptionCase& c) { return c.name == GetParam().name; };
  const int turn = static_cast<int>(std::find_if(std::begin(kCases), std::end(kCases), same) - std::begin(kCases));
  int64_t trained = 0, refused = 0, number = 0;
  for (const Field& f : fields_of(recipe))
    for (const std::string& value : values_of_key(f, folder, turn)) {
      if (++number % kEvery != 0) continue;
      const std::string set = f.name + "=" + value;
      SCOPED_TRACE(set);
      const std::string error = train({set});
      (error.empty() ? trained : refused) += 1;
      if (error.empty()) continue;
      // It names the key, or what stands in the files that it names.
      EXPECT_TRUE(error.starts_with("--set: ") || error.find(folder.path()) != std::string::npos) << error;
      EXPECT_TRUE(error.find("\n  fix: ") != std::string::npos || error.find("There are: ") != std::string::npos)
          << error;
      EXPECT_EQ(error.find("internal"), std::string::npos) << error;
    }
  EXPECT_GT(trained, 50 / kEvery);
  EXPECT_GT(refused, 10 / kEvery);
}

INSTANTIATE_TEST_SUITE_P(All, EveryOption, testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace attune::test
