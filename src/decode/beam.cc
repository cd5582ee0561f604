#include "decode/beam.h"

#include <algorithm>

namespace attune {

bool Beam::hopeless(double log_prob) const {
  if (std::ssize(ended_) < options_.n_best) return false;
  // Log-probabilities only fall, and what is not covered only costs. The score of a longer one is best at one end of
  // the lengths it can still have.
  const double soon = log_prob / length_penalty(length() + 1, options_.length_penalty);
  const double late = log_prob / length_penalty(longest_ - given(), options_.length_penalty);
  return std::max(soon, late) <= ended_.back().score;
}

void Beam::choose(std::vector<Continuation>& ways) {
  std::sort(ways.begin(), ways.end(), [](const Continuation& a, const Continuation& b) {
    if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
    return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
  });
  next_.clear();
  int64_t rank = 0;
  for (const Continuation& w : ways) {
    if (std::ssize(next_) == options_.beam) break;
    if (w.token != options_.end) {
      grow(w, next_);
    } else if (rank < options_.beam) {
      end(w);
      if (options_.beam == 1) break;
    }
    ++rank;
  }
  living_.swap(next_);
  if (done()) return;
  while (!living_.empty() && hopeless(log_prob(living() - 1))) living_.pop_back();
}

}  // namespace attune
