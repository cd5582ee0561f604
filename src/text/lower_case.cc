#include "text/lower_case.h"

#include <utf8proc.h>

#include "text/utf8.h"

namespace attune::text {

namespace {

constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2, kDottedI = 0x130;

bool has_case(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

}  // namespace

char32_t lower(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

std::string lower_case(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  char32_t before = 0;
  for (size_t at = 0; at < line.size();) {
    const Character c = first_character(line.substr(at));
    const size_t next = at + c.bytes;
    if (c.broken)
      out += line.substr(at, c.bytes);
    else if (c.code == kDottedI)
      out += "i\u0307";
    else if (c.code == kSigma && has_case(before) &&
             (next == line.size() || !has_case(first_character(line.substr(next)).code)))
      append_utf8(out, kFinalSigma);
    else
      append_utf8(out, lower(c.code));
    before = c.code;
    at = next;
  }
  return out;
}

}  // namespace attune::text
