// What a search has said of one sentence so far: a tree of tokens, of which some leaves live and may grow. How they
// grow is up to decode/beam.h and decode/samples.h. Knows no model.
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

class Hypotheses {
 public:
  /// The first tokens of all of them are `prefix`, which outlives this.
  Hypotheses(const SearchOptions& options, int64_t longest, std::span<const int32_t> prefix);
  virtual ~Hypotheses() = default;
  /// Instead of the begin mark, before the first advance().
  void begin_with(int32_t token) { nodes_[0].token = token; }

  /// Nothing lives, or what lives may not grow.
  bool done() const { return living_.empty() || length_ >= longest_; }
  int64_t living() const { return static_cast<int64_t>(living_.size()); }
  /// Tokens that each living one has said, without a prompt.
  int64_t length() const { return length_ - given(); }
  /// The log-probability of a living hypothesis, and the token it ends in.
  double log_prob(int64_t i) const { return of(i).log_prob; }
  int32_t last(int64_t i) const { return of(i).token; }
  /// What it has said, without the begin mark.
  void said(int64_t i, std::vector<int32_t>& to) const { ids_of(living_[static_cast<size_t>(i)].node, to); }
  /// Which of the living before the last advance() a hypothesis comes from.
  int32_t parent(int64_t i) const { return living_[static_cast<size_t>(i)].parent; }
  /// What all must say next; -1: anything.
  int32_t forced() const { return length_ < std::ssize(prefix_) ? prefix_[static_cast<size_t>(length_)] : int32_t{-1}; }

  /// How many continuations of each living hypothesis advance() wants to see.
  virtual int64_t wanted() const = 0;
  /// A number from 0 to below 1 that decides continuation `way` of a living hypothesis, where chance does.
  virtual double chance(int64_t /*i*/, int64_t /*way*/) const { return 0; }
  /// What the living attended to, [living, source], as they are about to go on: for the coverage penalty.
  void attended(std::span<const float> weights);
  /// One token more. `ways` holds the continuations wanted, or all there are, in any order; it may be sorted here.
  void advance(std::vector<Continuation>& ways);
  /// Tells what became certain with the last advance(): see SearchOptions::on_token.
  virtual void settle(const std::function<void(int64_t number, int32_t token)>& tell);
  /// They say no more.
  void stop() { longest_ = length_; }
  /// Best first; of the living only where too few have ended.
  std::vector<Hypothesis> result() const;

 protected:
  /// Which of the ways are gone, at the new length; there is at least one.
  virtual void choose(std::vector<Continuation>& ways) = 0;

  struct Node {
    int32_t token, parent;  // parent: a node, -1: none
    double log_prob;
  };
  struct Living {
    int32_t node, parent;
  };
  struct Ended {
    double score, log_prob;
    int32_t node;  // before the end mark
  };
  const Node& of(int64_t i) const { return nodes_[static_cast<size_t>(living_[static_cast<size_t>(i)].node)]; }
  void grow(const Continuation& way, std::vector<Living>& to);
  void end(const Continuation& way);
  void ids_of(int32_t node, std::vector<int32_t>& to) const;
  /// Tokens of a prompt.
  int64_t given() const { return options_.prompts ? std::ssize(prefix_) : 0; }

  const SearchOptions& options_;
  int64_t longest_, length_ = 0;
  std::vector<Living> living_, next_;
  std::vector<Ended> ended_;  // best first, at most n_best
  int64_t settled_ = 0;       // tokens that are certain

 private:
  Hypothesis told(int32_t node, double log_prob, double score, bool finished) const;
  /// By the log-probability of what living hypothesis i becomes at its end.
  double score(double log_prob, int64_t i) const;

  std::span<const int32_t> prefix_;
  std::vector<Node> nodes_;
  int32_t settled_node_ = 0;                     // the last token of those
  std::vector<float> coverage_, next_coverage_;  // [living, source], where it is asked for
};

}  // namespace attune
