#include "decode/rules.h"

#include <algorithm>

namespace attune {

void Rules::weigh(std::vector<int32_t>& said, float* logits) const {
  const auto by = static_cast<float>(options_.repetition_penalty);
  std::sort(said.begin(), said.end());
  said.erase(std::unique(said.begin(), said.end()), said.end());  // once is enough
  for (const int32_t id : said) logits[id] = logits[id] > 0 ? logits[id] / by : logits[id] * by;
}

void Rules::ban(int64_t length, std::span<const int32_t> said, std::vector<int32_t>& to) const {
  if (length < options_.shortest && options_.end >= 0) to.push_back(options_.end);
  const auto n = static_cast<size_t>(options_.no_repeat);
  if (n == 0 || said.size() < n) return;
  const std::span<const int32_t> last = said.last(n - 1);
  for (size_t i = 0; i + n <= said.size(); ++i)
    if (std::equal(last.begin(), last.end(), said.begin() + static_cast<ptrdiff_t>(i))) to.push_back(said[i + n - 1]);
}

}  // namespace attune
