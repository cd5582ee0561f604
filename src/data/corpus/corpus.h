// An encoded corpus of two sides or one: in memory, 4 bytes a token and 8 a sentence on each side, or, where that is
// too much, on the disk (data/corpus/stored_corpus.h).
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "data/corpus/piece_dropout.h"
#include "data/corpus/stored_corpus.h"
#include "data/files/alignment.h"
#include "data/files/data_files.h"
#include "data/files/layout.h"
#include "data/files/pairs.h"
#include "data/files/row_shape.h"

namespace attune {

/// For each id, whether it begins a word; none: nobody asks.
using WordBegins = std::shared_ptr<const std::vector<bool>>;

/// Sentences of one side, one after another.
struct Sentences {
  std::vector<int32_t> ids;
  std::vector<int64_t> start{0};
  int32_t longest = 0;

  int64_t count() const { return static_cast<int64_t>(start.size()) - 1; }
  int64_t tokens() const { return start.back(); }
  int32_t length(int64_t i) const {
    return static_cast<int32_t>(start[static_cast<size_t>(i) + 1] - start[static_cast<size_t>(i)]);
  }
  std::span<const int32_t> operator[](int64_t i) const {
    return {ids.data() + start[static_cast<size_t>(i)], static_cast<size_t>(length(i))};
  }
  void add(std::span<const int32_t> sentence);
  /// More of the last one.
  void extend(std::span<const int32_t> more);
  /// Takes out some, in place; their numbers in order.
  void erase(const std::vector<int64_t>& numbers);
};

/// How much a corpus has.
struct CorpusSizes {
  int64_t examples = 0;  // pairs or lines; texts
  int64_t source_tokens = 0, target_tokens = 0;
  int32_t longest_source = 0, longest_target = 0;
  void add(int64_t source, int64_t target);
};

/// Corpora one after another that an epoch draws from by ratio. An epoch has as many examples as all of them together.
/// Each is shuffled by itself and drawn from to its end before it begins anew, in a fresh order, from one epoch to the
/// next.
struct Mixture {
  std::vector<int64_t> borders;  // of the corpora: one more than there are; none: no mixture
  std::vector<double> ratio;
  size_t count() const { return ratio.size(); }
  /// How many examples of each an epoch has.
  std::vector<int64_t> shares() const;
};

/// Pairs of sentences, without marks of begin and end; or targets alone, which may be whole texts. Where a side has a
/// layout, its "sentences" are runs of typed columns.
struct Corpus {
  Sentences source, target;
  Alignment alignment = {};         // of the target's tokens, where one was given
  std::vector<float> weights = {};  // of the examples; none: 1 each
  int64_t window = 0;  // above 0: targets are texts, read on and on in windows of so many tokens (data/streams.h)
  bool documents = false;  // such a text ends at a blank line, too, and none sees another
  std::vector<int64_t> file_starts = {};  // the first example of each file or pair of files
  Mixture mixture = {};
  /// Where the corpus is on the disk: source and target are empty, but for where texts begin.
  std::shared_ptr<const StoredCorpus> stored = {};
  CorpusSizes stored_sizes = {};
  bool stored_weights = false;
  PieceHalves source_halves = {}, target_halves = {};  // for Batches whose pieces fall apart
  int32_t masked = 0;                                  // above 0: targets, of ids below this, are read with gaps
  bool answers = false;                                // targets are answers to the source (data/corpus/answers.h) ...
  WordBegins word_begins = {};                         // ... one for each of its words, which begin with these ids
  std::vector<float> label_weights = {};               // of answers: what the loss of each label is multiplied by
  Layout source_layout = {}, target_layout = {};       // of examples that are no token ids

  bool weighted() const { return stored ? stored_weights : !weights.empty(); }

  CorpusSizes sizes() const;
  bool one_sided() const { return stored ? stored_sizes.source_tokens == 0 : source.count() == 0; }
  /// What an epoch is counted in: pairs or lines; of texts the tokens.
  int64_t size() const { return window > 0 ? target.tokens() : sizes().examples; }
  /// Target rows of an epoch: each sentence has a mark, texts and answers have none.
  int64_t rows() const;
  /// Rows that sources have in all, and at most; where there is a layout, as if all were as long as the longest.
  int64_t source_rows() const;
  int64_t longest_source() const { return source_layout.empty() ? sizes().longest_source : source_layout.longest; }
  int64_t longest_target() const { return target_layout.empty() ? sizes().longest_target : target_layout.longest; }
  /// The most rows that a sequence of a batch can have.
  int64_t longest() const;

