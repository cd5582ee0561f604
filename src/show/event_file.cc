#include "show/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <filesystem>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"

namespace attune::show {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kLargestEvents = int64_t{1} << 32;
constexpr std::string_view kPrefix = "events.out.tfevents.";

// --- protocol buffers: the parts of the wire format that events need ------------------------------------------------

void put_varint(std::string& out, uint64_t x) {
  for (; x >= 0x80; x >>= 7) out += static_cast<char>(x | 0x80);
  out += static_cast<char>(x);
}

template <class T>
void put_fixed(std::string& out, T x) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(static_cast<uint64_t>(x) >> (8 * i));
}

void put_number(std::string& out, int field, int64_t x) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 0);
  put_varint(out, static_cast<uint64_t>(x));
}

void put_double(std::string& out, int field, double x) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 1);
  put_fixed(out, std::bit_cast<uint64_t>(x));
}

void put_float(std::string& out, int field, float x) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 5);
  put_fixed(out, std::bit_cast<uint32_t>(x));
}

/// Text, bytes or a message within the message.
void put_bytes(std::string& out, int field, std::string_view bytes) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

// --- records ---------------------------------------------------------------------------------------------------------

std::string record(const std::string& event) {
  std::string out;
  put_fixed(out, uint64_t{event.size()});
  put_fixed(out, masked_crc(out));
  out += event;
  put_fixed(out, masked_crc(event));
  return out;
}

template <class T>
T fixed_at(std::string_view bytes, size_t at) {
  uint64_t x = 0;
  for (size_t i = 0; i < sizeof(T); ++i) x |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return static_cast<T>(x);
}

/// Event.step, which is 0 where it is not written. Events of this writer have nothing before it but the time.
int64_t step_of(std::string_view event) {
  constexpr size_t kTime = 9;
  if (event.size() <= kTime || event[kTime] != 2 << 3) return 0;
  uint64_t x = 0;
  for (size_t i = kTime + 1, shift = 0; i < event.size() && shift < 64; ++i, shift += 7) {
    x |= (uint64_t{static_cast<uint8_t>(event[i])} & 0x7f) << shift;
    if (!(event[i] & 0x80)) break;
  }
  return static_cast<int64_t>(x);
}

/// The whole records of steps up to `last`.
std::string records_until(std::string_view bytes, int64_t last) {
  std::string kept;
  constexpr size_t kHead = 12, kTail = 4;
  while (bytes.size() >= kHead + kTail) {
    const auto length = fixed_at<uint64_t>(bytes, 0);
    if (fixed_at<uint32_t>(bytes, 8) != masked_crc(bytes.substr(0, 8)) || length > bytes.size() - kHead - kTail) break;
    const std::string_view event = bytes.substr(kHead, length), whole = bytes.substr(0, kHead + length + kTail);
    if (fixed_at<uint32_t>(bytes, kHead + length) != masked_crc(event)) break;
    if (step_of(event) <= last) kept += whole;
    bytes.remove_prefix(whole.size());
  }
  return kept;
}

std::string event_at(int64_t step) {
  std::string event;
  put_double(event, 1, static_cast<double>(std::time(nullptr)));
  if (step > 0) put_number(event, 2, step);
  return event;
}

}  // namespace

std::string event_file_in(const std::string& dir) {
  std::vector<std::string> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (entry.path().filename().string().starts_with(kPrefix)) all.push_back(entry.path().string());
  return all.empty() ? "" : *std::min_element(all.begin(), all.end());
}

uint32_t masked_crc(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t x = i;
      for (int bit = 0; bit < 8; ++bit) x = x >> 1 ^ (x & 1 ? 0x82f63b78u : 0);  // Castagnoli's polynomial, reversed
      table[i] = x;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ crc >> 8;
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

EventFile::EventFile(const std::string& dir, int64_t resumed_at) {
  std::string path = event_file_in(dir), old, kept;
  if (path.empty())
    path = fmt::format("{}/{}{:010}.attune", dir, kPrefix, static_cast<int64_t>(std::time(nullptr)));
  else
    refuse_link(path), kept = records_until(old = read_regular_file(path, kLargestEvents), resumed_at);
  if (kept.empty()) {
    std::string event = event_at(0);
    put_bytes(event, 3, "brain.Event:2");  // file_version: what readers want first
    kept = record(event);
  }
  if (kept != old) write_file(path, kept);
  file_ = std::make_unique<AppendedFile>(path, AppendedFile::Content::bytes);
}

/// `value`: a Summary.Value.
void EventFile::add(int64_t step, const std::string& value) {
  std::string summary, event = event_at(step);
  put_bytes(summary, 1, value);
  put_bytes(event, 5, summary);
  file_->write(record(event));
}

void EventFile::scalar(const std::string& name, int64_t step, double x) {
  std::string value;
  put_bytes(value, 1, name);
  put_float(value, 2, static_cast<float>(x));
  add(step, value);
}

void EventFile::text(const std::string& name, int64_t step, const std::string& text) {
  std::string value, dim, shape, tensor, plugin, metadata;
  put_number(dim, 1, 1);  // one text
  put_bytes(shape, 2, dim);
  put_number(tensor, 1, 7);  // DT_STRING
  put_bytes(tensor, 2, shape);
  put_bytes(tensor, 8, text);
  put_bytes(plugin, 1, "text");
  put_bytes(metadata, 1, plugin);
  put_bytes(value, 1, name);
  put_bytes(value, 8, tensor);
  put_bytes(value, 9, metadata);
  add(step, value);
}

void EventFile::image(const std::string& name, int64_t step, const std::string& png) {
  // A PNG says its own size: big-endian, behind the signature and the header's name.
  const auto size = [&](size_t at) {
    int64_t x = 0;
    for (size_t i = 0; i < 4; ++i) x = x << 8 | static_cast<uint8_t>(png.at(at + i));
    return x;
  };
  std::string value, image;
  put_number(image, 1, size(20));
  put_number(image, 2, size(16));
  put_number(image, 3, 3);  // RGB
  put_bytes(image, 4, png);
  put_bytes(value, 1, name);
  put_bytes(value, 4, image);
  add(step, value);
}

}  // namespace attune::show
