// What a recipe can say: one struct per section, each key with its default, its range and a sentence. Everything that
// prints, reads or checks recipes goes by these descriptions; a new key needs a line here and nothing elsewhere.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "recipe/places.h"
#include "recipe/units.h"
#include "text/tokenizer_options.h"

namespace attune {

enum class Task { translate, language, classify, tag, image, graph };
/// Whether a task says something about what it reads; the others write texts.
constexpr bool gives_answers(Task task) { return task != Task::translate && task != Task::language; }
/// Whether what it reads is no text, but rows of numbers (data/row_files.h): there is no tokenizer.
constexpr bool reads_rows(Task task) { return task == Task::image || task == Task::graph; }
enum class DataFormat { lines, tsv, csv, conll, idx, graph };
/// Rows of numbers, not text.
constexpr bool holds_rows(DataFormat format) { return format == DataFormat::idx || format == DataFormat::graph; }
enum class Overlong { error, skip, crop };
enum class ModelShape { encoder_decoder, encoder, decoder, bag, prefix };
constexpr bool has_encoder(ModelShape s) { return s == ModelShape::encoder_decoder || s == ModelShape::encoder; }
constexpr bool has_decoder(ModelShape s) {
  return s == ModelShape::encoder_decoder || s == ModelShape::decoder || s == ModelShape::prefix;
}
/// Whether what is said follows from another text, which is read first.
constexpr bool reads_source(ModelShape s) { return s == ModelShape::encoder_decoder || s == ModelShape::prefix; }
enum class Decoding { steps };
enum class NormPlace { post, pre };
enum class Tie { all, output, none };
enum class Schedule { constant, inverse_sqrt, cosine, linear, exponential, plateau };
enum class AverageOf { last, best };
enum class GuideKind { diagonal, alignment };
enum class LabelWeights { equal, root, balanced };

struct DataSettings {
  GroupedTexts train;
  std::vector<std::string> valid, test;
  std::vector<double> ratio;
  TextList weights;
  DataFormat format = DataFormat::lines;
  TextList columns;
  bool header = false;
  std::string delimiter = "auto";
  int64_t answers = 1;
  std::string encoding = "utf-8";
  bool lowercase = false;
  std::vector<std::string> languages;
  int64_t max_length = 256;
  double expansion = 2;
  Overlong overlong = Overlong::skip;
  bool truncate = false, stream = false, documents = false;
  std::vector<std::string> alignment;
  bool empty_answers = false;  // not a key: any number of labels may be none

