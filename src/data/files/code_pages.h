// Encodings of text by their names, and the letters of those that have a byte for each.
#pragma once
#include <string_view>

namespace attune {

enum class Encoding {
  utf_8,
  iso_8859_1,
  windows_1252,
  windows_1250,
  iso_8859_2,
  windows_1251,
  koi8_r,
  windows_1253,
  windows_1254,
  utf_16
};
/// By its name in a recipe; ErrorKind::recipe for an unknown one.
Encoding encoding_of(std::string_view name);
const char* name_of(Encoding encoding);
/// Of an encoding with a letter for each byte; 0: the byte is none.
char32_t letter_of(Encoding encoding, unsigned char byte);

}  // namespace attune
