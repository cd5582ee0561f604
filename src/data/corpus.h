// An encoded corpus of two sides or one in memory: 4 bytes a token and 8 a sentence on each side.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "data/alignment.h"
#include "data/data_files.h"
#include "data/pairs.h"

namespace attune {

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
  /// Takes out all tokens from `at` on.
  Sentences split_off(int64_t at);
  /// Takes out those that are marked, in place.
  void erase(const std::vector<bool>& marked);
};

/// Pairs of sentences, without marks of begin and end; or targets alone, which may be whole texts.
struct Corpus {
  Sentences source, target;
  Alignment alignment = {};  // of the target's tokens, where one was given
  int64_t window = 0;        // above 0: targets are texts, read on and on in windows of so many tokens (data/streams.h)

  bool one_sided() const { return source.count() == 0; }
  /// What an epoch is counted in: pairs or lines; of texts the tokens.
  int64_t size() const { return window > 0 ? target.tokens() : target.count(); }
  /// Target rows of an epoch: each sentence has a mark, a text has none.
  int64_t rows() const { return target.tokens() + (window > 0 ? 0 : target.count()); }
  /// The most rows that a sequence of a batch can have.
  int64_t longest() const { return window > 0 ? window : std::max(source.longest, target.longest) + 1; }
};

/// Text to ids, without marks. Called from several threads at once.
using Encode = std::function<std::vector<int32_t>(std::string_view)>;
/// The number of the word that each of these ids is part of, -1: of none.
using WordsOf = std::function<std::vector<int>(std::string_view)>;
struct Encoders {
  Encode source, target;                         // without a source: a corpus of one side
  WordsOf source_words = {}, target_words = {};  // needed where words are aligned
  Sides sides() const { return source ? Sides::two : Sides::one; }
};

struct LoadedCorpus {
  Corpus corpus;
  PairReport report;
  std::string content_hash;  // of the text of all pairs, before encoding
};

/// Called with each pair that is kept, in order.
using OnPair = std::function<void(std::string_view source, std::string_view target)>;

/// Reads and encodes a corpus; the result does not depend on the pool. `key` is what the recipe calls `files`
/// ("data.train"); those files are aligned where data.alignment says how. ErrorKind::data when no pair is left. With
/// data.stream, a corpus of one side has a text for each file, its lines one after another, each with text::kEnd for
/// its line end; its windows are as long as data.max_length where the text is.
LoadedCorpus read_corpus(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                         const Encoders& encoders, ThreadPool* pool, const OnPair& on_pair = {});

}  // namespace attune
