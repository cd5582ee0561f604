#include "baseline/ngram_model.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace attune {

size_t GrowingMap::place(uint64_t key) const {
  size_t i = mix(key) & (slots_.size() - 1);
  while (slots_[i] != 0 && keys_[slots_[i] - 1] != key) i = (i + 1) & (slots_.size() - 1);
  return i;
}

void GrowingMap::grow() {
  slots_.assign(std::max<size_t>(64, 2 * slots_.size()), 0);
  for (size_t n = 0; n < keys_.size(); ++n) slots_[place(keys_[n])] = static_cast<uint32_t>(n + 1);
}

uint32_t GrowingMap::add(uint64_t key, bool* is_new) {
  if (3 * (keys_.size() + 1) > 2 * slots_.size()) grow();
  uint32_t& slot = slots_[place(key)];
  *is_new = slot == 0;
  if (*is_new) {
    keys_.push_back(key);
    slot = static_cast<uint32_t>(keys_.size());
  }
  return slot;
}

NgramModel::NgramModel(int order, int64_t words) : words_(words), lengths_(static_cast<size_t>(order) + 1) {}

NgramModel::State NgramModel::begin() const { return State(lengths_.size() - 1, 0); }

void NgramModel::add(std::span<const int32_t> text) {
  const size_t order = lengths_.size() - 1;
  State before = begin(), now(order + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    for (size_t n = 1; n <= order; ++n) {
      Length& own = lengths_[n];
      bool is_new = false;
      now[n] = own.ngrams.add(key_of(before[n - 1], text[i]), &is_new);
      if (is_new) own.counts.push_back(0);
      const bool at_begin = i + 1 < n;
      if (n == order || at_begin) ++own.counts[now[n]];
      // The n-gram without its first word was said after another word.
      if (is_new && n > 1 && i + 2 > n - 1) ++lengths_[n - 1].counts[now[n - 1]];
    }
    for (size_t n = 1; n < order; ++n) before[n] = now[n];
  }
}

void NgramModel::estimate_discounts(Length& length) const {
  std::array<double, 5> of{};  // how many n-grams have such counts
  for (const uint32_t c : length.counts)
    if (c > 0 && c < of.size()) ++of[c];
  const double y = of[1] > 0 ? of[1] / (of[1] + 2 * of[2]) : 0.5;
  for (size_t c = 1; c <= 3; ++c) {
    const auto count = static_cast<double>(c);
    const double d = of[c] > 0 ? count - (count + 1) * y * of[c + 1] / of[c] : 0.5 * count;
    length.discount[c] = std::clamp(d, 0.1, count - 0.1);
  }
}

void NgramModel::finish() {
  for (size_t n = 1; n < lengths_.size(); ++n) {
    Length &own = lengths_[n], &shorter = lengths_[n - 1];
    estimate_discounts(own);
    shorter.total.assign(shorter.counts.size(), 0.0);
    shorter.given.assign(shorter.counts.size(), 0.0);
    for (uint32_t g = 1; g < own.counts.size(); ++g) {
      const auto before = static_cast<uint32_t>(own.ngrams.key(g) >> 32);
      shorter.total[before] += own.counts[g];
      shorter.given[before] += own.discount[std::min<uint32_t>(own.counts[g], 3)];
    }
  }
}

uint32_t NgramModel::find(size_t length, uint32_t before, int32_t word) const {
  if (before == kNone) return kNone;
  const uint32_t g = lengths_[length].ngrams.find(key_of(before, word));
  return g == 0 ? kNone : g;
}

double NgramModel::probability(const State& state, int32_t word) const {
  double p = 1 / static_cast<double>(words_);
  for (size_t n = 1; n < lengths_.size(); ++n) {
    const uint32_t before = state[n - 1];
    if (before == kNone) break;  // nor is there a longer one
    const Length &own = lengths_[n], &shorter = lengths_[n - 1];
    if (!(shorter.total[before] > 0)) continue;
    const uint32_t g = find(n, before, word);
    const uint32_t count = g == kNone ? 0 : own.counts[g];
    p = (count - own.discount[std::min<uint32_t>(count, 3)] + shorter.given[before] * p) / shorter.total[before];
  }
  return p;
}

void NgramModel::read(int32_t word, State& state) const {
  for (size_t n = state.size() - 1; n > 0; --n) state[n] = find(n, state[n - 1], word);
}

double NgramModel::nats(std::span<const int32_t> text) const {
  State state = begin();
  double sum = 0;
  for (const int32_t word : text) {
    sum -= std::log(probability(state, word));
    read(word, state);
  }
  return sum;
}

}  // namespace attune
