// A fingerprint of text: tells whether a corpus is still the one a run began with. XXH3, 128 bits; not for secrets.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace attune {

class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;

  void add(std::string_view bytes);
  /// Of all that was added so far, in hexadecimal.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 64 bits of a piece of text; another seed gives another function.
uint64_t hash_of(std::string_view bytes, uint64_t seed = 0);

}  // namespace attune
