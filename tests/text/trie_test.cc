#include "text/trie.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace attune::text {
namespace {

int32_t find(const Trie& trie, const std::string& key) {
  int32_t node = Trie::kRoot;
  for (const char byte : key)
    if ((node = trie.next(node, byte)) == Trie::kNowhere) return -1;
  return trie.value(node);
}

TEST(Trie, FindsItsKeysAndNothingElse) {
  Random random(1);
  const auto random_key = [&] {
    std::string key;
    for (uint64_t n = 1 + random.below(6); n > 0; --n)
      key += static_cast<char>(random.below(3) ? 'a' + random.below(4) : random.next());
    return key;
  };
  for (const size_t count : {0, 1, 10, 5000}) {
    std::map<std::string, int32_t> keys;
    while (keys.size() < count) keys.emplace(random_key(), static_cast<int32_t>(keys.size()));
    const Trie trie({keys.begin(), keys.end()});
    for (const auto& [key, value] : keys) ASSERT_EQ(find(trie, key), value);
    for (int i = 0; i < 5000; ++i) {
      const std::string key = random_key();
      ASSERT_EQ(find(trie, key), keys.contains(key) ? keys[key] : -1);
    }
    EXPECT_EQ(find(trie, ""), -1);
  }
}

TEST(Trie, EveryByteMayBeInAKey) {
  std::vector<std::pair<std::string, int32_t>> keys{{"", 7}};
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; b += 5)
      keys.emplace_back(std::string{static_cast<char>(a), static_cast<char>(b)}, a * 256 + b);
  const Trie trie(keys);
  for (const auto& [key, value] : keys) ASSERT_EQ(find(trie, key), key.empty() ? -1 : value);
}

}  // namespace
}  // namespace attune::text