  template <class V>
  void fields(V& v) {
    v("train", train,
      "training files, relative to the recipe, .gz as they are; translate: source, target; language: texts; image: "
      "pictures, labels; graph: nodes, edges");
    v("valid", valid,
      "validation files; none: 2 % of the lines, at most 1,000, are held out; graph: the nodes whose split is valid");
    v("test", test, "test files");
    v("ratio", ratio, "how often each corpus of train is drawn from: [3, 1]; none: each line once an epoch",
      {.least = 0, .most = 1e9, .least_open = true});
    v("weights", weights,
      "files of numbers, one for each file or pair of files of train: what the loss of each line is multiplied by");
    v("format", format, "how a file holds its examples", one_of({"lines", "tsv", "csv", "conll", "idx", "graph"}));
    v("columns", columns, "which columns of tsv, csv and conll files to read: names or numbers from 1");
    v("header", header, "the first line of a tsv or csv file names its columns");
    v("delimiter", delimiter, "what separates the columns of tsv and csv files; auto: a tab, or a comma",
      one_of({"auto", ",", ";", "\t", "|"}));
    v("answers", answers, "classify: so many columns are answers, the last that are named or the first of the file",
      between(1, 64));
    v("encoding", encoding, "how letters are written",
      one_of({"utf-8", "iso-8859-1", "latin-1", "windows-1252", "windows-1250", "iso-8859-2", "windows-1251", "koi8-r",
              "windows-1253", "windows-1254", "utf-16"}));
    v("lowercase", lowercase, "turn all letters into small ones");
    v("languages", languages, "names of the sides; none: from the file endings");
    v("max_length", max_length, "the most tokens a side may have, end mark not counted", between(1, 1 << 20));
    v("expansion", expansion, "translate: tokens that may be said for each one of the source; and 10 more",
      between(0, 1 << 20));
    v("overlong", overlong, "what to do with longer ones; counted and reported", one_of({"error", "skip", "crop"}));
    v("truncate", truncate, "when files differ in length, use the lines that all have");
    v("stream", stream,
      "language: a file is one text, read on and on in windows of max_length; false: a line by itself");
    v("documents", documents, "stream: a text ends at a blank line, too, and none sees another");
    v("alignment", alignment, "for train.guide: which words of the training files go together, a file for each pair");
  }
};

struct ModelOptions {
  Choice kind{"transformer"}, encoder, decoder;
  ModelShape shape = ModelShape::encoder_decoder;
  Choice input{"embed"}, source_input, target_input;
  std::vector<Choice> mixer{{"attention"}};
  Decoding decoding = Decoding::steps;
  int64_t encoder_layers = 4, decoder_layers = 4;
  int64_t d_model = 128, d_ff = 256;
  int64_t heads = 4, heads_kv = 0;
  int64_t encoder_heads = 0, decoder_heads = 0, cross_heads = 0;
  double dropout = 0.3, attention_dropout = 0, activation_dropout = 0, word_dropout = 0, layer_dropout = 0;
  NormPlace norm = NormPlace::pre;
  bool residual = true, feed_forward = true;
  std::string activation = "relu";
  Choice position{"rope"}, encoder_position, decoder_position;
  std::vector<Choice> attention{{"softmax"}}, encoder_attention, decoder_attention, cross_attention;
  Tie tie = Tie::all;
  Choice head, pool{"mean"};
  int64_t ngrams = 2;

  template <class V>
  void fields(V& v) {
    v("kind", kind, "the family of the model; a name or { kind = ..., options }; see `attune info models`");
    v("encoder", encoder, "the same for the side that reads; \"\": kind");
    v("decoder", decoder, "the same for the side that writes; \"\": kind");
    v("shape", shape,
      "which halves there are; language: decoder; classify, tag, image, graph: encoder; bag: as kind = \"bag\"; "
      "prefix: one decoder "
      "that reads the source, all of it at once, and goes on with the target",
      one_of({"encoder-decoder", "encoder", "decoder", "bag", "prefix"}));
    v("input", input, "what becomes of words or vectors first; a name or { kind = ..., options }");
    v("source_input", source_input, "the same for the side that reads; \"\": input");
    v("target_input", target_input, "the same for the side that writes; \"\": input");
    v("mixer", mixer, "what stands in the first part of a block; a name, { kind = ..., options }, or a list, in turn");
    v("decoding", decoding, "how texts are written: one word after another", one_of({"steps"}));
    v("encoder_layers", encoder_layers, "layers of the encoder", between(0, 1000));
    v("decoder_layers", decoder_layers, "layers of the decoder", between(0, 1000));
    v("d_model", d_model, "numbers per position; a multiple of the heads", between(1, 65536));
    v("d_ff", d_ff, "inner numbers of the feed-forward layers", between(1, 1 << 20));
    v("heads", heads, "attention heads", between(1, 1024));
    v("heads_kv", heads_kv, "heads of keys and values, which heads share; 0: as many as heads", between(0, 1024));
    v("encoder_heads", encoder_heads, "heads in the encoder; 0: heads", between(0, 1024));
    v("decoder_heads", decoder_heads, "heads in the decoder; 0: heads", between(0, 1024));
    v("cross_heads", cross_heads, "heads from decoder to encoder; 0: heads", between(0, 1024));
    v("dropout", dropout, "share of activations dropped before each residual sum", from_below(0, 1));
    v("attention_dropout", attention_dropout, "share of attention weights dropped, where a mechanism has such",
      from_below(0, 1));
    v("activation_dropout", activation_dropout, "share dropped after the feed-forward activation", from_below(0, 1));
    v("word_dropout", word_dropout, "share of words whose whole embedding is dropped", from_below(0, 1));
    v("layer_dropout", layer_dropout, "share of sublayers that a batch skips; those that remember texts stay",
      from_below(0, 1));
    v("norm", norm, "layer norm after each sublayer, as published, or before it", one_of({"post", "pre"}));
    v("residual", residual, "a sublayer's result is added to what it read; false: it takes its place");
    v("feed_forward", feed_forward, "a feed-forward network in each layer; false: attention alone");
    v("activation", activation, "in the feed-forward layers", one_of({"relu", "gelu", "swish", "swiglu", "geglu"}));
    v("position", position,
      "how positions are told; a name or { kind = ..., options }; sinusoidal where the attention can't take rope and "
      "nothing is said");
    v("encoder_position", encoder_position, "the same for the encoder; \"\": position");
    v("decoder_position", decoder_position, "the same for the decoder; \"\": position");
    v("attention", attention, "the mechanism; a name, { kind = ..., options }, or a list: one per layer, in turn");
    v("encoder_attention", encoder_attention, "the same for the encoder; none: attention");
    v("decoder_attention", decoder_attention, "the same for the decoder; none: attention");
    v("cross_attention", cross_attention, "the same from decoder to encoder; none: softmax");
    v("tie", tie, "which embeddings are one matrix", one_of({"all", "output", "none"}));
    v("head", head, "classify, tag: what is said about a text; a name or { kind = ..., options }");
    v("ngrams", ngrams, "shape bag: so many words in a row, and fewer, count as one", between(1, 8));
    v("pool", pool, "classify: how a text becomes a vector; a name or { kind = ..., options }");
  }
};

struct MetricSettings {
  std::string tokenize = "13a";
  bool lowercase = false;

