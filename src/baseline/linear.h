// A linear model over sparse rows, learned row by row on one thread: softmax or logistic regression, or least squares.
// For baselines alone: nearly as quick as counting.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace attune {

struct Feature {
  uint32_t column = 0;
  float value = 0;
};

/// Rows of features, one after another.
class SparseRows {
 public:
  /// Scaled to length 1, so that long texts count as short ones do.
  void add(std::span<const Feature> row);
  int64_t count() const { return std::ssize(start_) - 1; }
  std::span<const Feature> operator[](int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return {features_.data() + start_[at], static_cast<size_t>(start_[at + 1] - start_[at])};
  }

 private:
  std::vector<Feature> features_;
  std::vector<int64_t> start_{0};
};

/// What outputs mean: one of them is right, any number of them are, or they are numbers.
enum class LinearLink { one, any, number };

class LinearModel {
 public:
  LinearModel(int64_t columns, int64_t outputs, LinearLink link);
  /// One row more: a step of AdaGrad (Duchi et al. 2011, "Adaptive subgradient methods for online learning and
  /// stochastic optimization"). `wanted`: 1 for outputs that are right, 0 for others; or the numbers.
  void learn(std::span<const Feature> row, std::span<const float> wanted);
  /// Of each output: its probability, or the number. Valid until the next call.
  std::span<const float> ask(std::span<const Feature> row);

 private:
  LinearLink link_;
  size_t outputs_;
  std::vector<float> weights_, squares_;  // [columns + 1, outputs]: the last row is always there
  std::vector<float> said_;
};

/// Learns all rows, several times over as far as that is quick, in an order of its own. `wanted` fills in what is right
/// for a row.
using WantedOfRow = std::function<void(int64_t row, std::span<float> wanted)>;
LinearModel fit_linear(const SparseRows& rows, const WantedOfRow& wanted, LinearModel model, int64_t outputs);

/// Columns for features that are hashed: a power of two, so many that few share one and weights stay small.
int64_t hashed_columns(int64_t features, int64_t outputs);

}  // namespace attune
