// All keys that begin at a place of a text, shortest first: a tree of bytes in one array (Aoe 1989's double array), a
// step is one access. Filled once, read by any number of threads.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attune::text {

class Trie {
 public:
  /// Keys with their values, which are not negative. Of equal keys one stays; an empty one is left out.
  explicit Trie(std::vector<std::pair<std::string, int32_t>> keys);

  static constexpr int32_t kRoot = 0, kNowhere = -1;
  /// Where a byte leads, kNowhere if no key goes on like this.
  int32_t next(int32_t node, char byte) const {
    const int32_t to = units_[static_cast<size_t>(node)].base + static_cast<unsigned char>(byte);
    return units_[static_cast<size_t>(to)].parent == node ? to : kNowhere;
  }
  /// Of the key that ends here, negative when none does.
  int32_t value(int32_t node) const { return units_[static_cast<size_t>(node)].value; }

 private:
  static constexpr int32_t kFree = -2;
  struct Unit {
    int32_t base = 0, parent = kFree, value = -1;
  };
  bool fits(size_t base, const std::vector<unsigned char>& bytes) const;
  size_t place_for(const std::vector<unsigned char>& bytes);

  std::vector<Unit> units_;
  size_t search_from_ = 1;  // nearly all below are taken
};

}  // namespace attune::text