  template <class V>
  void fields(V& v) {
    v("tokenize", tokenize, "how BLEU splits words", one_of({"13a", "intl", "char", "zh", "none"}));
    v("lowercase", lowercase, "compare without regard to case");
  }
};

/// Scheduled sampling: how often the decoder reads what the model says instead of what is right.
struct SamplingSettings {
  double share = 0;
  int64_t from = 0, over = 0;

  template <class V>
  void fields(V& v) {
    v("share", share, "of the decoder's input tokens in the end; 0: none", between(0, 1));
    v("from", from, "updates that go by before the first is replaced", between(0, 1e9));
    v("over", over, "updates in which the share grows; 0: at once", between(0, 1e9));
  }
};

/// Guided attention: a term of the loss that says where one cross-attention should look.
struct GuideSettings {
  double weight = 0;
  GuideKind kind = GuideKind::diagonal;
  double sigma = 0.2;
  int64_t layer = -1, head = -1;

  template <class V>
  void fields(V& v) {
    v("weight", weight, "of the guide in the loss: 1.0; 0: none", at_least(0));
    v("kind", kind, "where to look: near the diagonal, or as data.alignment says", one_of({"diagonal", "alignment"}));
    v("sigma", sigma, "diagonal: how far from it costs little, as a share of the sentence", above(0));
    v("layer", layer, "which layer of the decoder, from 0; -1: the last but one", between(-1, 1000));
    v("head", head, "which head, from 0; -1: the mean of all", between(-1, 1024));
  }
};

struct TrainOptions {
  TokenBudget batch_tokens{4096};
  ByteSize memory;
  int64_t shards = 16, slices = 1, accumulate = 1;
  bool recompute = false;
  Period stop{8000, Period::Unit::updates}, save{10, Period::Unit::minutes};
  Choice optimizer{"adam"};
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  Schedule schedule = Schedule::cosine;
  double learning_rate = 3e-3;
  int64_t warmup = 400;
  double plateau_factor = 0.5;
  int64_t plateau_patience = 2;
  double label_smoothing = 0.1, clip = 1;
  LabelWeights label_weights = LabelWeights::equal;
  double target_noise = 0, piece_dropout = 0, mask = 0.15;
  SamplingSettings sampling;
  GuideSettings guide;
  Period validate{1, Period::Unit::epochs};
  bool baseline = true;
  std::string metric = "bleu";
  int64_t keep = 10, average = 10;
  AverageOf average_of = AverageOf::last;
  int64_t patience = 0;
  double ema = 0;
  std::string start, vectors;
  std::vector<std::string> start_parts, freeze;
  uint64_t seed = 1;
  MetricSettings metric_options;

