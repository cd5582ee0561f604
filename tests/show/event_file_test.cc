// Event files, read back by a reader that shares nothing with the writer.
#include "show/event_file.h"

#include <gtest/gtest.h>
#include <png.h>

#include <bit>
#include <map>

#include "base/files.h"
#include "checks.h"
#include "run_program.h"
#include "show/png.h"

namespace attune::show {
namespace {

uint32_t plain_crc(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

uint64_t little(std::string_view s) {
  uint64_t x = 0;
  for (size_t i = s.size(); i-- > 0;) x = x << 8 | static_cast<uint8_t>(s[i]);
  return x;
}

/// A message's fields, by number: numbers as they are, everything else as bytes.
using Fields = std::multimap<int, std::string>;
uint64_t varint(std::string_view s, size_t& at) {
  uint64_t x = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(s.at(at++));
    x |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return x;
  }
}
Fields fields_of(std::string_view s) {
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
int64_t number(const std::string& s) {
  size_t at = 0;
  return static_cast<int64_t>(varint(s, at));
}

std::vector<Fields> events_of(const std::string& path) {
  const std::string file = test::slurp(path);
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
Fields value_of(const Fields& event) { return fields_of(fields_of(event.find(5)->second).find(1)->second); }
std::string tag(const Fields& event) { return value_of(event).find(1)->second; }
int64_t step(const Fields& event) { return event.contains(2) ? number(event.find(2)->second) : 0; }

TEST(EventFile, ChecksumIsCastagnolis) {
  EXPECT_EQ(plain_crc("123456789"), 0xe3069283u) << "the check value of CRC-32C";
  EXPECT_EQ(masked_crc("123456789"), ((0xe3069283u >> 15 | 0xe3069283u << 17) + 0xa282ead8u));
}

TEST(EventFile, HoldsScalarsTextAndPictures) {
  const test::TempFolder dir;
  const std::string png = attention_png({{"a", "b"}, {"x", "y", "z"}, {1, 0, 0, 0, 0.5f, 0.5f}}, 2);
  {
    EventFile file(dir.path(), 0);
    file.scalar("train/loss", 300, 2.5);
    file.text("valid/samples", 300, "| a |");
    file.image("valid/attention", 1 << 20, png);
  }
  const auto events = events_of(event_file_in(dir.path()));
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].find(3)->second, "brain.Event:2");
  EXPECT_GT(std::bit_cast<double>(little(events[0].find(1)->second)), 1.7e9) << "seconds since 1970";
  EXPECT_EQ(step(events[1]), 300);
  EXPECT_EQ(tag(events[1]), "train/loss");
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(little(value_of(events[1]).find(2)->second))), 2.5f);
  const Fields tensor = fields_of(value_of(events[2]).find(8)->second);
  EXPECT_EQ(number(tensor.find(1)->second), 7);
  EXPECT_EQ(tensor.find(8)->second, "| a |");
  const Fields metadata = fields_of(value_of(events[2]).find(9)->second);
  EXPECT_EQ(fields_of(metadata.find(1)->second).find(1)->second, "text");
  EXPECT_EQ(step(events[3]), 1 << 20);
  const Fields image = fields_of(value_of(events[3]).find(4)->second);
  EXPECT_EQ(number(image.find(1)->second), 4) << "height";
  EXPECT_EQ(number(image.find(2)->second), 6) << "width";
  EXPECT_EQ(image.find(4)->second, png);
}

TEST(EventFile, GoesOnFromTheStepOfACheckpoint) {
  const test::TempFolder dir;
  {
    EventFile file(dir.path(), 0);
    for (int i = 1; i <= 5; ++i) file.scalar("x", 100 * i, i);
  }
  const std::string path = event_file_in(dir.path());
  write_file(path, test::slurp(path) + "cut sho");
  {
    EventFile file(dir.path(), 300);
    file.scalar("x", 400, 40);
  }
  EXPECT_EQ(event_file_in(dir.path()), path) << "one file";
  const auto events = events_of(path);
  std::vector<int64_t> steps;
  for (const Fields& e : events) steps.push_back(step(e));
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 100, 200, 300, 400}));
}

TEST(Png, IsWhatWasDrawn) {
  const std::string png = attention_png({{"a"}, {"x", "y"}, {1, 0.5f}}, 3);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_memory(&image, png.data(), png.size()));
  EXPECT_EQ(image.width, 6u);
  EXPECT_EQ(image.height, 3u);
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> rgb(PNG_IMAGE_SIZE(image));
  ASSERT_TRUE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr));
  EXPECT_EQ((std::vector<uint8_t>{rgb.begin(), rgb.begin() + 3}), (std::vector<uint8_t>{8, 48, 107}));
  EXPECT_EQ((std::vector<uint8_t>{rgb.end() - 3, rgb.end()}), (std::vector<uint8_t>{132, 152, 181}));
}

}  // namespace
}  // namespace attune::show
