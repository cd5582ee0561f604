// Text as characters (Unicode code points). Nothing here fails: bytes that are not UTF-8 become U+FFFD, one for each
// longest run of bytes that begins a character but does not finish it, and one for any other byte that can't stand
// where it stands (Unicode's "maximal subparts", as browsers do). Such a run counts as one character.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune::text {

inline constexpr char32_t kReplacement = 0xFFFD;

struct Character {
  char32_t code = 0;
  uint32_t bytes = 0;   // it takes, at least 1
  bool broken = false;  // the bytes are not UTF-8; code is U+FFFD
};

/// The first character of a text that is not empty.
Character first_character(std::string_view text);

void append_utf8(std::string& out, char32_t code);

/// The characters of a text, one after another: for (Character c : Characters(line)) ...
class Characters {
 public:
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) { read(); }
    Character operator*() const { return character_; }
    Iterator& operator++() {
      rest_.remove_prefix(character_.bytes);
      read();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return rest_.size() != other.rest_.size(); }

   private:
    void read() {
      if (!rest_.empty()) character_ = first_character(rest_);
    }
    std::string_view rest_;
    Character character_;
  };
  explicit Characters(std::string_view text) : text_(text) {}
  Iterator begin() const { return Iterator(text_); }
  Iterator end() const { return Iterator(text_.substr(text_.size())); }

 private:
  std::string_view text_;
};

bool is_utf8(std::string_view text);
/// The same text with U+FFFD for what is broken.
std::string repaired(std::string_view text);
/// Where each character begins, in bytes, and at last the size: turns offsets in characters into offsets in bytes.
std::vector<size_t> character_starts(std::string_view text);

}  // namespace attune::text
