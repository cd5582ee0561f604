// Whether a run that learned something is losing it again: divergence that stays finite. Three numbers, which a
// checkpoint keeps.
//
// What counts is the mean of about the last hundred losses against the best such mean so far. It is trouble when the
// mean has given back half of all that was ever learned, counted from a model that guesses (ln of the vocabulary), and
// at least 1.5 nats. No run that learns does that:
//   - the noise of small batches is a few tenths of a nat, and a tenth of that in the mean;
//   - a spike is over after a few updates, and counts as no more than twice the guess: it takes dozens in a row;
//   - warm-up, label smoothing and noise in the data shift the loss slowly and by tenths;
//   - small sets that are learned by heart go down, and where they come up again it is in validation, not here;
//   - a new vocabulary, or a start that is sure of the wrong things, begins high and goes down: the first loss,
//     before any update, is the first best.
// Texts that are read in order may get harder for long (another language): there the mean must be worse than guessing.
#pragma once
#include <algorithm>
#include <cstdint>

namespace attune {

struct LossTrend {
  static constexpr int64_t kWindow = 100, kSettled = 20;
  static constexpr double kLeast = 1.5;

  int64_t count = 0;
  double mean = 0, best = 0;

  /// What it is measured against.
  struct Scale {
    double guess = 0;       // the loss of a model that finds all words alike
    bool in_order = false;  // the data is not shuffled
  };
  /// The loss of one more update.
  void add(double loss, const Scale& s) {
    const double x = std::min(loss, s.guess + std::max(s.guess, 4.0));
    ++count;
    mean += (x - mean) / static_cast<double>(std::min(count, kWindow));
    if (count == 1 || (count >= kSettled && mean < best)) best = mean;
  }
  /// Where trouble begins.
  double limit(const Scale& s) const {
    const double limit = best + std::max((s.guess - best) / 2, kLeast);
    return s.in_order ? std::max(limit, s.guess + kLeast / 2) : limit;
  }
  bool diverged(const Scale& s) const { return count >= kWindow && mean > limit(s); }
  /// Whether nothing of the kind is under way, so that this is a state to go back to.
  bool calm(double loss, const Scale& s) const { return std::max(mean, (mean + loss) / 2) <= (best + limit(s)) / 2; }
};

}  // namespace attune
