// Event files, read back.
#include "show/event_file.h"

#include <gtest/gtest.h>
#include <png.h>

#include "base/files.h"
#include "show/event_reader.h"
#include "show/png.h"

namespace attune::show {
namespace {

using namespace test;

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
  EXPECT_EQ(scalar(events[1]), 2.5f);
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
