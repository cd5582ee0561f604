#include "data/corpus/hold_out.h"

#include <algorithm>

#include "base/hash.h"
#include "base/random.h"

namespace attune {

HoldOut::HoldOut(uint64_t seed) : seed_(mix(seed, 0x686f6c64)) {}

void HoldOut::see(std::string_view source, std::string_view target, std::string_view content) {
  joined_.assign(content).append("\n").append(target);
  const uint64_t h = hash64(joined_, seed_);
  const int64_t number = seen_++;
  if (!many_ && different_.insert(h).second && different_.size() >= kMost * kShare) {
    many_ = true;
    different_ = {};
  }
  if (candidates_.size() == kMost && h > candidates_.rbegin()->first) return;
  candidates_.try_emplace(h, source, target);
  if (candidates_.size() > kMost) candidates_.erase(std::prev(candidates_.end()));
  places_.emplace_back(h, number);
  if (places_.size() >= forget_at_) forget();
}

/// Of all that were candidates once, few still are.
void HoldOut::forget() {
  if (candidates_.size() == kMost)
    std::erase_if(places_, [last = candidates_.rbegin()->first](const auto& p) { return p.first > last; });
  forget_at_ = std::max<size_t>(1 << 16, 2 * places_.size());
}

HoldOut::Chosen HoldOut::choose() const {
  Chosen chosen;
  const size_t n = different_.size();
  const size_t count = many_ ? kMost : std::min({std::max<size_t>(1, n / kShare), kMost, n - std::min<size_t>(n, 1)});
  if (count == 0) return chosen;
  const uint64_t last = std::next(candidates_.begin(), static_cast<std::ptrdiff_t>(count - 1))->first;
  std::unordered_set<uint64_t> taken;
  for (const auto& [h, number] : places_) {
    if (h > last) continue;
    chosen.all.push_back(number);
    if (!taken.insert(h).second) continue;
    chosen.first.push_back(number);
    chosen.source.push_back(candidates_.at(h).first);
    chosen.target.push_back(candidates_.at(h).second);
  }
  return chosen;
}

}  // namespace attune
