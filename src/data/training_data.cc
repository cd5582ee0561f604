#include "data/training_data.h"

#include "base/error.h"
#include "base/text.h"
#include "data/large_corpus.h"
#include "recipe/writer.h"

namespace attune {

namespace {

/// A hash of all that decides what text becomes, beside the text.
std::string made_by(const DataSettings& options, Sides sides, uint64_t seed, uint64_t tokenizer) {
  DataSettings own = options;
  own.train = own.valid = own.test = own.languages = {};
  ContentHash hash;
  hash.add(canonical_text(to_values(own)));
  hash.add(fmt::format("{} {} {:016x}", sides == Sides::two, options.valid.empty() ? seed + 1 : 0, tokenizer));
  return hash.hex();
}

/// Fills in the training data, and what is held out of it.
void read_train(const DataSettings& options, const Encoders& encoders, uint64_t seed, ThreadPool* pool,
                const CorpusPlace* place, TrainingData& data) {
  const Sides sides = encoders.sides();
  const bool hold = options.valid.empty();
  CorpusManifest m;
  std::optional<std::vector<InputFile>> inputs;
  if (place) {
    m.made_by = made_by(options, sides, seed, place->tokenizer);
    inputs = input_files(options.train);  // as they are before they are read
    m.inputs = inputs.value_or(std::vector<InputFile>{});
    if (inputs && open_large_corpus(*place, m, options.max_length, data)) return;
    if (!inputs) m.made_by.clear();  // what it is made of can't be known again
  }
  HoldOut hold_out(seed);
  LargeCorpus all(sides, has_texts(options, sides), place);
  PairReader reader(options.train, options, "data.train", sides);
  const auto watch = [&](std::string_view source, std::string_view target) { hold_out.see(source, target); };
  encode_pairs(reader, options, encoders, pool, hold ? OnPair(watch) : OnPair(), all);
  refuse_empty(reader.report(), options.train, "data.train", options.overlong);
  m.report = reader.report();
  m.content_hash = reader.content_hash();
  all.finish(hold_out, hold, options.max_length, std::move(m), data);
}

}  // namespace

TrainingData read_training_data(const DataSettings& options, const Encoders& encoders, uint64_t seed, ThreadPool* pool,
                                const CorpusPlace* place) {
  TrainingData data;
  read_train(options, encoders, seed, pool, place, data);
  if (data.train.window > 0 && data.train.target.tokens() < options.max_length)
    fail(ErrorKind::data,
         "data.train has {} tokens to train on, fewer than one window of data.max_length = {}\n"
         "  fix: lower data.max_length, or add text",
         thousands(data.train.target.tokens()), thousands(options.max_length));
  if (options.valid.empty()) return data;
  const auto remember = [&](std::string_view source, std::string_view target) {
    data.valid_source.emplace_back(source);
    data.valid_target.emplace_back(target);
  };
  LoadedCorpus valid = read_corpus(options.valid, "data.valid", options, encoders, pool, remember);
  data.valid = std::move(valid.corpus);
  data.valid_report = std::move(valid.report);
  data.content_hash += "-" + valid.content_hash;
  return data;
}

}  // namespace attune
