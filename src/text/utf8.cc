#include "text/utf8.h"

namespace attune::text {

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, false};
  const uint32_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0) return {kReplacement, 1, true};
  // The second byte's range keeps out overlong forms, surrogates and what lies beyond U+10FFFF.
  unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < least || byte(i) > most) return {kReplacement, i, true};
    code = code << 6 | (byte(i) & 0x3Fu);
    least = 0x80;
    most = 0xBF;
  }
  return {code, length, false};
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = kReplacement;
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

bool is_utf8(std::string_view text) {
  unsigned char all = 0;  // most text is ASCII alone: many bytes at a time
  for (const char c : text) all |= static_cast<unsigned char>(c);
  if (all < 0x80) return true;
  for (Character c : Characters(text))
    if (c.broken) return false;
  return true;
}

std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (Character c : Characters(text)) append_utf8(out, c.code);
  return out;
}

std::vector<size_t> character_starts(std::string_view text) {
  std::vector<size_t> starts;
  size_t at = 0;
  for (Character c : Characters(text)) {
    starts.push_back(at);
    at += c.bytes;
  }
  starts.push_back(at);
  return starts;
}

}  // namespace attune::text