  template <class V>
  void fields(V& v) {
    v("batch_tokens", batch_tokens,
      "tokens per update on the larger side, end marks counted; of pictures the pixels; \"auto\": by memory");
    v("memory", memory, "the most a run may use, \"4G\"; batch_tokens = \"auto\" is the largest budget that fits");
    v("shards", shards, "parts a batch is cut in, a power of two; the result does not depend on the threads",
      between(1, 4096));
    v("slices", slices, "parts of a shard that are worked through one after another, a power of two: less memory",
      between(1, 4096));
    v("recompute", recompute,
      "gradient checkpointing: layers keep only what enters them and are computed twice; less memory, the same bits");
    v("accumulate", accumulate, "batches per update", between(1, 1e6));
    v("stop", stop, "the end: u updates, e epochs, t tokens, m minutes");
    v("save", save, "a checkpoint at least this often");
    v("optimizer", optimizer, "the rule of the updates; a name or { kind = ..., options }");
    v("beta1", beta1, "decay of adam's first moment", from_below(0, 1));
    v("beta2", beta2, "decay of adam's second moment", from_below(0, 1));
    v("epsilon", epsilon, "keeps adam's division by the second moment tame", above(0));
    v("weight_decay", weight_decay, "decoupled decay of the weights", at_least(0));
    v("schedule", schedule,
      "how the learning rate goes after warm-up; cosine, linear, exponential: down until the end; nothing said and an "
      "end in "
      "minutes: inverse-sqrt",
      one_of({"constant", "inverse-sqrt", "cosine", "linear", "exponential", "plateau"}));
    v("learning_rate", learning_rate, "the peak, reached at the end of warm-up", above(0));
    v("warmup", warmup, "updates of linear rise to the peak", between(0, 1e9));
    v("plateau_factor", plateau_factor, "schedule plateau: what the rate is multiplied by",
      {.least = 0, .most = 1, .least_open = true, .most_open = true});
    v("plateau_patience", plateau_patience, "schedule plateau: after so many validations without a better one",
      between(1, 1e9));
    v("label_smoothing", label_smoothing, "share of the target spread over all tokens; language: 0", from_below(0, 1));
    v("label_weights", label_weights,
      "classify, tag: what rare labels count: as others; by the root of how rare they are; all labels alike in sum",
      one_of({"equal", "root", "balanced"}));
    v("clip", clip, "largest norm of the gradient; 0: no limit", at_least(0));
    v("target_noise", target_noise, "share of the decoder's input tokens that are replaced by random ones",
      from_below(0, 1));
    v("piece_dropout", piece_dropout, "share of pieces that fall apart into those they are made of, anew each epoch",
      from_below(0, 1));
    v("mask", mask, "language with model.shape = \"encoder\": share of words that are missing, to be guessed",
      from_below(0, 1));
    v("validate", validate, "how often to validate");
    v("baseline", baseline, "whether to tell what can be had without a model, and to warn when a model is no better");
    v("metric", metric, "what \"best\" means; language: perplexity",
      one_of({"bleu", "exact", "chrf", "chrf++", "ter", "rouge", "wer", "cer", "loss", "perplexity", "accuracy", "f1",
              "span-f1", "set-f1", "pearson", "mse"}));
    v("keep", keep, "checkpoints that stay, beside the best and the newest", between(1, 1e6));
    v("average", average, "checkpoints of the later half averaged at the end, if that validates better; 1: none",
      between(1, 1e6));
    v("average_of", average_of, "the last ones, or those that validated best, whenever that was",
      one_of({"last", "best"}));
    v("patience", patience, "validations without a better one that end the run; 0: no limit", between(0, 1e9));
    v("ema", ema, "decay of a moving average of the weights, which is validated and kept: 0.999; 0: none",
      from_below(0, 1));
    v("start", start,
      "a model folder or checkpoint whose weights, and tokenizer if there is no [tokenizer], are the first");
    v("vectors", vectors, "a file of word vectors, a word and its numbers a line: first values of the embeddings");
    v("start_parts", start_parts, "what to take of it: \"encoder\", \"decoder.0\", \"embedding\"; none: all");
    v("freeze", freeze, "parts that no update changes, named likewise");
    v("seed", seed, "where all random numbers start", between(0, 0x1p53));
    v.section("metric_options", metric_options);
    v.section("sampling", sampling);
    v.section("guide", guide);
  }
};

struct Recipe {
  Task task = Task::translate;
  DataSettings data;
  text::TokenizerOptions tokenizer;
  ModelOptions model;
  TrainOptions train;
  RecipePlaces places;              // of what was said, not of defaults
  bool tokenizer_of_start = false;  // not a key: train.start is given, and nothing is said of a tokenizer

