// No n tokens in a row are said twice (Paulus et al. 2018, "A deep reinforced model for abstractive summarization",
// section 2.5).
#pragma once
#include <algorithm>

#include "decode/logits_processor.h"

namespace attune {

class NoRepeatNgram : public LogitsProcessor {
 public:
  explicit NoRepeatNgram(int64_t n) : n_(static_cast<size_t>(n)) {}
  bool looks_back() const override { return true; }
  void ban(int64_t, std::span<const int32_t> said, std::vector<int32_t>& to) const override {
    if (said.size() < n_) return;
    const std::span<const int32_t> last = said.last(n_ - 1);
    for (size_t i = 0; i + n_ <= said.size(); ++i)
      if (std::equal(last.begin(), last.end(), said.begin() + static_cast<ptrdiff_t>(i)))
        to.push_back(said[i + n_ - 1]);
  }

 private:
  size_t n_;
};

}  // namespace attune
