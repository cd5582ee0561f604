// An encoded corpus that lies on the disk: token ids in one file, where each example lies in another. Only what is
// asked for is read, into memory that is used again, so that a corpus may be larger than memory. Training data that is
// too large to be held is kept so (data/corpus/training_data.h).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace attune {

/// What one example has. The spans are valid until the next one is read into the same buffer.
struct Example {
  std::span<const int32_t> source, target;
  float weight = 1;
};

/// Memory for examples that are read from a disk.
struct ExampleBuffer {
  std::string bytes;
  std::vector<int32_t> ids, text;
};

/// Where an example lies. Of texts that are read on and on: a block of kBlockTokens tokens, as if it were a target.
struct StoredEntry {
  static constexpr int64_t kBlockTokens = 1024;
  int64_t start = 0;               // the token before which the example begins
  int32_t source = 0, target = 0;  // tokens
  float weight = 1;
  uint32_t check = 0;  // a hash of all of this and of the ids: a damaged file is noticed where it is read
};

/// Several threads may read at once, each with its own buffer.
class StoredCorpus {
 public:
  static constexpr const char *kTokens = "tokens.bin", *kIndex = "index.bin";
  /// Bytes of an id.
  static int width_for(int64_t vocabulary) { return vocabulary > 0 && vocabulary <= 65536 ? 2 : 4; }

  /// The files stay open, whatever becomes of the folder. ErrorKind::io when they are not there or not of the size that
  /// `tokens` and `entries` make.
  StoredCorpus(const std::string& folder, int width, int64_t tokens, int64_t entries);
  ~StoredCorpus();
  StoredCorpus(const StoredCorpus&) = delete;
  StoredCorpus& operator=(const StoredCorpus&) = delete;

  /// ErrorKind::io when what is read is not what was written; then the folder is marked, and the corpus is made again
  /// by the next run.
  Example read(int64_t entry, ExampleBuffer& buffer) const;
  /// Of texts: tokens [from, end).
  std::span<const int32_t> tokens(int64_t from, int64_t end, ExampleBuffer& buffer) const;

  /// Entries [from, from + count) as they are in the file.
  void entries(int64_t from, std::span<StoredEntry> out) const;
  /// What a damaged corpus has in its folder.
  static constexpr const char* kDamaged = "damaged";

 private:
  void read_bytes(int file, void* to, size_t bytes, int64_t at) const;
  [[noreturn]] void fail_damaged() const;

  std::string folder_;
  int width_;
  int64_t all_;                   // tokens
  int tokens_ = -1, index_ = -1;  // open files
};

/// Writes the two files of a corpus into a folder, example by example.
class StoredCorpusWriter {
 public:
  StoredCorpusWriter(std::string folder, int width);

  void add(std::span<const int32_t> source, std::span<const int32_t> target, float weight);
  /// Of texts, instead of add: more tokens.
  void extend(std::span<const int32_t> more);

  int64_t tokens() const { return tokens_; }
  int64_t entries() const { return entries_; }
  int width() const { return width_; }
  const std::string& folder() const { return folder_; }
  /// Once.
  void finish();

 private:
  struct Buffered {
    FileWriter file;
    std::string waiting = {};
    void write(std::string_view bytes);
    void finish();
  };
  void put_entry(StoredEntry entry, std::string_view bytes);

  std::string folder_;
  int width_;
  Buffered token_file_, index_file_;
  int64_t tokens_ = 0, entries_ = 0;
  std::string bytes_;           // of the example at hand
  std::vector<int32_t> block_;  // of texts: tokens that do not make a block yet
};

}  // namespace attune
