// How long the rest of a run will take, validations included: by a few updates that are tried before it begins, and on
// the way by what it took so far. It only tells; nothing that is trained depends on it.
#pragma once
#include <optional>

#include "train/loop.h"

namespace attune {

/// Updates of the first batches, the time of each in the mean. They change nothing that a Learner's restart and new
/// weights do not undo: the rate is nought. None where the run, after `done` updates, is too short for them, or where
/// an update is of several batches: nobody knows how long that would be.
std::optional<Progress> try_updates(Learner& learner, const Corpus& corpus, const TrainOptions& options, int64_t done);

class TimeToGo {
 public:
  /// What is known of validations before the first: rows of the validation set, and whether it is translated too.
  struct Validations {
    int64_t rows = 0;
    bool translated = false;
    int64_t at_end = 0;  // those that judge what the run could end with
  };

  TimeToGo() = default;
  /// `tried`: of try_updates, from where a run begins; without it `guess` seconds are what the whole run takes.
  TimeToGo(const TrainOptions& options, int64_t corpus_size, const Validations& validations,
           std::optional<Progress> tried, double guess);
  /// From here on the updates of this run count.
  void begin(const Progress& progress) { begun_ = progress; }
  /// What the last validation took: translations of an untrained model are longer than those to come.
  void validated(double seconds) { validated_ = seconds; }
  /// 0: nobody knows.
  double seconds(const Progress& now) const;

 private:
  /// Seconds of updates, and of which progress they are.
  struct Pace {
    Progress from, to;
    double seconds() const { return to.seconds - from.seconds; }
  };
  double of_validation(const Pace& pace) const;
  double validations_left(const Pace& pace, const Progress& now, double seconds) const;

  TrainOptions options_;
  int64_t corpus_size_ = 1;
  Validations validations_;
  std::optional<Progress> tried_;
  double guess_ = 0;
  Progress begun_;
  std::optional<double> validated_;  // seconds
};

}  // namespace attune
