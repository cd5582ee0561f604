#include "measure/words.h"

#include "text/utf8.h"

namespace attune {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }

/// Bytes of the blank that a text begins with, 0 if it begins with none.
size_t blank_at(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned a = byte(0), b = byte(1), c = byte(2);
  if ((a >= 0x09 && a <= 0x0d) || (a >= 0x1c && a <= 0x20)) return 1;
  if (a == 0xc2) return b == 0x85 || b == 0xa0 ? 2 : 0;
  if (a == 0xe1) return b == 0x9a && c == 0x80 ? 3 : 0;  // U+1680
  if (a == 0xe2 && b == 0x80) return (c >= 0x80 && c <= 0x8a) || c == 0xa8 || c == 0xa9 || c == 0xaf ? 3 : 0;
  if (a == 0xe2 && b == 0x81) return c == 0x9f ? 3 : 0;  // U+205F
  return a == 0xe3 && b == 0x80 && c == 0x80 ? 3 : 0;    // U+3000
}

// Each pass is one of the regular expressions of mteval-v13a. They look at single bytes: the only ones they change are
// ASCII, which never occur inside another letter.

/// Symbols and marks that always stand alone.
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

/// Where `first` and `second` accept two neighbours, puts blanks before, between and behind them as asked.
template <class First, class Second>
std::string pass_neighbours(std::string_view s, First first, Second second, bool before, bool behind) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (i + 1 == s.size() || !first(s[i]) || !second(s[i + 1])) {
      out += s[i];
      continue;
    }
    if (before) out += ' ';
    out += s[i];
    out += ' ';
    out += s[++i];
    if (behind) out += ' ';
  }
  return out;
}

std::string tokenize_13a(std::string_view line) {
  std::string s(without_last_blanks(line));
  replace_all(s, "<skipped>", "");
  replace_all(s, "-\n", "");
  replace_all(s, "\n", " ");
  if (s.find('&') != std::string::npos) {
    replace_all(s, "&quot;", "\"");
    replace_all(s, "&amp;", "&");
    replace_all(s, "&lt;", "<");
    replace_all(s, "&gt;", ">");
  }
  return separate_stops(separate_symbols(" " + s + " "));
}

std::string separate_characters(std::string_view line) {
  std::string out;
  for (text::Character c : text::Characters(line)) {
    out.append(line.substr(0, c.bytes)).append(" ");
    line.remove_prefix(c.bytes);
  }
  return out;
}

std::string separate(std::string_view line, Tokenization how) {
  switch (how) {
    case Tokenization::v13a:
      return tokenize_13a(line);
    case Tokenization::intl:
      return separate_intl(without_last_blanks(line));
    case Tokenization::character:
      return separate_characters(line);
    case Tokenization::zh:
      return separate_stops(separate_symbols(separate_chinese(without_outer_blanks(line))));
    case Tokenization::none:
      break;
  }
  return std::string(line);
}

}  // namespace

std::string separate_symbols(std::string_view line) {
  std::string out;
  for (char c : line) stands_alone(c) ? (out += ' ', out += c, out += ' ') : out += c;
  return out;
}

std::string separate_stops(std::string_view line) {
  const auto no_digit = [](char c) { return !is_digit(c); };
  std::string s = pass_neighbours(line, no_digit, is_stop, false, true);  // a stop unless behind a digit
  s = pass_neighbours(s, is_stop, no_digit, true, false);                 // a stop unless before a digit
  return pass_neighbours(
      s, is_digit, [](char c) { return c == '-'; }, false, true);
}

std::string_view without_last_blanks(std::string_view s) {
  for (bool more = true; more;) {
    more = false;
    for (size_t n = 1; n <= 3 && n <= s.size() && !more; ++n)
      if (blank_at(s.substr(s.size() - n)) == n) {
        s.remove_suffix(n);
        more = true;
      }
  }
  return s;
}

std::string_view without_outer_blanks(std::string_view s) {
  while (const size_t n = s.empty() ? 0 : blank_at(s)) s.remove_prefix(n);
  return without_last_blanks(s);
}

void replace_all(std::string& s, std::string_view from, std::string_view to) {
  size_t at = s.find(from);
  if (at == std::string::npos) return;
  std::string out;
  size_t done = 0;
  for (; at != std::string::npos; at = s.find(from, done)) {
    out.append(s, done, at - done).append(to);
    done = at + from.size();
  }
  s = out.append(s, done);
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t i = 0; i <= line.size();) {
    const size_t blank = i < line.size() ? blank_at(line.substr(i)) : 1;
    if (blank > 0 && i > begin) words.push_back(line.substr(begin, i - begin));
    i += blank > 0 ? blank : 1;
    if (blank > 0) begin = i;
  }
  return words;
}

std::string tokenize(std::string_view line, Tokenization how) {
  const std::string cut = separate(line, how);
  std::string out;
  for (std::string_view word : split_words(cut)) out.append(out.empty() ? "" : " ").append(word);
  return out;
}

}  // namespace attune
