#include "data/streams.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

Streams::Streams(int64_t tokens, int64_t window, int64_t batch_tokens) : tokens_(tokens) {
  check(tokens > 0 && window > 0, "streams", "{} tokens in windows of {}", tokens, window);
  count_ = std::max<int64_t>(1, std::min(batch_tokens, tokens) / window);
  const int64_t longest = (tokens + count_ - 1) / count_;
  batches_ = (longest + window - 1) / window;
}

int64_t Streams::tokens_before(int64_t batch) const {
  int64_t sum = 0;
  for (int64_t s = 0; s < count_; ++s) sum += border(s, batch) - begin(s);
  return sum;
}

int64_t Streams::batch_after(int64_t tokens) const {
  // Windows are rounded down: what t batches have is at most t / batches() of all, and less by at most a token a
  // stream.
  int64_t t = std::max<int64_t>(0, tokens * batches_ / tokens_);
  while (t < batches_ && tokens_before(t) < tokens) ++t;
  return tokens_before(t) == tokens ? t : -1;
}

}  // namespace attune
