// The tokenizers that ask what kind of character something is.
#include <utf8proc.h>

#include <algorithm>

#include "measure/words.h"
#include "text/utf8.h"

namespace attune {

namespace {

enum class Class : uint8_t { other, number, punctuation, symbol };

Class class_of(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Class::number;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Class::punctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return Class::symbol;
    default:
      return Class::other;
  }
}

struct Letter {
  std::string_view bytes;
  Class kind;
};
constexpr Letter kBlank{" ", Class::other};

/// Where `first` and `second` accept two neighbours, puts blanks before, between and behind them as asked.
template <class First, class Second>
std::vector<Letter> pass(const std::vector<Letter>& s, First first, Second second, bool before, bool behind) {
  std::vector<Letter> out;
  out.reserve(s.size() * 2);
  for (size_t i = 0; i < s.size(); ++i) {
    if (i + 1 == s.size() || !first(s[i].kind) || !second(s[i + 1].kind)) {
      out.push_back(s[i]);
      continue;
    }
    if (before) out.push_back(kBlank);
    out.push_back(s[i]);
    out.push_back(kBlank);
    out.push_back(s[++i]);
    if (behind) out.push_back(kBlank);
  }
  return out;
}

/// What sacreBLEU's zh takes for Chinese. It writes two ranges beyond U+FFFF with four digits, and so has the first and
/// last characters of U+2001-2A6D and U+2F81-2FA1 instead: dashes and quotation marks among them.
bool is_chinese(char32_t c) {
  static constexpr char32_t kRanges[][2] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F}, {0x3100, 0x312F},
      {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x32FF}, {0x3300, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB},
      {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& range) { return range[0] <= c && c <= range[1]; });
}

}  // namespace

std::string separate_intl(std::string_view line) {
  std::vector<Letter> s;
  s.reserve(line.size());
  for (text::Character c : text::Characters(line)) {
    s.push_back({line.substr(0, c.bytes), class_of(c.code)});
    line.remove_prefix(c.bytes);
  }
  const auto is_mark = [](Class c) { return c == Class::punctuation; };
  const auto no_number = [](Class c) { return c != Class::number; };
  s = pass(s, no_number, is_mark, false, true);  // a mark unless behind a number
  s = pass(s, is_mark, no_number, true, false);  // a mark unless before a number
  std::string out;
  for (const Letter& l : s) l.kind == Class::symbol ? out.append(" ").append(l.bytes).append(" ") : out.append(l.bytes);
  return out;
}

std::string separate_chinese(std::string_view line) {
  std::string out;
  for (text::Character c : text::Characters(line)) {
    const std::string_view bytes = line.substr(0, c.bytes);
    is_chinese(c.code) ? out.append(" ").append(bytes).append(" ") : out.append(bytes);
    line.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace attune
