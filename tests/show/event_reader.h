// A reader of event files that shares nothing with the writer.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checks.h"
#include "run_program.h"

namespace attune::test {

inline uint32_t plain_crc(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

inline uint64_t little(std::string_view s) {
  uint64_t x = 0;
  for (size_t i = s.size(); i-- > 0;) x = x << 8 | static_cast<uint8_t>(s[i]);
  return x;
}

/// A message's fields, by number: numbers as they are, everything else as bytes.
using Fields = std::multimap<int, std::string>;
inline uint64_t varint(std::string_view s, size_t& at) {
  uint64_t x = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(s.at(at++));
    x |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return x;
  }
}
inline Fields fields_of(std::string_view s) {
  Fields fields;
  for (size_t at = 0; at < s.size();) {
    const uint64_t key = varint(s, at);
    const size_t start = at;
    size_t length = 0;
    if ((key & 7) == 0) {
      varint(s, at);
      length = at - start;
      at = start;
    } else {
      length = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : varint(s, at);
    }
    if (at + length > s.size()) throw std::runtime_error("a field is longer than its message");
    fields.emplace(static_cast<int>(key >> 3), s.substr(at, length));
    at += length;
  }
  return fields;
}
inline int64_t number(const std::string& s) {
  size_t at = 0;
  return static_cast<int64_t>(varint(s, at));
}

inline std::vector<Fields> events_of(const std::string& path) {
  const std::string file = slurp(path);
  std::vector<Fields> events;
  for (size_t at = 0; at < file.size();) {
    const std::string_view head = std::string_view(file).substr(at, 8);
    const size_t length = little(head);
    const auto masked = [](uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; };
    EXPECT_EQ(little(std::string_view(file).substr(at + 8, 4)), masked(plain_crc(head)));
    const std::string_view event = std::string_view(file).substr(at + 12, length);
    EXPECT_EQ(little(std::string_view(file).substr(at + 12 + length, 4)), masked(plain_crc(event)));
    events.push_back(fields_of(event));
    at += length + 16;
  }
  return events;
}

/// The one value of an event.
inline Fields value_of(const Fields& event) { return fields_of(fields_of(event.find(5)->second).find(1)->second); }
inline std::string tag(const Fields& event) { return value_of(event).find(1)->second; }
inline int64_t step(const Fields& event) { return event.contains(2) ? number(event.find(2)->second) : 0; }
inline float scalar(const Fields& event) {
  return std::bit_cast<float>(static_cast<uint32_t>(little(value_of(event).find(2)->second)));
}

}  // namespace attune::test
