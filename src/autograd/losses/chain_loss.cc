#include "autograd/losses/chain_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/operands.h"
#include "base/portable_math.h"

namespace attune {

namespace {

double log_sum_exp(const double* x, int64_t n) {
  const double most = *std::max_element(x, x + n);
  if (!std::isfinite(most)) return most;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += portable::exp(x[i] - most);
  return most + portable::log(sum);
}

/// One sequence at a time, in double.
class Chain {
 public:
  explicit Chain(const ChainLoss& a)
      : a_(a), labels_(a.moves.cols()), moves_(size(labels_ + 2)), term_(static_cast<size_t>(labels_)) {
    by_type(a.moves.dtype(), [&](auto t) {
      for (int64_t i = 0; i < labels_ + 2; ++i)
        for (int64_t j = 0; j < labels_; ++j)
          moves_[index(i, j)] = static_cast<double>(a.moves.value().row<decltype(t)>(i)[j]);
    });
  }

  /// Reads sequence s. Its -log p.
  double loss(int64_t s) {
    from_ = a_.segments->begin(s);
    n_ = a_.segments->length(s);
    if (n_ == 0) return 0;
    read_scores();
    forward_.resize(size(n_));
    if (has_gaps()) return loss_with_gaps();
    double path = 0;
    for (int64_t t = 0; t < n_; ++t)
      path += scores_[index(t, target(t))] + moves_[index(t == 0 ? labels_ : target(t - 1), target(t))];
    all_ = run_forward();
    return all_ - path - moves_[index(labels_ + 1, target(n_ - 1))];
  }

  /// Of the sequence that was read: what scores (their own rows) and moves get is probable minus true.
  void slopes(double by, std::vector<double>& scores, std::vector<double>& moves) {
    scores.assign(size(n_), 0);
    if (n_ == 0) return;
    add_probable(by, scores, moves);
    if (has_gaps()) {  // minus what is probable among the sequences that fit
      keep_what_fits();
      all_ = run_forward();
      return add_probable(-by, scores, moves);
    }
    for (int64_t t = 0; t < n_; ++t) scores[index(t, target(t))] -= by;
    moves[index(labels_, target(0))] -= by;
    moves[index(labels_ + 1, target(n_ - 1))] -= by;
    for (int64_t t = 1; t < n_; ++t) moves[index(target(t - 1), target(t))] -= by;
  }
  /// What the loss of a sequence is multiplied by.
  double weight(int64_t s) const {
    const bool own = a_.weights && a_.segments->length(s) > 0;
    return static_cast<double>(a_.scale) *
           (own ? static_cast<double>(a_.weights.as<float>()[a_.segments->begin(s)]) : 1.0);
  }
  size_t size(int64_t rows) const { return static_cast<size_t>(rows * labels_); }

 private:
  size_t index(int64_t row, int64_t label) const { return static_cast<size_t>(row * labels_ + label); }
  int64_t target(int64_t t) const { return a_.targets.as<int32_t>()[from_ + t]; }
  double probable(double score) const { return portable::exp(score - all_); }

  bool has_gaps() const {
    for (int64_t t = 0; t < n_; ++t)
      if (target(t) < 0) return true;
    return false;
  }
  double loss_with_gaps() {
    const std::vector<double> scores = scores_;
    keep_what_fits();
    const double fits = run_forward();
    scores_ = scores;
    all_ = run_forward();
    return all_ - fits;
  }
  /// Other labels than those that are known can't be.
  void keep_what_fits() {
    for (int64_t t = 0; t < n_; ++t)
      for (int64_t j = 0; j < labels_; ++j)
        if (target(t) >= 0 && target(t) != j) scores_[index(t, j)] = -std::numeric_limits<double>::infinity();
  }
  /// The log of the sum over all sequences of labels that the scores allow.
  double run_forward() {
    for (int64_t t = 0; t < n_; ++t)
      for (int64_t j = 0; j < labels_; ++j) {
        for (int64_t i = 0; i < labels_; ++i)
          term_[static_cast<size_t>(i)] =
              t == 0 ? moves_[index(labels_, j)] : forward_[index(t - 1, i)] + moves_[index(i, j)];
        forward_[index(t, j)] = scores_[index(t, j)] + log_sum_exp(term_.data(), t == 0 ? 1 : labels_);
      }
    for (int64_t i = 0; i < labels_; ++i)
      term_[static_cast<size_t>(i)] = forward_[index(n_ - 1, i)] + moves_[index(labels_ + 1, i)];
    return log_sum_exp(term_.data(), labels_);
  }
  /// Adds `by` times the probabilities of labels and moves, after run_forward().
  void add_probable(double by, std::vector<double>& scores, std::vector<double>& moves) {
    backward_.resize(size(n_));
    for (int64_t i = 0; i < labels_; ++i) backward_[index(n_ - 1, i)] = moves_[index(labels_ + 1, i)];
    for (int64_t t = n_ - 2; t >= 0; --t)
      for (int64_t i = 0; i < labels_; ++i) {
        for (int64_t j = 0; j < labels_; ++j)
          term_[static_cast<size_t>(j)] = moves_[index(i, j)] + scores_[index(t + 1, j)] + backward_[index(t + 1, j)];
        backward_[index(t, i)] = log_sum_exp(term_.data(), labels_);
      }
    for (int64_t t = 0; t < n_; ++t)
      for (int64_t j = 0; j < labels_; ++j) {
        const double p = by * probable(forward_[index(t, j)] + backward_[index(t, j)]);
        scores[index(t, j)] += p;
        if (t == 0) moves[index(labels_, j)] += p;
        if (t == n_ - 1) moves[index(labels_ + 1, j)] += p;
        for (int64_t i = 0; i < labels_ && t > 0; ++i)
          moves[index(i, j)] += by * probable(forward_[index(t - 1, i)] + moves_[index(i, j)] + scores_[index(t, j)] +
                                              backward_[index(t, j)]);
      }
  }
  void read_scores() {
    scores_.resize(size(n_));
    by_type(a_.scores.dtype(), [&](auto t) {
      for (int64_t i = 0; i < n_; ++i)
        for (int64_t j = 0; j < labels_; ++j)
          scores_[index(i, j)] = static_cast<double>(a_.scores.value().row<decltype(t)>(from_ + i)[j]);
    });
  }

