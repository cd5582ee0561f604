#include "baseline/linear.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace attune {

namespace {

constexpr float kLinearRate = 0.2f;
constexpr int64_t kLinearRounds = 10;
constexpr int64_t kLinearWork = 300'000'000;  // multiplications, about half a second
constexpr int64_t kMostLinearWeights = 1 << 22;

}  // namespace

void SparseRows::add(std::span<const Feature> row) {
  double sum = 0;
  for (const Feature& f : row) sum += static_cast<double>(f.value) * f.value;
  const auto scale = static_cast<float>(sum > 0 ? 1 / std::sqrt(sum) : 0);
  for (const Feature& f : row) features_.push_back({f.column, f.value * scale});
  start_.push_back(std::ssize(features_));
}

LinearModel::LinearModel(int64_t columns, int64_t outputs, LinearLink link)
    : link_(link),
      outputs_(static_cast<size_t>(outputs)),
      weights_(static_cast<size_t>((columns + 1) * outputs), 0.0f),
      squares_(weights_.size(), 0.0f),
      said_(outputs_) {}

std::span<const float> LinearModel::ask(std::span<const Feature> row) {
  const float* always = weights_.data() + weights_.size() - outputs_;
  std::copy(always, always + outputs_, said_.begin());
  for (const Feature& f : row) {
    const float* w = weights_.data() + f.column * outputs_;
    for (size_t o = 0; o < outputs_; ++o) said_[o] += f.value * w[o];
  }
  if (link_ == LinearLink::any)
    for (float& s : said_) s = 1 / (1 + std::exp(-s));
  if (link_ != LinearLink::one) return said_;
  const float most = *std::max_element(said_.begin(), said_.end());
  float sum = 0;
  for (float& s : said_) sum += s = std::exp(s - most);
  for (float& s : said_) s /= sum;
  return said_;
}

void LinearModel::learn(std::span<const Feature> row, std::span<const float> wanted) {
  ask(row);
  for (size_t o = 0; o < outputs_; ++o) said_[o] -= wanted[o];  // the gradient, whatever the link
  const auto step = [&](size_t column, float value) {
    float *w = weights_.data() + column * outputs_, *s = squares_.data() + column * outputs_;
    for (size_t o = 0; o < outputs_; ++o) {
      const float g = said_[o] * value;
      s[o] += g * g;
      w[o] -= kLinearRate * g / (std::sqrt(s[o]) + 1e-6f);
    }
  };
  for (const Feature& f : row) step(f.column, f.value);
  step(weights_.size() / outputs_ - 1, 1.0f);
}

LinearModel fit_linear(const SparseRows& rows, const WantedOfRow& wanted, LinearModel model, int64_t outputs) {
  std::vector<int64_t> order(static_cast<size_t>(rows.count()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<float> right(static_cast<size_t>(outputs));
  int64_t left = kLinearWork;
  for (int64_t round = 0; round < kLinearRounds; ++round) {
    Random random(mix(0x6c696e656172, static_cast<uint64_t>(round)));
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const int64_t row : order) {
      left -= (std::ssize(rows[row]) + 1) * outputs;
      if (left < 0) return model;
      std::fill(right.begin(), right.end(), 0.0f);
      wanted(row, right);
      model.learn(rows[row], right);
    }
  }
  return model;
}

int64_t hashed_columns(int64_t features, int64_t outputs) {
  int64_t columns = 1 << 10;
  while (columns < 2 * features && 2 * columns * outputs <= kMostLinearWeights) columns *= 2;
  return columns;
}

}  // namespace attune
