// Numbers to ids, for the inner loop of encoding: one array, filled once, read by any number of threads.
#pragma once
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace attune::text {

/// Two ids as one key.
inline uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

class IdMap {
 public:
  /// Room for so many keys.
  explicit IdMap(size_t count = 0) {
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    slots_.resize(slots);
  }
  /// A key that is there keeps its id.
  void add(uint64_t key, int32_t id) {
    Slot& slot = slots_[place(key)];
    if (slot.id < 0) slot = {key, id};
  }
  /// -1 when it is not there.
  int32_t find(uint64_t key) const { return slots_[place(key)].id; }

 private:
  struct Slot {
    uint64_t key = 0;
    int32_t id = -1;
  };
  size_t place(uint64_t key) const {
    size_t i = mix(key) & (slots_.size() - 1);
    while (slots_[i].id >= 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  std::vector<Slot> slots_;
};

}  // namespace attune::text
