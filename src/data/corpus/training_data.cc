#include "data/corpus/training_data.h"

#include "base/error.h"
#include "base/text.h"
#include "data/corpus/large_corpus.h"
#include "data/corpus/row_corpus.h"
#include "recipe/writer.h"

namespace attune {

namespace {

/// A hash of all that decides what text becomes, beside the text.
std::string made_by(const DataSettings& options, Sides sides, uint64_t seed, uint64_t tokenizer) {
  DataSettings own = options;
  own.train = {};
  own.valid = own.test = own.languages = {};
  own.weights = {};
  own.ratio = {};
  ContentHash hash;
  hash.add(canonical_text(to_values(own)));
  hash.add(fmt::format("{} {} {} {:016x}", options.weights.texts.size(), has_source(sides),
                       options.valid.empty() ? seed + 1 : 0, tokenizer));
  return hash.hex();
}

/// Fills in the training data, and what is held out of it. False: it was on the disk, and no text was read.
bool read_train(const DataSettings& options, const Encoders& encoders, uint64_t seed, ThreadPool* pool,
                const CorpusPlace* place, TrainingData& data) {
  const Sides sides = encoders.sides();
  auto alignment = alignment_of(options.train, "data.train", options, sides);
  if (alignment) place = nullptr;  // who has alignments has little text
  const bool hold = options.valid.empty();
  CorpusManifest m;
  std::optional<std::vector<InputFile>> inputs;
  if (place) {
    m.made_by = made_by(options, sides, seed, place->tokenizer);
    std::vector<std::string> names = options.train;
    names.insert(names.end(), options.weights.texts.begin(), options.weights.texts.end());
    inputs = input_files(names);  // as they are before they are read
    m.inputs = inputs.value_or(std::vector<InputFile>{});
    if (inputs && open_large_corpus(*place, m, options.max_length, data)) return false;
    if (!inputs) m.made_by.clear();  // what it is made of can't be known again
  }
  HoldOut hold_out(seed);
  LargeCorpus all(sides, has_texts(options, sides), place);
  if (encoders.rows) {
    const bool apart = hold && options.format != DataFormat::graph;  // its nodes say themselves what they are for
    const auto watch = [&](const RowExample& e, const std::string& answer) { hold_out.see(e.name, answer, e.content); };
    RowsRead read =
        encode_rows({options.train, "data.train"}, options.format, encoders, apart ? OnRows(watch) : OnRows(), all);
    m.report = std::move(read.report);
    m.content_hash = std::move(read.content_hash);
    m.source_layout = std::move(read.source);
    m.target_layout = std::move(read.target);
    all.finish(hold_out, apart, options.max_length, std::move(m), data);
    return true;
  }
  PairReader reader(options.train, options, "data.train", sides);
  const auto watch = [&](std::string_view source, std::string_view target) { hold_out.see(source, target); };
  encode_pairs({reader, alignment ? &*alignment : nullptr}, options, encoders, pool, hold ? OnPair(watch) : OnPair(),
               all);
  refuse_other_letters(reader.report(), "data.train");
  refuse_empty(reader.report(), options.train, "data.train", options.overlong);
  m.report = reader.report();
  m.content_hash = reader.content_hash() + (alignment ? "+" + alignment->content_hash() : "");
  all.finish(hold_out, hold, options.max_length, std::move(m), data);
  return true;
}

/// Test files need not be there yet, nor right.
Overlaps overlaps_of(DataSettings options, Sides sides) {
  try {
    return count_overlaps(options, sides);
  } catch (const Error&) { options.test.clear(); }
  return count_overlaps(options, sides);
}

/// How an epoch draws from the corpora of data.train.
void mix_corpora(const DataSettings& options, Sides sides, TrainingData& data) {
  if (options.ratio.empty()) return;
  const auto files = pair_files(options.train, options.format, "data.train", sides);
  const int64_t per_pair = std::ssize(options.train) / std::ssize(files), size = data.train.size();
  std::vector<int64_t>& starts = data.train.file_starts;
  starts.resize(files.size(), size);  // the last ones may have had nothing
  std::vector<int64_t> groups = options.train.groups;
  if (groups.empty()) groups.assign(files.size(), per_pair);
  Mixture m{{}, options.ratio};
  size_t file = 0;
  for (const int64_t group : groups) {
    m.borders.push_back(file < starts.size() ? starts[file] : size);
    file += static_cast<size_t>(group / per_pair);
  }
  m.borders.push_back(size);
  const std::vector<int64_t> shares = m.ratio.size() + 1 == m.borders.size() ? m.shares() : std::vector<int64_t>{};
  for (size_t i = 0; i < shares.size(); ++i)
    if (shares[i] == 0)
      fail(ErrorKind::data,
           "data.ratio: corpus {} of {} would not be drawn from once in {} lines\n  fix: raise its ratio", i + 1,
           shares.size(), thousands(size));
  check(m.borders.size() == m.ratio.size() + 1, "data.ratio", "{} numbers for {} corpora", m.ratio.size(),
        groups.size());
  for (size_t i = 0; i < m.count(); ++i)
    if (m.borders[i] == m.borders[i + 1])
      fail(ErrorKind::data, "data.train: corpus {} of {} has nothing to draw from\n  fix: check its files", i + 1,
           m.count());
  ContentHash hash;  // other borders are other data
  hash.add(data.content_hash);
  for (const int64_t b : m.borders) hash.add(std::to_string(b) + "\n");
  data.content_hash = hash.hex();
  data.train.mixture = std::move(m);
}

/// What is in memory of a corpus; what is on the disk takes none.
int64_t bytes_of(const Corpus& c) {
  const auto of = [](const auto& list) { return std::ssize(list) * static_cast<int64_t>(sizeof(list[0])); };
  return of(c.source.ids) + of(c.source.start) + of(c.target.ids) + of(c.target.start) + of(c.alignment.start) +
         of(c.alignment.sources) + of(c.weights) + of(c.file_starts);
}

}  // namespace

int64_t TrainingData::bytes() const {
  int64_t texts = 0;
  for (const auto* side : {&valid_source, &valid_target})
    for (const std::string& line : *side) texts += std::ssize(line) + static_cast<int64_t>(sizeof(line));
  const int64_t order = train.window > 0 ? 0 : train.size() * static_cast<int64_t>(sizeof(int32_t));
  return bytes_of(train) + bytes_of(valid) + texts + order;
}

TrainingData read_training_data(const DataSettings& options, const Encoders& encoders, uint64_t seed, ThreadPool* pool,
                                const CorpusPlace* place) {
  TrainingData data;
  const bool was_read = read_train(options, encoders, seed, pool, place, data);
  mix_corpora(options, encoders.sides(), data);
  for (Corpus* c : {&data.train, &data.valid}) {
    c->masked = encoders.masked;
    c->answers = encoders.answers;
    c->word_begins = encoders.word_begins;
    c->documents = options.documents;
    c->source_layout = data.train.source_layout;
    c->target_layout = data.train.target_layout;
  }
  if (data.train.window > 0 && data.train.target.tokens() < options.max_length)
    fail(ErrorKind::data,
         "data.train has {} tokens to train on, fewer than one window of data.max_length = {}\n"
         "  fix: lower data.max_length, or add text",
         thousands(data.train.target.tokens()), thousands(options.max_length));
  if (was_read) data.overlaps = overlaps_of(options, encoders.sides());
  const bool own_nodes = options.valid.empty() && options.format == DataFormat::graph;
  if (options.valid.empty() && !own_nodes) return data;
  const auto remember = [&](std::string_view source, std::string_view target) {
    data.valid_source.emplace_back(source);
    data.valid_target.emplace_back(target);
  };
  LoadedCorpus valid =
      read_corpus(own_nodes ? options.train : options.valid, "data.valid", options, encoders, pool, remember);
  data.valid = std::move(valid.corpus);
  data.valid_report = std::move(valid.report);
  data.content_hash += "-" + valid.content_hash;
  return data;
}

}  // namespace attune
