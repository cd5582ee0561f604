// What a corpus on the disk was made of and how much it has: the file manifest.json beside it. It tells a later run
// whether the text must be read again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"

namespace attune {

/// A file as it was when it was read.
struct InputFile {
  std::string name;
  int64_t bytes = -1, changed = 0;  // changed: nanoseconds of its clock
  bool operator==(const InputFile&) const = default;
};
/// None when one of them is no plain file: what comes through a pipe can't be known again.
std::optional<std::vector<InputFile>> input_files(const std::vector<std::string>& names);

struct CorpusManifest {
  std::string made_by;  // a hash of everything that decides what the text becomes: settings, tokenizer, seed
  std::vector<InputFile> inputs;
  std::string content_hash;
  PairReport report;
  int width = 4;                     // bytes of an id
  int64_t tokens = 0, entries = 0;   // in the files
  CorpusSizes sizes;                 // of what is trained on: the first entries
  std::vector<int64_t> texts;        // of texts: where each begins, and the end of what is trained on
  std::vector<int64_t> file_starts;  // as Corpus has them
  bool weighted = false;
  Layout source_layout, target_layout;
  int64_t held_out = 0;  // examples behind it (of texts: tokens) that are to validate on

  std::string held_out_text;  // a hash of their text

  void write(const std::string& folder) const;
  /// None when it is not there, is damaged or is of another version.
  static std::optional<CorpusManifest> read(const std::string& folder);
};

}  // namespace attune
