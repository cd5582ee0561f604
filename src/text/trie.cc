#include "text/trie.h"

#include <algorithm>

namespace attune::text {

namespace {

constexpr size_t kByteValues = 256;

/// Keys [begin, end) of the sorted list share their first `depth` bytes, which lead to `node`.
struct Range {
  int32_t node;
  size_t begin, end, depth;
};

}  // namespace

Trie::Trie(std::vector<std::pair<std::string, int32_t>> keys) {
  std::erase_if(keys, [](const auto& k) { return k.first.empty(); });
  std::sort(keys.begin(), keys.end());
  units_.resize(2 * kByteValues);
  units_[0].parent = kNowhere;
  std::vector<Range> open{{kRoot, 0, keys.size(), 0}};
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i < open.size(); ++i) {  // grows on the way
    const Range range = open[i];
    size_t at = range.begin;
    for (; at < range.end && keys[at].first.size() == range.depth; ++at)
      units_[static_cast<size_t>(range.node)].value = keys[at].second;
    if (at == range.end) continue;
    const auto byte_of = [&](size_t k) { return static_cast<unsigned char>(keys[k].first[range.depth]); };
    bytes.clear();
    for (size_t k = at; k < range.end; ++k)
      if (bytes.empty() || bytes.back() != byte_of(k)) bytes.push_back(byte_of(k));
    const size_t base = place_for(bytes);
    units_[static_cast<size_t>(range.node)].base = static_cast<int32_t>(base);
    for (const unsigned char byte : bytes) {
      const size_t begin = at;
      while (at < range.end && byte_of(at) == byte) ++at;
      units_[base + byte].parent = range.node;
      open.push_back({static_cast<int32_t>(base + byte), begin, at, range.depth + 1});
    }
  }
}

bool Trie::fits(size_t base, const std::vector<unsigned char>& bytes) const {
  return std::all_of(bytes.begin(), bytes.end(), [&](unsigned char b) { return units_[base + b].parent == kFree; });
}

/// The first base under which all places are free. Any byte added to a base stays inside the array.
size_t Trie::place_for(const std::vector<unsigned char>& bytes) {
  size_t taken = 0, place = std::max<size_t>(search_from_, bytes[0]);
  const size_t from = place;
  for (;; ++place) {
    if (units_.size() < place + 2 * kByteValues) units_.resize(std::max(2 * units_.size(), place + 2 * kByteValues));
    if (units_[place].parent == kFree && fits(place - bytes[0], bytes)) break;
    taken += units_[place].parent != kFree;
  }
  if (taken * 20 > (place - from + 1) * 19) search_from_ = std::max(search_from_, place);
  return place - bytes[0];
}

}  // namespace attune::text
