#include "data/files/encoding.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/utf8.h"

namespace attune {

void TextDecoder::add(std::string_view bytes, std::string& out) {
  if (encoding_ == Encoding::utf_8) {
    out.append(bytes);
    return;
  }
  size_t at = 0;
  if (!begun_) {
    at = std::min(bytes.size(), 3 - first_.size());
    first_.append(bytes.substr(0, at));
    if (first_.size() < 3) return;  // too little to tell
    begin(out);
  }
  for (; at < bytes.size() && trouble_.empty(); ++at) add_byte(static_cast<unsigned char>(bytes[at]), out);
}

void TextDecoder::begin(std::string& out) {
  begun_ = true;
  if (first_.starts_with("\xef\xbb\xbf")) {
    trouble_ = "it begins with the mark of UTF-8\n  fix: set data.encoding = \"utf-8\"";
    return;
  }
  big_ = first_.starts_with("\xfe\xff") || (first_.size() > 1 && first_[0] == 0 && first_[1] != 0);
  for (const char c : first_) add_byte(static_cast<unsigned char>(c), out);
}

void TextDecoder::add_byte(unsigned char byte, std::string& out) {
  if (!trouble_.empty()) return;
  if (encoding_ == Encoding::utf_16) {
    if (half_ < 0) {
      half_ = byte;
      return;
    }
    const int first = std::exchange(half_, -1);
    add_unit(static_cast<char32_t>(big_ ? first << 8 | byte : byte << 8 | first), out);
    return;
  }
  const char32_t code = letter_of(encoding_, byte);
  if (code == 0 && byte != 0) {
    trouble_ = fmt::format("byte 0x{:02x} is no letter of {}\n  fix: look how the file is encoded, and set {}", byte,
                           name_of(encoding_), "data.encoding");
    return;
  }
  text::append_utf8(out, code);
}

void TextDecoder::add_unit(char32_t unit, std::string& out) {
  if (unit == 0xFEFF) return;  // the mark of the order of bytes
  const bool high = unit >= 0xD800 && unit < 0xDC00, low = unit >= 0xDC00 && unit < 0xE000;
  if (low != (high_ != 0)) {
    trouble_ = "half a letter of UTF-16\n  fix: look how the file is encoded, and set data.encoding";
    return;
  }
  if (high) {
    high_ = unit;
    return;
  }
  text::append_utf8(out, low ? 0x10000 + ((std::exchange(high_, 0) - 0xD800) << 10) + (unit - 0xDC00) : unit);
}

void TextDecoder::finish(std::string& out) {
  if (!begun_) begin(out);
  if (!trouble_.empty() || encoding_ != Encoding::utf_16) return;
  if (half_ >= 0 || high_ != 0)
    trouble_ = "the text ends within a letter of UTF-16\n  fix: look whether the file is whole, or set data.encoding";
}

}  // namespace attune
