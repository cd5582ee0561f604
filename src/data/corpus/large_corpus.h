// Training data on its way to memory or, where it is too large for that, to the disk; and from there again.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "data/corpus/corpus_manifest.h"
#include "data/corpus/hold_out.h"
#include "data/corpus/training_data.h"

namespace attune {

/// Takes examples: into memory until there are too many, then everything into files.
class LargeCorpus : public CorpusSink {
 public:
  /// Without a place: all into memory. The place outlives it.
  LargeCorpus(Sides sides, bool texts, const CorpusPlace* place) : sides_(sides), texts_(texts), place_(place) {}

  void add(const Example& example) override;
  /// Where there are alignments, there must be no place: they are kept in memory.
  void align(std::span<const int32_t> links) override { corpus_.alignment.add(links); }
  void begin_files() override { file_starts_.push_back(sizes_.examples); }
  void begin_text() override;
  void extend(std::span<const int32_t> more) override;

  /// All of it becomes data.train, but for what is held out, which becomes data.valid. `manifest` says what it was made
  /// of; the rest is filled in.
  void finish(const HoldOut& hold_out, bool hold, int64_t window, CorpusManifest manifest, TrainingData& data);

 private:
  bool on_disk() const { return writer_.has_value(); }
  void spill();
  void spill_when_large();
  CorpusSizes drop_from_index(const HoldOut::Chosen& chosen);

  Sides sides_;
  bool texts_;
  const CorpusPlace* place_;
  Corpus corpus_;  // while it is in memory; of texts on the disk, where each begins
  CorpusSizes sizes_;
  std::vector<int64_t> file_starts_;
  bool weighted_ = false;
  std::optional<FolderWriter> folder_;
  std::optional<StoredCorpusWriter> writer_;
};

/// Opens what an earlier run left at the place, if it was made so; false when there is nothing of use. Only the
/// training data, its report and hash, and what was held out are filled in.
bool open_large_corpus(const CorpusPlace& place, const CorpusManifest& wanted, int64_t window, TrainingData& data);

}  // namespace attune
