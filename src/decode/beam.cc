#include "decode/beam.h"

#include <algorithm>
#include <cmath>

namespace attune {

double length_penalty(int64_t length, double exponent) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, exponent);
}

Beam::Beam(const SearchOptions& options, int64_t longest) : options_(options), longest_(longest) {
  nodes_.push_back({options.begin, -1});
  living_.push_back({0, 0, 0});
}

std::vector<int32_t> Beam::ids_of(int32_t node) const {
  std::vector<int32_t> ids;
  for (; node > 0; node = nodes_[static_cast<size_t>(node)].parent)
    ids.push_back(nodes_[static_cast<size_t>(node)].token);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

void Beam::collect(Hypothesis h) {
  const auto at = std::upper_bound(ended_.begin(), ended_.end(), h,
                                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  ended_.insert(at, std::move(h));
  if (std::ssize(ended_) > options_.n_best) ended_.pop_back();
}

bool Beam::hopeless(double log_prob) const {
  if (std::ssize(ended_) < options_.n_best) return false;
  // Log-probabilities only fall. The score of a longer one is best at one end of the lengths it can still have.
  const double soon = log_prob / length_penalty(length_ + 1, options_.length_penalty);
  const double late = log_prob / length_penalty(longest_, options_.length_penalty);
  return std::max(soon, late) <= ended_.back().score;
}

void Beam::advance(std::vector<Continuation>& ways) {
  if (ways.empty()) {  // a model whose numbers are none: what was said so far is all there will be
    longest_ = length_;
    return;
  }
  std::sort(ways.begin(), ways.end(), [](const Continuation& a, const Continuation& b) {
    if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
    return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
  });
  ++length_;
  const double penalty = length_penalty(length_, options_.length_penalty);
  next_.clear();
  int64_t rank = 0;
  for (const Continuation& w : ways) {
    if (std::ssize(next_) == options_.beam) break;
    const Living& from = living_[static_cast<size_t>(w.parent)];
    if (w.token != options_.end) {
      nodes_.push_back({w.token, from.node});
      next_.push_back({w.log_prob, static_cast<int32_t>(nodes_.size() - 1), w.parent});
    } else if (rank < options_.beam) {
      collect({ids_of(from.node), w.log_prob / penalty, w.log_prob, true});
      if (options_.beam == 1) break;
    }
    ++rank;
  }
  living_.swap(next_);
  if (done()) return;
  while (!living_.empty() && hopeless(living_.back().log_prob)) living_.pop_back();
}

std::vector<Hypothesis> Beam::result() const {
  std::vector<Hypothesis> all = ended_;
  const double penalty = length_penalty(length_, options_.length_penalty);
  for (const Living& l : living_) {
    if (std::ssize(all) >= options_.n_best) break;
    all.push_back({ids_of(l.node), l.log_prob / penalty, l.log_prob, false});
  }
  return all;
}

}  // namespace attune
