#include "data/files/encoding.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/utf8.h"

namespace attune {

namespace {

/// Bytes 0x80 to 0x9f of Windows; 0: none.
constexpr char16_t kWindows[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                   0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                   0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                   0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

}  // namespace

Encoding encoding_of(std::string_view name) {
  if (name == "utf-8") return Encoding::utf_8;
  if (name == "iso-8859-1" || name == "latin-1") return Encoding::iso_8859_1;
  if (name == "windows-1252") return Encoding::windows_1252;
  if (name == "utf-16") return Encoding::utf_16;
  fail(ErrorKind::recipe, "data.encoding = \"{}\" is not known\n  fix: convert the files to UTF-8 by iconv", name);
}

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
  char32_t code = byte;
  if (encoding_ == Encoding::windows_1252 && byte >= 0x80 && byte < 0xa0) code = kWindows[byte - 0x80];
  if (code == 0 && byte != 0) {
    trouble_ = fmt::format(
        "byte 0x{:02x} is no letter of windows-1252\n  fix: look how the file is encoded, and set data.encoding", byte);
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
