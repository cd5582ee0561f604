// The folder of a run: what is written there, and how a run goes on from it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attune/trainer.h"
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
  /// Whether the folder's own model is what a run that ended there left: then nothing is left to do.
  bool is_complete(const Progress& progress) const;
  /// At the end: the best one as it was validated, or where its weights are gone, the best that is there.
  FinalWeights best(const Progress& progress) const;
  /// At the end: the mean of the milestones that the recipe wants, of the later half of the run, and that of half as
  /// many. None where one checkpoint or less is left. They are still to be judged.
  std::vector<FinalWeights> means(const Progress& progress) const;
  /// Makes such weights the model's.
  void take(const FinalWeights& weights, Model& model, ThreadPool* pool) const;
  /// Makes the model, whose weights these are, the folder's own and the run's last word. `judged`: they have a score.
  void save_final(const FinalWeights& weights, bool judged, Learner& learner, const Progress& progress,
                  const Tokenizers& tokenizers);

 private:
  void check_start(const Checkpoint& from, const Recipe& before) const;
  ModelContents contents(Learner& learner, const Progress& progress, const Tokenizers& tokenizers) const;
  /// Those that may be averaged at the end, whenever that is.
  std::vector<Milestone> to_average() const;
  /// A folder that has the kept weights of an update: its checkpoint, or the run's own; "" where they are gone.
  std::string source_of(int64_t update) const;
  FinalWeights mean_of(std::span<const Milestone> milestones) const;

  std::string dir_;
  const Recipe& recipe_;
  std::vector<Milestone> milestones_;
  std::string start_hash_;
};

/// What changed between the recipe of a run and the one given now that would train another model. Keys that only say
/// how long, how often or where (train.stop, train.save, paths) may change.
std::vector<std::string> forbidden_changes(const Recipe& before, const Recipe& now);
/// ErrorKind::recipe where there are any, naming them; `dir` is the run's folder.
void refuse_changes(const std::string& dir, const Recipe& before, const Recipe& now);

}  // namespace attune