  template <class V>
  void fields(V& v) {
    v("task", task, "what is learned", one_of({"translate", "language", "classify", "tag", "image", "graph"}));
    v.section("data", data);
    v.section("tokenizer", tokenizer);
    v.section("model", model);
    v.section("train", train);
  }
};

// Compiled once, in settings.cc: there are a hundred of them.
extern template Fields fields_of<Recipe>(Recipe&);
extern template Fields fields_of<ModelOptions>(ModelOptions&);

/// What a recipe of the task says where it says nothing: the defaults above, but for those that name the task.
Recipe defaults_of(Task task);
/// The family of the side that reads, and of the one that writes: its own, or that of the model.
inline const Choice& encoder_kind(const ModelOptions& m) { return m.encoder.kind.empty() ? m.kind : m.encoder; }
inline const Choice& decoder_kind(const ModelOptions& m) { return m.decoder.kind.empty() ? m.kind : m.decoder; }
/// The keys that chose them.
inline const char* encoder_key(const ModelOptions& m) {
  return m.encoder.kind.empty() ? "model.kind" : "model.encoder";
}
inline const char* decoder_key(const ModelOptions& m) {
  return m.decoder.kind.empty() ? "model.kind" : "model.decoder";
}
/// Language models that learn from words that are missing, and write nothing.
inline bool guesses_missing_words(const Recipe& r) {
  return r.task == Task::language && r.model.shape == ModelShape::encoder;
}
/// Whether what reads is a bag of words.
inline bool is_bag(const ModelOptions& m) { return has_encoder(m.shape) && encoder_kind(m).kind == "bag"; }
/// What a head is, or, of several, each of them: "label", "number".
std::vector<std::string> kinds_of_head(const Choice& head);
/// Whether a head has a softmax whose targets train.label_smoothing can smooth.
bool can_be_smoothed(const Choice& head);
/// Whether a number is among what a model answers.
bool says_numbers(const Recipe& recipe);
/// What answers of a head are judged by, the usual one first.
std::vector<std::string> metrics_of_head(const std::string& head);
/// A recipe from its text, with `--set` values on top; not checked as a whole. `place` is what messages call it.
Recipe read_recipe(const std::string& toml, const std::string& place, const std::vector<std::string>& sets = {});
/// Throws ErrorKind::recipe, with its place before it, when settings that are right by themselves do not go together.
void check_recipe(const Recipe& recipe);
/// Reads a recipe file, puts `--set` values on top and checks the whole.
Recipe load_recipe(const std::string& path, const std::vector<std::string>& sets = {});
/// The same for a run: paths of the file are meant relative to it, those of `--set` to the current folder; all come out
/// absolute.
Recipe load_recipe_for_run(const std::string& path, const std::vector<std::string>& sets = {});
/// The recipe written out, every key with its sentence.
std::string recipe_text(Recipe recipe);

}  // namespace attune
