#include "decode/samples.h"

#include "base/random.h"

namespace attune {

Samples::Samples(const SearchOptions& options, int64_t longest, std::span<const int32_t> prefix, uint64_t key)
    : Hypotheses(options, longest, prefix), key_(mix(options.sampling.seed, key)) {}

double Samples::chance(int64_t i, int64_t way) const {
  const int64_t number = length_ == 0 ? way : number_[static_cast<size_t>(i)];
  Random random(mix(mix(key_, static_cast<uint64_t>(number)), static_cast<uint64_t>(length_)));
  return random.uniform();
}

void Samples::settle(const std::function<void(int64_t number, int32_t token)>& tell) {
  if (settled_ == length_) return;  // nothing could be said
  settled_ = length_;
  if (settled_ <= given()) return;
  for (int64_t i = 0; i < living(); ++i) tell(number_[static_cast<size_t>(i)], last(i));
}

void Samples::choose(std::vector<Continuation>& ways) {
  next_.clear();
  next_number_.clear();
  for (size_t w = 0; w < ways.size(); ++w) {
    const int32_t number = number_.empty() ? static_cast<int32_t>(w) : number_[static_cast<size_t>(ways[w].parent)];
    if (ways[w].token == options_.end) {
      end(ways[w]);
      continue;
    }
    grow(ways[w], next_);
    next_number_.push_back(number);
  }
  living_.swap(next_);
  number_.swap(next_number_);
}

}  // namespace attune
