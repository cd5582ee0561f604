#include "measure/ngrams.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

#include "base/random.h"

namespace attune {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

void Numbering::reset(size_t most) {
  const size_t places = std::bit_ceil(2 * most + 1);
  keys_.resize(places);
  numbers_.assign(places, kNone);
  size_ = 0;
}

uint32_t Numbering::number(uint64_t key) {
  const size_t mask = keys_.size() - 1;
  size_t at = mix(key) & mask;
  for (; numbers_[at] != kNone; at = (at + 1) & mask)
    if (keys_[at] == key) return numbers_[at];
  keys_[at] = key;
  return numbers_[at] = size_++;
}

std::vector<Ids> number_words(const std::vector<std::vector<std::string_view>>& lines) {
  std::unordered_map<std::string_view, uint32_t> known;
  std::vector<Ids> out;
  for (const auto& words : lines) {
    Ids& ids = out.emplace_back();
    ids.reserve(words.size());
    for (std::string_view word : words)
      ids.push_back(known.try_emplace(word, static_cast<uint32_t>(known.size())).first->second);
  }
  return out;
}

Ngrams::Ngrams(std::vector<Ids> sequences) : elements_(std::move(sequences)), ids_(elements_) {
  for (const Ids& s : elements_)
    for (uint32_t id : s) distinct_ = std::max(distinct_, id + 1);
}

void Ngrams::longer() {
  ++order_;
  size_t most = 0;
  for (const Ids& s : ids_) most += s.size();
  Numbering numbers(most);
  for (size_t k = 0; k < ids_.size(); ++k) {
    Ids& ids = ids_[k];
    if (!ids.empty()) ids.pop_back();
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = numbers.number(uint64_t{ids[i]} << 32 | elements_[k][i + order_ - 1]);
  }
  distinct_ = numbers.size();
}

int64_t Ngrams::matches(size_t k, size_t other) const {
  std::vector<uint32_t> left(distinct_, 0);
  for (uint32_t id : ids_[other]) ++left[id];
  int64_t found = 0;
  for (uint32_t id : ids_[k])
    if (left[id] > 0) {
      --left[id];
      ++found;
    }
  return found;
}

int64_t Ngrams::matches_any(size_t k, size_t first) const {
  if (ids_.size() == first + 1) return matches(k, first);
  std::vector<uint32_t> left(distinct_, 0), count(distinct_);
  for (size_t other = first; other < ids_.size(); ++other) {
    std::fill(count.begin(), count.end(), 0);
    for (uint32_t id : ids_[other]) left[id] = std::max(left[id], ++count[id]);
  }
  int64_t found = 0;
  for (uint32_t id : ids_[k])
    if (left[id] > 0) {
      --left[id];
      ++found;
    }
  return found;
}

}  // namespace attune
