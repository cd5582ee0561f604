// Recipes with a mistake, as people make them: the program says the file, the line, the key and a remedy, ends with the
// code for recipes, and writes nothing.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "checks.h"
#include "run_program.h"

namespace attune::test {
namespace {

constexpr const char* kBadRecipesRecipe = R"(task = "translate"
[data]
train = ["train.en", "train.de"]
[tokenizer]
size = 60
[model]
encoder_layers = 1
decoder_layers = 1
d_model = 16
d_ff = 32
heads = 2
[train]
batch_tokens = 256
stop = "3u"
)";

/// What is done to the right recipe.
enum class Edit { all, instead, below };

struct Mistake {
  Edit edit;
  const char *where, *text;
  const char *says, *remedy;

  std::string recipe() const {
    if (edit == Edit::all) return text;
    std::string r = kBadRecipesRecipe;
    const size_t at = r.find(where), length = std::string(where).size();
    EXPECT_NE(at, std::string::npos) << where;
    return edit == Edit::instead ? r.replace(at, length, text) : r.insert(at + length, std::string("\n") + text);
  }
};

constexpr Mistake kMistakes[] = {
    {Edit::all, "", "", "r.toml: data.train names no files to learn from", "data.train = [\"train.en\", \"train.de\"]"},
    {Edit::all, "", "task = translate", "r.toml:1: this value is neither a number nor true or false",
     "put text in quotes: \"...\""},
    {Edit::all, "", "task = \"translate", "r.toml:1: cannot read this string: it ends too early",
     "close the text with a quote"},
    {Edit::all, "", "[data\ntrain = [\"a\",\"b\"]", "r.toml:1: cannot read this section: expected ']', the line ends",
     "close the section's name with ]"},
    {Edit::all, "", "= 3", "r.toml:1: cannot read this line, saw '='",
     "a line is key = value, [section] or # a comment"},
    {Edit::all, "", "[=]", "r.toml:1: cannot read this line: a name must begin with a letter or a digit",
     "a line is key = value, [section] or # a comment"},
    {Edit::all, "", "task = \"translate\"\ntask = \"language\"", "r.toml:2: 'task' is there twice",
     "remove one of them"},
    {Edit::all, "", "[data]\n[data]", "r.toml:2: 'data' is there twice", "remove one of them"},
    {Edit::all, "", "train = [1, 2", "r.toml:1: cannot read this array: it ends too early",
     "close the list with ], and put commas between its entries"},
    {Edit::all, "", "just some words", "r.toml:1: cannot read this line: expected '=', saw 's'",
     "a line is key = value, [section] or # a comment"},
    {Edit::all, "", "task = 3", "r.toml:1: task is 3, not a text", "for example task = \"translate\""},
    {Edit::all, "", "task = \"translation\"", "r.toml:1: task = 'translation'",
     "is not known: translate | language | classify | tag | image | graph. Did you mean 'translate'?"},
    {Edit::all, "", "task = \"classify\"\n[data]\ntrain=[\"train.en\"]\n[train]\nmetric = \"bleu\"",
     "r.toml:5: train.metric = \"bleu\" does not judge what model.head = \"label\" says",
     "set it to one of accuracy, f1, loss, perplexity"},
    {Edit::all, "", "data = 3", "r.toml:1: data is a section, not a key", "write its keys below [data]"},
    {Edit::all, "", "task = 1979-05-27", "r.toml:1: task is a date, not a text", "for example task = \"translate\""},
    {Edit::instead, "d_model", "d_modle", "r.toml:9: unknown key 'model.d_modle'.", "Did you mean 'model.d_model'?"},
    {Edit::instead, "[model]", "[modle]", "r.toml:7: unknown key 'modle.encoder_layers'.",
     "Did you mean 'model.encoder_layers'?"},
    {Edit::instead, "stop = \"3u\"", "stopp = \"3u\"", "r.toml:14: unknown key 'train.stopp'.",
     "Did you mean 'train.stop'?"},
    {Edit::below, "[train]", "lr = 0.1", "r.toml:13: unknown key 'train.lr'.", "Known: train.batch_tokens, t"},
    {Edit::below, "[train]", "optimiser = \"adam\"", "r.toml:13: unknown key 'train.optimiser'.",
     "Did you mean 'train.optimizer'?"},
    {Edit::below, "[model]", "depth = 3", "r.toml:7: unknown key 'model.depth'.",
     "Known: model.kind, model.encoder, mo"},
    {Edit::below, "[data]", "corpus_folder = \"x\"", "r.toml:3: unknown key 'data.corpus_folder'.",
     "Known: data.train, data.vali"},
    {Edit::instead, "d_model = 16", "d_model = \"16\"", "r.toml:9: model.d_model is \"16\", not a whole number",
     "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = 16.5", "r.toml:9: model.d_model is 16.5, not a whole number",
     "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = -16", "r.toml:9: model.d_model = -16 is out of range: 1 to 65536",
     "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = 0", "r.toml:9: model.d_model = 0 is out of range: 1 to 65536",
     "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = 99999999999",
     "r.toml:9: model.d_model = 99999999999 is out of range: 1 to 65536", "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = [16]", "r.toml:9: model.d_model is [16], not a whole number",
     "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = true", "r.toml:9: model.d_model is true, not a whole number",
     "for example d_model = 128"},
    {Edit::instead, "d_model = 16", "d_model = { kind = \"x\" }",
     "r.toml:9: model.d_model is a table, not a whole number", "for example d_model = 128"},
    {Edit::instead, "heads = 2", "heads = 3", "r.toml:9: model.d_model = 16 is not a multiple of model.heads = 3",
     "heads of 32 or 64 numbers are usual"},
    {Edit::instead, "encoder_layers = 1", "encoder_layers = 0",
     "r.toml:7: model.encoder_layers = 0, but the shape has an encoder", "set model.encoder_layers = 4"},
    {Edit::instead, "decoder_layers = 1", "decoder_layers = 0",
     "r.toml:8: model.decoder_layers = 0, but the shape has a decoder", "set model.decoder_layers = 4"},
    {Edit::below, "[model]", "heads_kv = 3", "r.toml:12: model.heads = 2 is not a multiple of model.heads_kv = 3",
     "leave heads_kv out, or give it a divisor of the heads"},
    {Edit::below, "[model]", "cross_heads = 7",
     "r.toml:10: model.d_model = 16 is not a multiple of model.cross_heads = 7", "heads of 32 or 64 numbers are usual"},
    {Edit::below, "[model]", "dropout = 1.0", "r.toml:7: model.dropout = 1 is out of range: 0 to below 1",
     "for example dropout = 0.3"},
    {Edit::below, "[model]", "dropout = -0.1", "r.toml:7: model.dropout = -0.1 is out of range: 0 to below 1",
     "for example dropout = 0.3"},
    {Edit::below, "[model]", "dropout = \"0.1\"", "r.toml:7: model.dropout is \"0.1\", not a number",
     "for example dropout = 0.3"},
    {Edit::below, "[model]", "dropout = nan", "r.toml:7: model.dropout = nan is out of range: 0 to below 1",
     "for example dropout = 0.3"},
    {Edit::below, "[model]", "attention = \"sofmax\"", "r.toml:7: model.attention = \"sofmax\" is not known.",
     "Did you mean \"softmax\"?"},
    {Edit::below, "[model]", "attention = { width = 3 }", "r.toml:7: model.attention is a table without a kind",
     "write it as { kind = \"...\", option = value }"},
    {Edit::below, "[model]", "attention = { kind = \"band\", widht = 3 }",
     "r.toml:7: model.attention = { kind = \"band\", widht = 3 }: unknown key 'widht'.", "Did you mean 'width'?"},
    {Edit::below, "[model]", "attention = { kind = \"band\", width = 0 }",
     "r.toml:7: model.attention = { kind = \"band\", width = 0 }: width = 0 is out of range: 1 to 1048576",
     "for example width = 64"},
    {Edit::below, "[model]", "attention = [\"softmax\", 3]",
     "r.toml:7: model.attention is a mixed list, not a name, { kind = ... } or list of these",
     "for example attention = \"softmax\""},
    {Edit::below, "[model]", "attention = { kind = \"softmax\", score = \"aditive\" }",
     "r.toml:7: model.attention = { kind = \"softmax\", score = \"aditive\" }: score = \"aditive\" is not known.",
     "Did you mean \"additive\"?"},
    {Edit::below, "[model]", "decoder_attention = \"fnet\"",
     "r.toml:7: model.decoder_attention = \"fnet\" is not known.", "There are: softmax, band, sparse, "},
    {Edit::below, "[model]", "cross_attention = \"band\"",
     "r.toml:7: model.cross_attention = \"band\" works within one sequence, not from decoder to encoder",
     "another mechanism for model.cross_attention: see `attune info mechanisms`"},
    {Edit::below, "[model]", "position = \"sinus\"", "r.toml:7: model.position = \"sinus\" is not known.",
     "Did you mean \"sinusoidal\"?"},
    {Edit::below, "[model]", "activation = \"rleu\"", "r.toml:7: model.activation = 'rleu'",
     "is not known: relu | gelu | swish | swiglu | geglu. Did you mean 'relu'?"},
    {Edit::below, "[model]", "norm = \"middle\"", "r.toml:7: model.norm = 'middle'", "is not known: post | pre"},
    {Edit::below, "[model]", "tie = \"some\"", "r.toml:7: model.tie = 'some'", "is not known: all | output | none"},
    {Edit::below, "[model]", "shape = \"encoder\"", "r.toml:7: this model.shape has no source to translate",
     "set model.shape = \"encoder-decoder\", or \"prefix\" for one decoder"},
    {Edit::below, "[model]", "shape = \"decoder\"", "r.toml:7: this model.shape has no source to translate",
     "set model.shape = \"encoder-decoder\", or \"prefix\" for one decoder"},
    {Edit::below, "[tokenizer]", "kind = \"bpee\"", "r.toml:5: tokenizer.kind = 'bpee'",
     "is not known: bpe | unigram | wordpiece | byte | char | word. Did you mean 'bpe'?"},
    {Edit::below, "[tokenizer]", "joint = false", "r.toml:5: model.tie = \"all\" needs one vocabulary for both sides",
     "set tokenizer.joint = true, or model.tie = \"output\""},
    {Edit::below, "[tokenizer]", "kind = \"wordpiece\"\nbyte_fallback = true",
     "r.toml:6: tokenizer.byte_fallback = true, but tokenizer.kind = \"wordpiece\" has none",
     "leave byte_fallback out, or set kind to \"bpe\", \"unigram\" or \"char\""},
    {Edit::below, "[tokenizer]", "character_coverage = 2",
     "r.toml:5: tokenizer.character_coverage = 2 is out of range: above 0 to 1",
     "for example character_coverage = 1.0"},
    {Edit::instead, "size = 60", "size = 3", "r.toml:5: tokenizer.size = 3 is out of range: 5 to 16000000",
     "for example size = 8000"},
    {Edit::instead, "size = 60", "size = \"many\"", "r.toml:5: tokenizer.size is \"many\", not a whole number",
     "for example size = 8000"},
    {Edit::instead, "train = [\"train.en\", \"train.de\"]", "train = []",
     "r.toml:3: data.train names no files to learn from", "data.train = [\"train.en\", \"train.de\"]"},
    {Edit::instead, "train = [\"train.en\", \"train.de\"]", "train = [\"train.en\"]",
     "r.toml:3: data.train has 1 files, translate needs a source and a target for each",
     "name source, target, source, target ...; or set data.format = \"tsv\" for files of two columns"},
    {Edit::instead, "train = [\"train.en\", \"train.de\"]", "train = \"train.en\"",
     "r.toml:3: data.train is \"train.en\", not a list of texts", "for example train = [\"...\", \"...\"]"},
    {Edit::instead, "train = [\"train.en\", \"train.de\"]", "train = [\"train.en\", 3]",
     "r.toml:3: data.train is a mixed list, not a list of texts", "for example train = [\"...\", \"...\"]"},
    {Edit::instead, "train = [\"train.en\", \"train.de\"]", "", "r.toml: data.train names no files to learn from",
     "data.train = [\"train.en\", \"train.de\"]"},
    {Edit::below, "[data]", "valid = [\"train.en\"]",
     "r.toml:3: data.valid has 1 files, translate needs a source and a target for each",
     "name source, target, source, target ...; or set data.format = \"tsv\" for files of two columns"},
    {Edit::below, "[data]", "languages = [\"en\"]", "r.toml:3: data.languages has 1 names, translate has 2 sides",
     "data.languages = [\"en\", \"de\"]"},
    {Edit::below, "[data]", "format = \"json\"", "r.toml:3: data.format = 'json'",
     "is not known: lines | tsv | csv | conll"},
    {Edit::below, "[data]", "encoding = \"klingon\"", "r.toml:3: data.encoding = 'klingon'", "is not known: utf-8"},
    {Edit::below, "[data]", "max_length = 0", "r.toml:3: data.max_length = 0 is out of range: 1 to 1048576",
     "for example max_length = 256"},
    {Edit::below, "[data]", "overlong = \"drop\"", "r.toml:3: data.overlong = 'drop'",
     "is not known: error | skip | crop. Did you mean 'crop'?"},
    {Edit::below, "[data]", "stream = true",
     "r.toml:3: data.stream = true: only language models read on from line to line", "leave data.stream out"},
    {Edit::below, "[data]", "documents = true",
     "r.toml:3: data.documents = true: only texts that are read on and on have ends among their lines",
     "leave data.documents out, or set data.stream = true"},
    {Edit::below, "[data]", "truncate = 1", "r.toml:3: data.truncate is 1, not a bool (true or false)",
     "for example truncate = false"},
    {Edit::instead, "batch_tokens = 256", "batch_tokens = 0",
     "r.toml:13: train.batch_tokens is 0, not a whole number from 1 to 1073741824, or \"auto\"", "or \"auto\""},
    {Edit::instead, "batch_tokens = 256", "batch_tokens = \"auto\"",
     "r.toml:13: train.batch_tokens = \"auto\" needs to know how much memory to use", "set train.memory = \"4G\""},
    {Edit::instead, "batch_tokens = 256", "batch_tokens = \"256\"",
     "r.toml:13: train.batch_tokens is \"256\", not a whole number from 1 to 1073741824, or \"auto\"", "or \"auto\""},
    {Edit::instead, "batch_tokens = 256", "batch_tokens = 2",
     "r.toml:13: train.batch_tokens = 2 is less than the longest sentence needs: 5 tokens with its end mark",
     "raise train.batch_tokens, or lower data.max_length"},
    {Edit::instead, "stop = \"3u\"", "stop = \"3\"",
     "r.toml:14: train.stop is \"3\", not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\"", "a period like"},
    {Edit::instead, "stop = \"3u\"", "stop = \"3 apples\"",
     "r.toml:14: train.stop is \"3 apples\", not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\"", "a period like"},
    {Edit::instead, "stop = \"3u\"", "stop = 3",
     "r.toml:14: train.stop is 3, not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\"", "a period like"},
    {Edit::instead, "stop = \"3u\"", "stop = \"0u\"",
     "r.toml:14: train.stop = \"0u\" and train.patience = 0: this would never end",
     "set train.stop = \"8000u\", or train.patience = 10"},
    {Edit::instead, "stop = \"3u\"", "stop = \"-3u\"",
     "r.toml:14: train.stop is \"-3u\", not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\"", "a period like"},
    {Edit::below, "[train]", "save = \"0u\"",
     "r.toml:13: train.save = \"0u\": a run without checkpoints could not go on after a stop",
     "set train.save = \"10m\""},
    {Edit::below, "[train]", "shards = 12", "r.toml:13: train.shards = 12 is not a power of two",
     "set 1, 2, 4, 8, 16 ..."},
    {Edit::below, "[train]", "slices = 3", "r.toml:13: train.slices = 3 is not a power of two",
     "set 1, 2, 4, 8, 16 ..."},
    {Edit::below, "[train]", "memory = \"lots\"",
     "r.toml:13: train.memory is \"lots\", not a size like \"512M\" or \"4G\"", "like \"512M\""},
    {Edit::below, "[train]", "optimizer = \"adm\"", "r.toml:13: train.optimizer = \"adm\" is not known.",
     "Did you mean \"adam\"?"},
    {Edit::below, "[train]", "optimizer = { kind = \"sgd\", momentun = 1 }",
     "r.toml:13: train.optimizer = { kind = \"sgd\", momentun = 1 }: unknown key 'momentun'.",
     "Did you mean 'momentum'?"},
    {Edit::below, "[train]", "optimizer = { kind = \"sgd\", momentum = 2 }",
     "r.toml:13: train.optimizer = { kind = \"sgd\", momentum = 2 }: momentum = 2 is out of range: 0 to below 1",
     "for example momentum = 0.9"},
    {Edit::below, "[train]", "schedule = \"linaer\"", "r.toml:13: train.schedule = 'linaer'",
     "is not known: constant | inverse-sqrt | cosine | linear | exponential | plateau. Did you mean 'linear'?"},
    {Edit::below, "[train]", "schedule = \"plateau\"\nvalidate = \"0u\"",
     "r.toml:13: train.schedule = \"plateau\" goes by validations, and train.validate = \"0u\" has none",
     "set train.validate = \"1e\""},
    {Edit::below, "[train]", "learning_rate = 0", "r.toml:13: train.learning_rate = 0 is out of range: above 0",
     "for example learning_rate = 0.003"},
    {Edit::below, "[train]", "learning_rate = inf", "r.toml:13: train.learning_rate = inf is out of range: above 0",
     "for example learning_rate = 0.003"},
    {Edit::below, "[train]", "warmup = -1", "r.toml:13: train.warmup = -1 is out of range: 0 to 1000000000",
     "for example warmup = 400"},
    {Edit::below, "[train]", "label_smoothing = 1",
     "r.toml:13: train.label_smoothing = 1 is out of range: 0 to below 1", "for example label_smoothing = 0.1"},
    {Edit::below, "[train]", "clip = -1", "r.toml:13: train.clip = -1 is out of range: at least 0",
     "for example clip = 1.0"},
    {Edit::below, "[train]", "metric = \"blue\"", "r.toml:13: train.metric = 'blue'",
     "is not known: bleu | exact | chrf | chrf++ | ter | rouge | wer | cer | loss | perplexity | accuracy "
     "| f1 | span-f1 | set-f1 | pearson | mse. Did you mean 'bleu'?"},
    {Edit::below, "[train]", "metric = \"accuracy\"",
     "r.toml:13: train.metric = \"accuracy\" compares labels or numbers, and a translation is a text",
     "set train.metric to bleu, chrf, exact or another that compares texts"},
    {Edit::below, "[train]", "metric_options = { tokenise = \"none\" }",
     "r.toml:13: unknown key 'train.metric_options.tokenise'.", "Did you mean 'train.metric_options.tokenize'?"},
    {Edit::below, "[train]", "metric_options = \"none\"", "r.toml:13: train.metric_options is a section, not a key",
     "write its keys below [train.metric_options]"},
    {Edit::below, "[train]", "keep = 0", "r.toml:13: train.keep = 0 is out of range: 1 to 1000000",
     "for example keep = 10"},
    {Edit::below, "[train]", "keep = 3",
     "r.toml:13: train.average = 10 is more than the train.keep = 3 checkpoints that stay",
     "raise train.keep, or lower train.average"},
    {Edit::below, "[train]", "ema = 1", "r.toml:13: train.ema = 1 is out of range: 0 to below 1",
     "for example ema = 0.0"},
    {Edit::below, "[train]", "seed = -1", "r.toml:13: train.seed = -1 is out of range: 0 to 9007199254740992",
     "for example seed = 1"},
    {Edit::below, "[train]", "seed = 1.5", "r.toml:13: train.seed is 1.5, not a whole number", "for example seed = 1"},
    {Edit::below, "[train]", "beta1 = 1", "r.toml:13: train.beta1 = 1 is out of range: 0 to below 1",
     "for example beta1 = 0.9"},
    {Edit::below, "stop = \"3u\"", "guide = { weight = 1, layer = 1 }",
     "r.toml:15: train.guide.layer = 1, but the decoder has layers 0 to 0", "-1 is the last but one"},
    {Edit::below, "stop = \"3u\"", "guide = { weight = 1, kind = \"alignment\" }",
     "r.toml:15: train.guide.kind = \"alignment\", but nothing says which words go together",
     "name files of word alignments: data.alignment = [\"train.align\"]"},
    {Edit::below, "[train]", "piece_dropout = 1", "r.toml:13: train.piece_dropout = 1 is out of range: 0 to below 1",
     "for example piece_dropout = 0.0"},
    {Edit::all, "",
     "[data]\ntrain = [\"train.en\", \"train.de\"]\n[tokenizer]\nkind = \"char\"\n[train]\npiece_dropout = 0.1",
     "r.toml:6: train.piece_dropout = 0.1, but tokenizer.kind = \"char\" has no pieces that are made of others",
     "leave piece_dropout out, or set kind to \"bpe\", \"unigram\" or \"wordpiece\""},
    {Edit::below, "[train]", "epsilon = 0", "r.toml:13: train.epsilon = 0 is out of range: above 0",
     "for example epsilon = 1e-09"},
};

struct BadRecipes : testing::TestWithParam<int> {};
constexpr int kBadRecipesParts = 4;  // each is a test, so that they run side by side

TEST_P(BadRecipes, AreToldFileLineKeyAndRemedy) {
  static_assert(std::size(kMistakes) >= 60);
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "a small dog runs\n";
  write_file(folder / "train.en", text);
  write_file(folder / "train.de", text);
  for (size_t i = static_cast<size_t>(GetParam()); i < std::size(kMistakes); i += kBadRecipesParts) {
    const Mistake& m = kMistakes[i];
    write_file(folder / "r.toml", m.recipe());
    const Outcome o = run_attune({"train", folder / "r.toml", "--out", folder / "out", "--quiet"});
    SCOPED_TRACE(m.text);
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_EQ(o.err.find("attune train: " + (folder / m.says)), 0u) << o.err;
    EXPECT_NE(o.err.find(m.remedy), std::string::npos) << o.err;
    EXPECT_LE(std::count(o.err.begin(), o.err.end(), '\n'), 2) << o.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, BadRecipes, testing::Range(0, kBadRecipesParts));

}  // namespace
}  // namespace attune::test
