// An encoded two-sided corpus in memory: 4 bytes a token and 8 a sentence on each side.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
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
  /// Takes out those that are marked, in place.
  void erase(const std::vector<bool>& marked);
};

/// Pairs of sentences, without marks of begin and end.
struct Corpus {
  Sentences source, target;
  int64_t size() const { return source.count(); }
};

/// Text to ids, without marks. Called from several threads at once.
using Encode = std::function<std::vector<int32_t>(std::string_view)>;
struct Encoders {
  Encode source, target;
};

struct LoadedCorpus {
  Corpus corpus;
  PairReport report;
  std::string content_hash;  // of the text of all pairs, before encoding
};

/// Called with each pair that is kept, in order.
using OnPair = std::function<void(std::string_view source, std::string_view target)>;

/// Reads and encodes a corpus; the result does not depend on the pool. `key` is what the recipe calls `files`
/// ("data.train"). ErrorKind::data when no pair is left.
LoadedCorpus read_corpus(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                         const Encoders& encoders, ThreadPool* pool, const OnPair& on_pair = {});

}  // namespace attune
