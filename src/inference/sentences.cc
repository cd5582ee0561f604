#include "inference/sentences.h"

#include <algorithm>

#include "text/lower_case.h"
#include "text/piece_words.h"
#include "text/utf8.h"

namespace attune {

namespace {

using text::Character;
using text::is_space;

bool is_one_of(char32_t c, std::u32string_view all) { return all.find(c) != std::u32string_view::npos; }
/// Latin, Arabic, Devanagari, Armenian, Ethiopic marks.
bool ends_before_blank(char32_t c) { return is_one_of(c, U".!?…‼⁇⁈⁉؟۔।॥։።"); }
bool ends_anywhere(char32_t c) { return is_one_of(c, U"。！？｡．"); }
bool closes(char32_t c) { return is_one_of(c, U"\"')]}’”»›」』）】"); }

bool is_small(char32_t c) {
  // What has a capital form can't be asked; of most letters the capital is one of the 32 or the one before it.
  return (c >= 'a' && c <= 'z') ||
         (c >= 0x80 && text::lower(c) == c && (text::lower(c - 32) == c || text::lower(c - 1) == c));
}

/// Chinese, Japanese and the marks that go with them; Korean has blanks.
bool stands_close(char32_t c) {
  return (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xff00 && c <= 0xff60);
}

struct Letter {
  char32_t code;
  size_t at, end;
};

std::vector<Letter> letters_of(std::string_view line) {
  std::vector<Letter> all;
  size_t at = 0;
  for (const Character c : text::Characters(line)) {
    all.push_back({c.code, at, at + c.bytes});
    at += c.bytes;
  }
  return all;
}

std::string_view without_blanks(std::string_view text) {
  const auto blank = [](char c) { return is_space(static_cast<unsigned char>(c)); };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string_view> sentences_of(std::string_view line) {
  const std::vector<Letter> letters = letters_of(line);
  std::vector<std::string_view> all;
  size_t from = 0;
  const auto take = [&](size_t end) {
    const std::string_view sentence = without_blanks(line.substr(from, end - from));
    const bool joins =
        end < line.size() && text::count_words(sentence) < 2 && !stands_close(letters_of(sentence).back().code);
    if (joins) return;
    if (!sentence.empty()) all.push_back(sentence);
    from = end;
  };
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool anywhere = ends_anywhere(letters[i].code);
    if (!anywhere && !ends_before_blank(letters[i].code)) continue;
    const bool initial = letters[i].code == '.' && i > 0 && (i == 1 || is_space(letters[i - 2].code));
    while (i + 1 < letters.size() && (closes(letters[i + 1].code) || ends_anywhere(letters[i + 1].code) ||
                                      ends_before_blank(letters[i + 1].code)))
      ++i;
    size_t next = i + 1;
    while (next < letters.size() && is_space(letters[next].code)) ++next;
    const bool blank = next > i + 1;
    if (next == letters.size() || anywhere || (blank && !initial && !is_small(letters[next].code)))
      take(letters[i].end);
  }
  if (const std::string_view rest = without_blanks(line.substr(from)); !rest.empty()) all.push_back(rest);
  return all;
}

bool blank_between(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty()) return false;
  return !stands_close(letters_of(left).back().code) && !stands_close(text::first_character(right).code);
}

}  // namespace attune
