#include "base/ngrams.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"

namespace attune {

int64_t with_ngrams(int64_t words, int64_t most) {
  int64_t all = words;
  for (int64_t n = 2; n <= most; ++n) all += std::max<int64_t>(0, words - n + 1);
  return all;
}

void add_ngrams(int64_t vocabulary, int64_t most, std::vector<int32_t>& ids) {
  const size_t words = ids.size();
  for (size_t n = 2; n <= static_cast<size_t>(most); ++n)
    for (size_t i = 0; i + n <= words; ++i) {
      const std::string_view bytes(reinterpret_cast<const char*>(ids.data() + i), n * sizeof(int32_t));
      ids.push_back(static_cast<int32_t>(vocabulary + static_cast<int64_t>(hash64(bytes, n) % kNgramIds)));
    }
}

}  // namespace attune