  const ChainLoss& a_;
  const int64_t labels_;
  std::vector<double> moves_, term_;
  // of the sequence at hand
  int64_t from_ = 0, n_ = 0;
  std::vector<double> scores_, forward_, backward_;
  double all_ = 0;  // log of the sum over all sequences of labels
};

template <class T>
void put(const std::vector<double>& from, const Grad& to, int64_t first_row) {
  const int64_t cols = to.tensor.cols();
  for (int64_t i = 0; i < std::ssize(from); ++i) {
    T& x = to.tensor.row<T>(first_row + i / cols)[i % cols];
    x = static_cast<T>(from[static_cast<size_t>(i)]) + (to.add ? x : T{0});
  }
}

void flow_back(Ctx& ctx, const ChainLoss& a, const Sink& y) {
  const Grad ds = ctx.grad(a.scores), dm = ctx.grad(a.moves);
  ctx.run([&] {
    by_type(a.scores.dtype(), [&](auto t) {
      using T = decltype(t);
      const auto by = static_cast<double>(*ctx.grad_of(y).as<T>());
      Chain chain(a);
      std::vector<double> scores, moves(chain.size(a.moves.rows()), 0.0);
      for (int64_t s = 0; s < a.segments->count(); ++s) {
        chain.loss(s);
        chain.slopes(by * chain.weight(s), scores, moves);
        if (ds) put<T>(scores, ds, a.segments->begin(s));
      }
      if (dm) put<T>(moves, dm, 0);
    });
  });
}

}  // namespace

Var chain_loss(Ctx& ctx, const ChainLoss& a) {
  check_real("chain_loss", "scores", a.scores);
  check_given("chain_loss", "moves", a.moves);
  check_same_type("chain_loss", a.scores, a.moves);
  check(a.segments != nullptr, "chain_loss", "segments are missing");
  check_segments("chain_loss", *a.segments, a.scores);
  const int64_t labels = a.scores.cols();
  check(labels > 0, "chain_loss", "there are no labels");
  check(a.moves.cols() == labels && a.moves.rows() == labels + 2, "chain_loss",
        "moves are {}, for {} labels they must be [{}, {}]", a.moves.shape().text(), labels, labels + 2, labels);
  check(a.targets.dtype == DType::i32 && a.targets.size() == a.scores.rows(), "chain_loss", "{} targets for {} rows",
        a.targets.size(), a.scores.rows());
  check(!a.weights || a.weights.size() == a.scores.rows(), "chain_loss", "{} weights for {} rows", a.weights.size(),
        a.scores.rows());
  Var y = ctx.make({1}, a.scores.dtype(), {&a.scores, &a.moves});
  ctx.run([&] {
    for (int64_t i = 0; i < a.targets.size(); ++i)
      check(a.targets.as<int32_t>()[i] < labels, "chain_loss", "row {}: target {}, there are {} labels", i,
            a.targets.as<int32_t>()[i], labels);
    Chain chain(a);
    double sum = 0;
    for (int64_t s = 0; s < a.segments->count(); ++s) {
      const double loss = chain.loss(s);
      sum += chain.weight(s) * loss;
    }
    by_type(y.dtype(), [&](auto t) { *y.value().as<decltype(t)>() = static_cast<decltype(t)>(sum); });
  });
  if (y.needs_grad()) ctx.tape->push(y, [a, y = y.sink()](Ctx& ctx) { flow_back(ctx, a, y); });
  return y;
}

}  // namespace attune
