// The folder of a run: what is written there, and how a run goes on from it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/model_folder.h"
#include "inference/model_files.h"
#include "train/loop.h"

namespace attune {

/// A checkpoint whose moment depends on counters alone: what is averaged at the end.
struct Milestone {
  int64_t update = 0;
  double score = 0;  // higher is better
};

/// Keeps others out of a folder while a run writes to it.
class FolderLock {
 public:
  /// ErrorKind::usage when another process holds it.
  explicit FolderLock(const std::string& dir);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  /// Whether a run holds it now.
  static bool is_held(const std::string& dir);
  /// Whether the folder is still the one that was locked, and not removed, moved or made anew.
  bool is_there() const;

 private:
  std::string path_;
  int file_ = -1;
};

class RunFolder {
 public:
  RunFolder(std::string dir, const Recipe& recipe) : dir_(std::move(dir)), recipe_(recipe) {}
  const std::string& dir() const { return dir_; }

  /// The newest checkpoint that can be used, or none. Refuses a recipe that would train another model, saying what
  /// changed. Damaged ones are told in `notes`.
  std::optional<Checkpoint> find(std::vector<std::string>& notes);
  /// Reads weights, moments and counters; `content_hash` is that of the data now.
  Progress resume(const Checkpoint& from, Learner& learner, const std::string& content_hash, ThreadPool* pool);
  /// The same in the middle of a run, back to the checkpoint of an update (0: the beginning); newer ones are removed.
  Progress roll_back(int64_t update, Learner& learner, const std::string& content_hash, ThreadPool* pool);
  /// Makes room for a new run: removes checkpoints, logs and the model of an older one.
  void clear();
  /// Refuses a folder where another run was at work since it was looked at.
  void expect_empty() const;

  /// What the run started from, for its records; resume() reads it from there.
  void set_start(const std::string& hash) { start_hash_ = hash; }
  /// A checkpoint, and old ones removed.
  void save(Learner& learner, const Progress& progress, const Tokenizers& tokenizers, const std::string& content_hash);
  /// For when the folder is not there any more: makes it and a checkpoint in it, and throws ErrorKind::io, for log and
  /// lock went with it.
  [[noreturn]] void rescue(Learner& learner, const Progress& progress, const Tokenizers& tokenizers,
                           const std::string& content_hash);
  void add_milestone(int64_t update, double score) { milestones_.push_back({update, score}); }
  /// The model so far is the best: it becomes the folder's own.
  void save_best(Learner& learner, const Progress& progress, const Tokenizers& tokenizers);
  /// Whether the folder's own model is what a run that ended there leaves: then nothing is left to do.
  bool is_complete(const Progress& progress) const;
  /// At the end: the mean of the milestones that the recipe wants, if more than one. Returns how many.
  int64_t save_average(Learner& learner, const Progress& progress, const Tokenizers& tokenizers, ThreadPool* pool);
  /// At the end, where the folder's own model is not the best one, because it was removed or the recipe wanted another
  /// before: takes it from its checkpoint, or where that is gone too, the last one.
  void save_best_again(Learner& learner, const Progress& progress, const Tokenizers& tokenizers, ThreadPool* pool);

 private:
  void check_start(const Checkpoint& from, const Recipe& before) const;
  /// The folders of those of to_average that are whole; none where only one is left, which would be no mean.
  std::vector<std::string> models_to_average() const;
  ModelContents contents(Learner& learner, const Progress& progress, const Tokenizers& tokenizers) const;
  std::vector<Milestone> to_average() const;

  std::string dir_;
  const Recipe& recipe_;
  std::vector<Milestone> milestones_;
  std::string start_hash_;
};

/// What changed between the recipe of a run and the one given now that would train another model. Keys that only say
/// how long, how often or where (train.stop, train.save, paths) may change.
std::vector<std::string> forbidden_changes(const Recipe& before, const Recipe& now);

}  // namespace attune
