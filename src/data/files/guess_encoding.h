// Which encoding a file that is not UTF-8 has, by the language that its bytes would make. `attune new` asks, and
// training where it refuses a file.
#pragma once
#include <string>
#include <string_view>

namespace attune {

struct EncodingGuess {
  std::string name = "utf-8";  // as iconv and, where it is known there, data.encoding call it; "": nothing fits
  bool known = true;           // data.encoding takes it
  bool plain = false;          // nothing but ASCII was seen: other encodings would read the same
  bool binary = false;         // there are zero bytes: it is no text
  std::string language = {};   // that its letters make: "Czech"; "": too few to tell
  /// A command that makes UTF-8 of a file.
  std::string conversion(const std::string& file) const;
};

/// Looks at the first lines that have letters beyond ASCII; the ending of the name (".cs") helps. ErrorKind::io for a
/// file that can't be read.
EncodingGuess guess_encoding(const std::string& file);
/// The same of lines that are not UTF-8; `ending` as language_of has it.
EncodingGuess guess_of_lines(std::string_view lines, std::string_view ending);
/// By the mark at its begin, or by zeros in every other byte.
bool is_utf_16(const std::string& file);

}  // namespace attune
