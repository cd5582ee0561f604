#include "decode/hypotheses.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/portable_math.h"

namespace attune {

namespace {

constexpr double kLeast = 1e-9;  // of coverage: where nothing was attended to, a score is still a number

}  // namespace

double length_penalty(int64_t length, double exponent) {
  return portable::pow((5.0 + static_cast<double>(length)) / 6.0, exponent);
}

Hypotheses::Hypotheses(const SearchOptions& options, int64_t longest, std::span<const int32_t> prefix)
    : options_(options), longest_(longest), prefix_(prefix) {
  nodes_.push_back({options.begin, -1, 0});
  living_.push_back({0, 0});
}

void Hypotheses::ids_of(int32_t node, std::vector<int32_t>& to) const {
  to.clear();
  for (; node > 0; node = nodes_[static_cast<size_t>(node)].parent)
    to.push_back(nodes_[static_cast<size_t>(node)].token);
  std::reverse(to.begin(), to.end());
}

void Hypotheses::grow(const Continuation& way, std::vector<Living>& to) {
  nodes_.push_back({way.token, living_[static_cast<size_t>(way.parent)].node, way.log_prob});
  to.push_back({static_cast<int32_t>(nodes_.size() - 1), way.parent});
}

void Hypotheses::attended(std::span<const float> weights) {
  if (coverage_.empty()) coverage_.resize(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) coverage_[i] += weights[i];
}

void Hypotheses::advance(std::vector<Continuation>& ways) {
  if (ways.empty()) {  // a model whose numbers are none: what was said so far is all there will be
    longest_ = length_;
    return;
  }
  ++length_;
  const size_t before = living_.size();
  choose(ways);
  if (coverage_.empty()) return;
  const size_t source = coverage_.size() / before;
  next_coverage_.clear();
  for (const Living& l : living_) {
    const auto from = coverage_.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(l.parent) * source);
    next_coverage_.insert(next_coverage_.end(), from, from + static_cast<ptrdiff_t>(source));
  }
  coverage_.swap(next_coverage_);
}

double Hypotheses::score(double log_prob, int64_t i) const {
  double s = log_prob / length_penalty(std::max<int64_t>(length(), 1), options_.length_penalty);
  if (coverage_.empty() || living_.empty()) return s;
  const size_t source = coverage_.size() / living_.size();
  for (size_t j = static_cast<size_t>(i) * source; j < static_cast<size_t>(i + 1) * source; ++j)
    s += options_.coverage_penalty * portable::log(std::clamp(static_cast<double>(coverage_[j]), kLeast, 1.0));
  return s;
}

void Hypotheses::settle(const std::function<void(int64_t number, int32_t token)>& tell) {
  std::vector<int32_t> common, path;  // nodes below the settled one, the last first
  bool any = false;
  const auto meet = [&](int32_t node) {
    path.clear();
    for (; node != settled_node_; node = nodes_[static_cast<size_t>(node)].parent) path.push_back(node);
    std::reverse(path.begin(), path.end());
    if (!any) common = path;
    any = true;
    common.resize(static_cast<size_t>(std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first -
                                      common.begin()));
  };
  if (!ended_.empty()) meet(ended_.front().node);
  if (!done()) {
    for (const Living& l : living_) meet(l.node);
  } else if (ended_.empty() && !living_.empty()) {
    int64_t best = 0;
    for (int64_t i = 1; i < living(); ++i)
      if (log_prob(i) > log_prob(best)) best = i;
    meet(living_[static_cast<size_t>(best)].node);
  }
  for (const int32_t node : common) {
    settled_node_ = node;
    if (++settled_ > given()) tell(0, nodes_[static_cast<size_t>(node)].token);
  }
}

void Hypotheses::end(const Continuation& way) {
  const Ended e{score(way.log_prob, way.parent), way.log_prob, living_[static_cast<size_t>(way.parent)].node};
  const auto at = std::upper_bound(ended_.begin(), ended_.end(), e,
                                   [](const Ended& a, const Ended& b) { return a.score > b.score; });
  ended_.insert(at, e);
  if (std::ssize(ended_) > options_.n_best) ended_.pop_back();
}

Hypothesis Hypotheses::told(int32_t node, double log_prob, double score, bool finished) const {
  Hypothesis h;
  h.score = score;
  h.log_prob = log_prob;
  h.finished = finished;
  ids_of(node, h.ids);
  h.token_log_probs.resize(h.ids.size());
  double after = nodes_[static_cast<size_t>(node)].log_prob;
  if (finished) h.token_log_probs.push_back(log_prob - after);
  for (size_t i = h.ids.size(); i > 0; --i) {
    node = nodes_[static_cast<size_t>(node)].parent;
    const double before = nodes_[static_cast<size_t>(node)].log_prob;
    h.token_log_probs[i - 1] = after - before;
    after = before;
  }
  return h;
}

std::vector<Hypothesis> Hypotheses::result() const {
  std::vector<Hypothesis> all;
  for (const Ended& e : ended_) all.push_back(told(e.node, e.log_prob, e.score, true));
  std::vector<int64_t> order(living_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return log_prob(a) > log_prob(b); });
  for (const int64_t i : order) {
    if (std::ssize(all) >= options_.n_best) break;
    all.push_back(told(living_[static_cast<size_t>(i)].node, log_prob(i), score(log_prob(i), i), false));
  }
  return all;
}

}  // namespace attune