  void add(const Example& example, Sides sides);
  void erase(const std::vector<int64_t>& numbers);
  /// An example; in memory it outlasts the buffer.
  Example example(int64_t i, ExampleBuffer& buffer) const;
  /// Of texts: tokens [from, end).
  std::span<const int32_t> tokens(int64_t from, int64_t end, ExampleBuffer& buffer) const;
};

/// Text to ids, without marks. Called from several threads at once.
using Encode = std::function<std::vector<int32_t>(std::string_view)>;
/// The number of the word that each of these ids is part of, -1: of none.
using WordsOf = std::function<std::vector<int>(std::string_view)>;
struct Encoders {
  Encode source, target;                         // without a source: a corpus of one side
  WordsOf source_words = {}, target_words = {};  // needed where words are aligned
  int32_t masked = 0;                            // as of a Corpus
  bool answers = false;                          // targets are answers (data/corpus/answers.h) ...
  WordBegins word_begins = {};                   // ... to each word
  int64_t ids_per_token = 1;                     // for data.max_length
  std::shared_ptr<const RowShape> rows = {};     // of sources that are no texts; then there is no `source`
  /// What is wrong with a source and its target, "" if nothing.
  std::function<std::string(std::string_view source, std::string_view target)> fault = {};
  Sides sides() const { return answers ? Sides::answers : source ? Sides::two : Sides::one; }
};

struct LoadedCorpus {
  Corpus corpus;
  PairReport report;
  std::string content_hash;  // of the text of all pairs, before encoding
};

/// Called with each pair that is kept, in order.
using OnPair = std::function<void(std::string_view source, std::string_view target)>;

/// What is read becomes a corpus here, example by example.
class CorpusSink {
 public:
  virtual ~CorpusSink() = default;
  virtual void add(const Example& example) = 0;
  /// Of the tokens of the example's target, one after another: what they go with in its source.
  virtual void align(std::span<const int32_t>) {}
  /// The next file, or pair of files, which may have nothing.
  virtual void begin_files() {}
  /// Of texts, instead: the next text, or more of the last one.
  virtual void begin_text() = 0;
  virtual void extend(std::span<const int32_t> more) = 0;
};

/// A corpus in memory.
class CorpusInMemory : public CorpusSink {
 public:
  explicit CorpusInMemory(Sides sides) : sides_(sides) {}
  void add(const Example& example) override { corpus.add(example, sides_); }
  void align(std::span<const int32_t> links) override { corpus.alignment.add(links); }
  void begin_text() override { corpus.target.add({}); }
  void extend(std::span<const int32_t> more) override { corpus.target.extend(more); }
  Corpus corpus;

 private:
  Sides sides_;
};

/// Whether a corpus of the side or sides consists of texts that are read on and on.
inline bool has_texts(const DataSettings& options, Sides sides) { return options.stream && sides == Sides::one; }

/// Pairs, and where alignments are given, those beside them.
struct PairSource {
  PairReader& reader;
  AlignmentReader* alignment = nullptr;
};
/// What data.alignment has for these files, which the recipe calls `key`: only data.train is aligned.
std::optional<AlignmentReader> alignment_of(const std::vector<std::string>& files, const std::string& key,
                                            const DataSettings& options, Sides sides);
/// Encodes all that there is to read and hands it on; the result does not depend on the pool.
/// With data.stream, a corpus of one side has a text for each file, its lines one after another, each with text::kEnd
/// for its line end.
void encode_pairs(const PairSource& from, const DataSettings& options, const Encoders& encoders, ThreadPool* pool,
                  const OnPair& on_pair, CorpusSink& to);
/// ErrorKind::data when the reader came to its end and nothing was kept. `key` is what the recipe calls `files`
/// ("data.train").
void refuse_empty(const PairReport& report, const std::vector<std::string>& files, const std::string& key,
                  Overlong overlong);
/// ErrorKind::data when so many lines are not UTF-8 that they must be in something else.
void refuse_other_letters(const PairReport& report, const std::string& key);

/// Reads a corpus into memory to measure on: all lines count alike, whatever weights they have. The windows of texts
/// are as long as data.max_length where the text is.
LoadedCorpus read_corpus(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                         const Encoders& encoders, ThreadPool* pool, const OnPair& on_pair = {});

}  // namespace attune
