// The beam of one sentence: which hypotheses live, which have ended, and when to stop. Knows no model.
#pragma once
#include <span>

#include "decode/search.h"

namespace attune {

/// A way to go on: the log-probability of a hypothesis with one token more.
struct Continuation {
  double log_prob = 0;
  int32_t parent = 0;  // index among the living
  int32_t token = 0;
};

class Beam {
 public:
  Beam(const SearchOptions& options, int64_t longest);

  /// Nothing lives, or what lives may not grow.
  bool done() const { return living_.empty() || length_ >= longest_; }
  int64_t living() const { return static_cast<int64_t>(living_.size()); }
  /// The log-probability of a living hypothesis, and the token it ends in.
  double log_prob(int64_t i) const { return living_[static_cast<size_t>(i)].log_prob; }
  int32_t last(int64_t i) const { return nodes_[static_cast<size_t>(living_[static_cast<size_t>(i)].node)].token; }
  /// Which of the living before the last advance() a hypothesis comes from.
  int32_t parent(int64_t i) const { return living_[static_cast<size_t>(i)].parent; }

  /// One token more. `ways` holds at least the best beam + 1 continuations of each living hypothesis, in any order; it
  /// is sorted here.
  void advance(std::vector<Continuation>& ways);
  /// Best first; of the living only where too few have ended.
  std::vector<Hypothesis> result() const;

 private:
  struct Node {
    int32_t token, parent;  // parent: a node, -1: none
  };
  struct Living {
    double log_prob;
    int32_t node, parent;
  };
  bool hopeless(double log_prob) const;
  std::vector<int32_t> ids_of(int32_t node) const;
  void collect(Hypothesis h);

  const SearchOptions& options_;
  int64_t longest_, length_ = 0;
  std::vector<Node> nodes_;
  std::vector<Living> living_, next_;
  std::vector<Hypothesis> ended_;  // best first, at most n_best
};

}  // namespace attune
