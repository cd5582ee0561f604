// What can't stand together in a recipe, and what to do about it.
#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/text.h"
#include "recipe/reader.h"
#include "recipe/settings.h"

namespace attune {

namespace {

/// Refuses what does not go together, in the recipe's own words.
template <class... Args>
void demand(bool ok, fmt::format_string<Args...> text, Args&&... args) {
  if (!ok) fail(ErrorKind::recipe, text, std::forward<Args>(args)...);
}

/// One decoder that reads the source too: what it can be made of.
void check_prefix(const Recipe& r) {
  const ModelOptions& m = r.model;
  if (m.shape != ModelShape::prefix) return;
  demand(r.tokenizer.joint || r.tokenizer_of_start,
         "model.shape = \"prefix\" reads source and target by one vocabulary\n  fix: set tokenizer.joint = true");
  const std::vector<Choice>& attention = m.decoder_attention.empty() ? m.attention : m.decoder_attention;
  for (const Choice& a : attention)
    demand(a.kind == "softmax", "model.shape = \"prefix\" can't take the attention {}\n  fix: \"softmax\"",
           a.literal());
  const Choice& position = m.decoder_position.kind.empty() ? m.position : m.decoder_position;
  const std::vector<std::string> known{"none", "sinusoidal", "learned", "rope"};
  demand(std::count(known.begin(), known.end(), position.kind) > 0,
         "model.shape = \"prefix\" can't take the positions {}, which look back only\n  fix: one of {}",
         position.literal(), join(known, ", "));
  demand(
      r.train.sampling.share == 0,
      "train.sampling is for an encoder and a decoder\n  fix: leave it out, or set model.shape = \"encoder-decoder\"");
}

/// What says something about texts, where none are read.
constexpr const char* kTextKeys[] = {
    "data.ratio",    "data.weights",        "data.columns",   "data.header",          "data.answers",
    "data.encoding", "data.lowercase",      "data.languages", "data.max_length",      "data.expansion",
    "data.overlong", "data.truncate",       "data.stream",    "data.alignment",       "model.word_dropout",
    "model.ngrams",  "train.target_noise",  "train.mask",     "train.sampling.share", "train.guide.weight",
    "train.vectors", "train.piece_dropout", "data.delimiter", "data.documents"};

/// Pictures and graphs: no text, no tokenizer.
void check_rows(const Recipe& r) {
  const DataFormat format = r.data.format;
  const bool rows = holds_rows(format);
  if (!reads_rows(r.task)) {
    demand(!rows, "data.format = \"{}\" holds no texts\n  fix: set task = \"{}\"",
           format == DataFormat::idx ? "idx" : "graph", format == DataFormat::idx ? "image" : "graph");
    return;
  }
  const bool image = r.task == Task::image;
  const char* task = image ? "image" : "graph";
  demand(format == (image ? DataFormat::idx : DataFormat::graph),
         "data.format {}, and task = \"{}\" reads {}\n  fix: leave data.format out",
         rows ? "is that of another task" : "holds texts", task, image ? "pictures" : "graphs");
  for (const auto& [key, where] : r.places.said)
    demand(!key.starts_with("tokenizer."),
           "{} is for texts, and task = \"{}\" reads none\n  fix: leave [tokenizer] out", key, task);
  Recipe own = r, usual = defaults_of(r.task);
  const Fields said = fields_of(own), standard = fields_of(usual);
  for (const char* key : kTextKeys)
    demand(find_field(said, key).get() == find_field(standard, key).get(),
           "{} is for texts, and task = \"{}\" reads none\n  fix: leave it out", key, task);
  demand(!is_bag(r.model), "{} = \"bag\" counts words, and task = \"{}\" has none\n  fix: leave it out",
         encoder_key(r.model), task);
  const std::string& input = (r.model.source_input.kind.empty() ? r.model.input : r.model.source_input).kind;
  demand(image || input != "convolution",
         "model.input = \"convolution\" joins rows that follow one another, and nodes do not\n  fix: leave "
         "model.input out");
  const std::pair<const char*, const Choice*> positions[] = {{"position", &r.model.position},
                                                             {"encoder_position", &r.model.encoder_position}};
  for (const auto& [key, position] : positions)
    demand(image || position->kind.empty() || position->kind == "none",
           "model.{} = {} tells the order of rows, and the nodes of a graph have none\n  fix: leave it out", key,
           position->literal());
  const char* family = encoder_key(r.model);
  demand(image || encoder_kind(r.model).kind != "rnn",
         "{} = \"rnn\" reads rows one after another, and the nodes of a graph have no order\n  fix: leave {} out",
         family, family);
  demand(r.train.metric != "span-f1",
         "train.metric = \"span-f1\" judges runs of words, and task = \"{}\" reads none\n  fix: set train.metric = "
         "\"accuracy\"",
         task);
  demand(r.model.pool.kind != "pair",
         "model.pool = \"pair\" compares two texts, and task = \"{}\" reads none\n  fix: leave model.pool out", task);
  demand(image || r.train.label_weights == LabelWeights::equal,
         "train.label_weights goes by examples, and a graph is one\n  fix: leave label_weights out");
  const char* head = image ? "label" : "tags";
  demand(r.model.head.kind == head && r.model.head.options.empty(),
         "model.head = {} is for texts; task = \"{}\" gives {}\n  fix: leave model.head out", r.model.head.literal(),
         task, image ? "a label to each picture" : "a label to each node");
}

void check_model(const Recipe& r) {
  const ModelOptions& m = r.model;
  const bool encoder = has_encoder(m.shape), decoder = has_decoder(m.shape), bag = is_bag(m);
  demand(!m.attention.empty(), "model.attention has no layer\n  fix: for example attention = \"softmax\"");
  demand(!m.mixer.empty(), "model.mixer has no layer\n  fix: for example mixer = \"attention\"");
  demand(!encoder || bag || m.encoder_layers > 0,
         "model.encoder_layers = 0, but the shape has an encoder\n  fix: set model.encoder_layers = 4");
  demand(!decoder || m.decoder_layers > 0,
         "model.decoder_layers = 0, but the shape has a decoder\n  fix: set model.decoder_layers = 4");
  const struct {
    const char* key;
    int64_t heads;
  } all[] = {{"heads", m.heads},
             {"encoder_heads", m.encoder_heads},
             {"decoder_heads", m.decoder_heads},
             {"cross_heads", m.cross_heads}};
  const bool attends =
      (encoder && encoder_kind(m).kind == "transformer") || (decoder && decoder_kind(m).kind == "transformer");
  for (const auto& [key, heads] : all) {
    if (heads == 0 || !attends) continue;
    demand(m.d_model % heads == 0,
           "model.d_model = {} is not a multiple of model.{} = {}\n  fix: heads of 32 or 64 numbers are usual",
           m.d_model, key, heads);
    demand(m.heads_kv == 0 || heads % m.heads_kv == 0,
           "model.{} = {} is not a multiple of model.heads_kv = {}\n  fix: leave heads_kv out, or give it a divisor of "
           "the heads",
           key, heads, m.heads_kv);
  }
  demand(m.tie != Tie::all || !encoder || !decoder || r.tokenizer.joint || r.tokenizer_of_start,
         "model.tie = \"all\" needs one vocabulary for both sides\n"
         "  fix: set tokenizer.joint = true, or model.tie = \"output\"");
  const bool answers = gives_answers(r.task);
  demand(!answers || m.shape == ModelShape::encoder || (m.shape == ModelShape::decoder && !bag && !reads_rows(r.task)),
         "{} and has nothing to write\n  fix: set model.shape = \"encoder\"{}",
         r.task == Task::tag  ? "a tagger reads texts"
         : reads_rows(r.task) ? "this task gives labels"
                              : "a classifier reads texts",
         reads_rows(r.task) ? "" : ", or \"decoder\", which reads from left to right");
  demand(!answers || !bag || r.task == Task::classify,
         "model.kind = \"bag\" knows no order of words\n  fix: leave model.kind out");
  demand(!answers || !decoder || m.pool.kind != "first",
         "model.pool = \"first\": the first row of a decoder has read nothing\n  fix: set model.pool to \"last\" or "
         "\"mean\"");
  for (const auto& list : {m.attention, m.encoder_attention})
    for (const Choice& a : list)
      demand(a.kind != "edges" || r.task == Task::graph,
             "model.attention = \"edges\" goes along the edges of a graph, and texts have none\n  fix: set it to "
             "\"softmax\", or see `attune info mechanisms`");
  demand(answers || !bag, "model.kind = \"bag\" knows no order to write in\n  fix: leave model.kind out");
  demand(answers || m.head.kind.empty() || (m.shape == ModelShape::encoder && m.head.kind == "words"),
         "model.head = {} says something about a text, and this task writes one\n  fix: leave model.head out",
         m.head.literal());
  demand(r.task != Task::translate || reads_source(m.shape),
         "this model.shape has no source to translate\n  fix: set model.shape = \"encoder-decoder\", or \"prefix\" for "
         "one decoder");
  check_prefix(r);
  demand(
      r.task != Task::language || !reads_source(m.shape),
      "a language model has no source beside its text\n  fix: set model.shape = \"decoder\", or \"encoder\" to learn "
      "from words that are missing");
  demand(r.task != Task::language || m.shape != ModelShape::encoder || !r.data.stream,
         "data.stream = true: words that are missing are guessed line by line\n  fix: leave data.stream out");
}

void check_language(const Recipe& r) {
  demand(r.data.stream || !r.data.documents,
         "data.documents = true: only texts that are read on and on have ends among their lines\n"
         "  fix: leave data.documents out, or set data.stream = true");
  demand(r.task == Task::language || !r.data.stream,
         "data.stream = true: only language models read on from line to line\n  fix: leave data.stream out");
  if (r.task != Task::language) return;
  demand(r.train.metric == "perplexity" || r.train.metric == "loss",
         "train.metric = \"{}\" compares texts, and a language model has loss and perplexity\n"
         "  fix: set train.metric = \"perplexity\"",
         r.train.metric);
}

void check_translation(const Recipe& r) {
  if (r.task != Task::translate) return;
  for (const char* of_labels : {"accuracy", "f1", "span-f1", "set-f1", "pearson", "mse"})
    demand(r.train.metric != of_labels,
           "train.metric = \"{}\" compares labels or numbers, and a translation is a text\n"
           "  fix: set train.metric to bleu, chrf, exact or another that compares texts",
           r.train.metric);
}

void check_answers(const Recipe& r) {
  if (!gives_answers(r.task)) return;
  const std::vector<std::string> heads = kinds_of_head(r.model.head);
  const std::string& kind = r.model.head.kind;
  if (reads_rows(r.task)) {
    // check_rows has looked at it
  } else if (r.task == Task::tag) {
    for (const char* of_texts : {"label", "labels", "number", "several", "words", "vectors"})
      demand(kind != of_texts, "model.head = \"{}\" gives no label to each word\n  fix: set model.head = \"tags\"",
             kind);
  } else {
    demand(kind != "vectors", "model.head = \"vectors\" is for tasks that want vectors\n  fix: leave model.head out");
    for (const char* of_words : {"tags", "words"})
      demand(kind != of_words,
             "model.head = \"{}\" says something about each word, and a classifier about whole texts\n"
             "  fix: set model.head to \"label\", \"labels\" or \"number\"{}",
             kind, kind == "tags" ? ", or task = \"tag\"" : "");
  }
  std::vector<std::string> metrics = metrics_of_head(heads[0]);
  metrics.insert(metrics.end(), {"loss", "perplexity"});
  demand(std::count(metrics.begin(), metrics.end(), r.train.metric) > 0,
         "train.metric = \"{}\" does not judge what model.head = {} says\n  fix: set it to one of {}", r.train.metric,
         r.model.head.literal(), join(metrics, ", "));
  demand(std::ssize(heads) == r.data.answers,
         "data.answers = {} column{}, and model.head = {} wants {}\n  fix: set data.answers = {}", r.data.answers,
         r.data.answers == 1 ? "" : "s", r.model.head.literal(), heads.size(), heads.size());
  demand(kind != "labels" || r.data.weights.texts.empty(),
         "data.weights weighs texts that have one answer, and model.head = \"labels\" gives a set\n  fix: leave "
         "data.weights out");
  demand(heads.size() == 1 || (r.task == Task::classify && !is_bag(r.model)),
         "model.head = \"several\" is for classifiers with an encoder\n  fix: choose another head");
  demand(heads.size() == 1 || r.train.label_weights == LabelWeights::equal,
         "train.label_weights goes by one set of labels, and there are several\n  fix: leave label_weights out");
  demand(!r.data.stream, "data.stream = true: texts that are answered to are lines\n  fix: leave data.stream out");
}

void check_columns(const DataSettings& d) {
  demand(
      d.columns.texts.empty() || d.format != DataFormat::lines,
      "data.columns names columns, and data.format = \"lines\" has none\n  fix: set data.format to \"tsv\", \"csv\" or "
      "\"conll\"");
  const bool table = d.format == DataFormat::tsv || d.format == DataFormat::csv;
  demand(table || d.delimiter == "auto",
         "data.delimiter separates the columns of tsv and csv files, and these are none\n  fix: leave data.delimiter "
         "out, or set data.format = \"csv\"");
  demand(!d.header || table,
         "data.header = true, and only tsv and csv files have a line of names\n  fix: leave data.header out");
}

/// How many corpora data.train has: groups, pairs of files, or files.
int64_t corpora_of(const Recipe& r) {
  const bool pairs = r.task == Task::translate && r.data.format == DataFormat::lines;
  return r.data.train.groups.empty() ? std::ssize(r.data.train) / (pairs ? 2 : 1) : std::ssize(r.data.train.groups);
}

void check_mixture(const Recipe& r) {
  const DataSettings& d = r.data;
  const int64_t corpora = corpora_of(r);
  if (r.task == Task::translate && d.format == DataFormat::lines)
    for (const int64_t files : d.train.groups)
      demand(files > 0 && files % 2 == 0,
             "data.train has a corpus of {} file{}, translate needs a source and a target\n  fix: data.train = "
             "[[\"a.en\", "
             "\"a.de\"], [\"b.en\", \"b.de\"]]",
             files, files == 1 ? "" : "s");
  demand(d.ratio.empty() || std::ssize(d.ratio) == corpora,
         "data.ratio has {} number{} for the {} {} of data.train\n  fix: give one for each", d.ratio.size(),
         d.ratio.size() == 1 ? "" : "s", corpora, corpora == 1 ? "corpus" : "corpora");
  demand(d.ratio.empty() || !d.stream,
         "data.ratio mixes lines, and data.stream = true reads whole texts\n  fix: leave one of them out");
  demand(d.weights.texts.empty() || !d.stream,
         "data.weights weighs lines, and data.stream = true reads whole texts\n  fix: leave one of them out");
}

void check_data(const Recipe& r) {
  demand(!r.data.train.empty(), "data.train names no files to learn from\n  fix: data.train = [{}]",
         r.task == Task::translate ? "\"train.en\", \"train.de\"" : "\"train.txt\"");
  for (const auto& [key, files] : {std::pair<const char*, const std::vector<std::string>*>{"train", &r.data.train},
                                   {"valid", &r.data.valid},
                                   {"test", &r.data.test}})
    for (const std::string& f : *files)
      demand(!f.empty() && f.find('\0') == std::string::npos,
             "data.{} has a name that no file can have: it is empty, or has a zero in it\n  fix: name a file, or leave "
             "it out",
             key);
  check_columns(r.data);
  check_mixture(r);
  if (r.task != Task::translate || r.data.format != DataFormat::lines) return;
  const std::pair<const char*, const std::vector<std::string>*> all[] = {
      {"train", &r.data.train}, {"valid", &r.data.valid}, {"test", &r.data.test}};
  for (const auto& [key, files] : all)
    demand(files->size() % 2 == 0,
           "data.{} has {} files, translate needs a source and a target for each\n  fix: name source, target, source, "
           "target ...; or set data.format = \"tsv\" for files of two columns",
           key, files->size());
  demand(r.data.languages.empty() || r.data.languages.size() == 2,
         "data.languages has {} names, translate has 2 sides\n  fix: data.languages = [\"en\", \"de\"]",
         r.data.languages.size());
}

void check_guide(const Recipe& r) {
  const GuideSettings& g = r.train.guide;
  demand(r.data.alignment.empty() || r.task == Task::translate,
         "data.alignment: only translations have words that go together\n  fix: leave data.alignment out");
  demand(r.data.alignment.empty() || r.data.format == DataFormat::lines ||
             (r.data.format == DataFormat::tsv && !r.data.header),
         "data.alignment goes by lines, and those of this data.format are not one for each pair\n"
         "  fix: use data.format = \"lines\", or \"tsv\" without a header");
  demand(g.weight == 0 || r.model.shape == ModelShape::encoder_decoder,
         "train.guide.weight = {}: there is no attention from decoder to encoder to guide\n"
         "  fix: leave train.guide out",
         g.weight);
  demand(g.weight == 0 || g.kind != GuideKind::alignment || !r.data.alignment.empty(),
         "train.guide.kind = \"alignment\", but nothing says which words go together\n"
         "  fix: name files of word alignments: data.alignment = [\"train.align\"]");
  demand(g.weight == 0 || g.layer < r.model.decoder_layers,
         "train.guide.layer = {}, but the decoder has layers 0 to {}\n  fix: -1 is the last but one", g.layer,
         r.model.decoder_layers - 1);
  const int64_t heads = r.model.cross_heads ? r.model.cross_heads : r.model.heads;
  demand(g.weight == 0 || g.head < heads,
         "train.guide.head = {}, but there are heads 0 to {} from decoder to encoder\n  fix: -1 is the mean of all",
         g.head, heads - 1);
}

void check_tokenizer(const text::TokenizerOptions& t) {
  demand(!t.byte_fallback || t.can_fall_back(),
         "tokenizer.byte_fallback = true, but tokenizer.kind = \"{}\" has none\n"
         "  fix: leave byte_fallback out, or set kind to \"bpe\", \"unigram\" or \"char\"",
         text::tokenizer_kinds()[static_cast<size_t>(t.kind)]);
}

void check_piece_dropout(const Recipe& r) {
  if (r.train.piece_dropout == 0) return;
  demand(r.task == Task::translate,
         "train.piece_dropout = {}: only the pieces of sentence pairs fall apart\n  fix: leave piece_dropout out",
         r.train.piece_dropout);
  const text::TokenizerKind kind = r.tokenizer.kind;
  demand(r.tokenizer_of_start || kind == text::TokenizerKind::bpe || kind == text::TokenizerKind::unigram ||
             kind == text::TokenizerKind::wordpiece,
         "train.piece_dropout = {}, but tokenizer.kind = \"{}\" has no pieces that are made of others\n"
         "  fix: leave piece_dropout out, or set kind to \"bpe\", \"unigram\" or \"wordpiece\"",
         r.train.piece_dropout, text::tokenizer_kinds()[static_cast<size_t>(kind)]);
}

void check_train(const TrainOptions& t) {
  demand(std::has_single_bit(static_cast<uint64_t>(t.shards)),
         "train.shards = {} is not a power of two\n  fix: set 1, 2, 4, 8, 16 ...", t.shards);
  demand(std::has_single_bit(static_cast<uint64_t>(t.slices)),
         "train.slices = {} is not a power of two\n  fix: set 1, 2, 4, 8, 16 ...", t.slices);
  demand(!t.batch_tokens.automatic() || t.memory.bytes > 0,
         "train.batch_tokens = \"auto\" needs to know how much memory to use\n  fix: set train.memory = \"4G\"");
  demand(!t.stop.never() || t.patience > 0,
         "train.stop = \"{}\" and train.patience = 0: this would never end\n  fix: set train.stop = \"8000u\", or "
         "train.patience = 10",
         t.stop.text());
  demand(!t.save.never(),
         "train.save = \"{}\": a run without checkpoints could not go on after a stop\n  fix: set train.save = \"10m\"",
         t.save.text());
  demand(t.schedule != Schedule::plateau || !t.validate.never(),
         "train.schedule = \"plateau\" goes by validations, and train.validate = \"{}\" has none\n"
         "  fix: set train.validate = \"1e\"",
         t.validate.text());
  demand(t.start_parts.empty() || !t.start.empty(),
         "train.start_parts names what to take, but there is no model to take it of\n"
         "  fix: name its folder by train.start, or leave start_parts out");
  demand(t.average_of == AverageOf::best || t.average <= t.keep,
         "train.average = {} is more than the train.keep = {} checkpoints that stay\n  fix: raise train.keep, or lower "
         "train.average",
         t.average, t.keep);
}

}  // namespace

void check_recipe(const Recipe& recipe) {
  with_places(recipe.places, [&] {
    check_data(recipe);
    check_rows(recipe);
    check_model(recipe);
    check_language(recipe);
    check_translation(recipe);
    check_answers(recipe);
    check_tokenizer(recipe.tokenizer);
    check_train(recipe.train);
    check_guide(recipe);
    check_piece_dropout(recipe);
  });
}

}  // namespace attune
