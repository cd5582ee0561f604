// Text that is not written in UTF-8, turned into it piece by piece: what data.encoding names. LineReader uses it.
#pragma once
#include <string>
#include <string_view>

#include "data/files/code_pages.h"

namespace attune {

class TextDecoder {
 public:
  explicit TextDecoder(Encoding encoding) : encoding_(encoding) {}
  /// Appends what the bytes say. Of UTF-16, a mark at the begin tells the order of bytes; without one, the first letter
  /// does.
  void add(std::string_view bytes, std::string& out);
  /// At the end of the text: what is left.
  void finish(std::string& out);
  /// What is wrong with the bytes behind those that were appended last, and what to do; "" while all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  void begin(std::string& out);
  void add_byte(unsigned char byte, std::string& out);
  void add_unit(char32_t unit, std::string& out);

  Encoding encoding_;
  bool begun_ = false, big_ = false;  // big_: the high byte comes first
  int half_ = -1;                     // the first byte of a unit
  char32_t high_ = 0;                 // the first unit of a pair
  std::string first_;                 // the first bytes of a text, until it is clear what they are
  std::string trouble_;
};

}  // namespace attune
