// Fingerprints of content: is a corpus, a vocabulary, a file of a model still what it was? XXH3; not for secrets.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace attune {

/// 128 bits of content that comes in pieces.
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
uint64_t hash64(std::string_view bytes, uint64_t seed = 0);

}  // namespace attune
