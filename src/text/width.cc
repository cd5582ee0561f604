#include "text/width.h"

#include <utf8proc.h>

#include "text/utf8.h"

namespace attune::text {

int display_width(char32_t code) { return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code)); }

int display_width(std::string_view text) {
  int width = 0;
  for (Character c : Characters(text)) width += display_width(c.code);
  return width;
}

std::string harmless(std::string_view text) {
  constexpr char32_t kPictures = 0x2400, kPictureOfDelete = 0x2421, kBareLetter = 0x25CC, kJoiner = 0x200D;
  std::string out;
  for (Character c : Characters(text)) {
    char32_t code = c.code;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
      case UTF8PROC_CATEGORY_CC:
        code = code < 0x20 ? kPictures + code : code == 0x7F ? kPictureOfDelete : kReplacement;
        break;
      case UTF8PROC_CATEGORY_CF:
        if (code != kJoiner) continue;  // it makes one sign of several emoji, and forms of Indic letters
        break;
      case UTF8PROC_CATEGORY_ZL:
      case UTF8PROC_CATEGORY_ZP:
        code = ' ';
        break;
      case UTF8PROC_CATEGORY_CN:
      case UTF8PROC_CATEGORY_CO:
      case UTF8PROC_CATEGORY_CS:
        code = kReplacement;
        break;
      default:
        break;
    }
    if (out.empty() && display_width(code) == 0) append_utf8(out, kBareLetter);
    append_utf8(out, code);
  }
  return out;
}

std::string shortened(const std::string& text, int columns) {
  if (display_width(text) <= columns) return text;
  std::string out;
  int width = 1;  // of the dots
  for (Character c : Characters(text)) {
    width += display_width(c.code);
    if (width > columns) break;
    append_utf8(out, c.code);
  }
  return columns > 0 ? out + "…" : "";
}

}  // namespace attune::text
