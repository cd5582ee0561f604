// One look, several drawings: each shows the same weights, and none trusts the words.
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "attune/show.h"
#include "checks.h"
#include "show/bitmap.h"
#include "show/maps.h"
#include "show/svg_maps.h"
#include "show/well_formed.h"

namespace attune::show {
namespace {

const std::string kHostile = "</script><script>alert('1')</script> & \"b\" \x01\xff";

/// Two layers of two heads over two rows and three columns; head 1 of layer 1 is sure of the last cell.
AttentionLook small_look() {
  AttentionLook look;
  look.rows = {"▁Un", kHostile};
  look.columns = {"▁a", "日本", "dog"};
  look.layer = 1;
  look.layers = look.heads = 2;
  look.task = "translate";
  look.source = "a 日本 dog";
  look.text = "Un " + kHostile;
  look.alignment = {{0, 0}, {2, 1}, {9, 9}};
  look.each = {{0, 0, {0.5f, 0.5f, 0, 0.2f, 0.7f, 0.1f}},
               {0, 1, {1, 0, 0, 0, 1, 0}},
               {1, 0, {0.25f, 0.5f, 0.25f, 0, 0.2f, 0.8f}},
               {1, 1, {0.5f, 0.25f, 0.25f, 0.01f, 0.02f, 0.97f}}};
  look.weights = {0.375f, 0.375f, 0.25f, 0.005f, 0.11f, 0.885f};
  return look;
}

std::vector<uint8_t> points_of(const std::string& png, unsigned& width, unsigned& height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&image, png.data(), png.size()));
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> rgb(PNG_IMAGE_SIZE(image));
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr));
  width = image.width;
  height = image.height;
  return rgb;
}

size_t times(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(LookJson, HasEveryHead) {
  const AttentionLook look = small_look();
  const auto j = nlohmann::json::parse(look_json(look));
  EXPECT_EQ(j["task"], "translate");
  EXPECT_EQ(j["columns"], j["source"]);
  EXPECT_EQ(j["rows"].size(), 2u);
  EXPECT_EQ(j["columns"][1], "日本");
  EXPECT_EQ(j["alignment"][1], (std::vector<int>{2, 1}));
  ASSERT_EQ(j["sites"].size(), look.each.size());
  for (size_t i = 0; i < look.each.size(); ++i) {
    const auto& site = j["sites"][i];
    EXPECT_EQ(site["site"], "cross");
    EXPECT_EQ(site["layer"], look.each[i].layer);
    EXPECT_EQ(site["head"], look.each[i].head);
    for (size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(site["weights"][k / 3][k % 3].get<double>(), look.each[i].weights[k], 1e-6);
  }
  AttentionLook broken = look;
  broken.weights[0] = std::nanf("");
  EXPECT_TRUE(nlohmann::json::parse(look_json(broken))["weights"][0][0].is_null());
}

TEST(LookPng, TheDarkestCellIsTheLargestWeight) {
  unsigned width = 0, height = 0;
  AttentionLook look = small_look();
  look.rows[1] = "deux";
  const auto rgb = points_of(look_png(look, true), width, height);
  // The cell of the last row and column is far darker than those beside it: go in from the lower right corner of its
  // frame, which is the last line of points that is grey.
  size_t last = 0;
  for (size_t i = 0; i < rgb.size(); i += 3)
    if (rgb[i] == 217 && rgb[i + 1] == 222) last = i / 3;
  const size_t x = last % width, y = last / width;
  const auto red = [&](size_t left, size_t up) { return int{rgb[3 * ((y - up) * width + x - left)]}; };
  EXPECT_LT(red(8, 8), 30) << "88 %";
  size_t cell = 8;
  while (red(cell, 8) == red(8, 8)) ++cell;
  EXPECT_GT(red(cell + 4, 8), 100) << "11 %";
  for (size_t up = 1; up < 2 * cell - 2; up += 2)
    for (size_t left = 1; left < 3 * cell - 6; left += 2) EXPECT_GE(red(left, up), red(8, 8)) << left << " " << up;
}

TEST(LookPng, AllHeadsAreLargerThanOne) {
  unsigned width = 0, height = 0, of_all = 0, high = 0;
  const AttentionLook look = small_look();
  points_of(look_png(look, true), width, height);
  points_of(look_png(look, false), of_all, high);
  EXPECT_GE(of_all, width);
  EXPECT_GT(high, height - 60);
}

TEST(LookPng, WordsWithoutLettersBecomeNumbers) {
  EXPECT_TRUE(can_write("▁Où est l’été, Łódź? 3 % … ß"));
  EXPECT_FALSE(can_write("日本"));
  EXPECT_EQ(bitmap_letters("été"), 3);
  const std::vector<std::string> numbered = numbered_in_png(small_look());
  EXPECT_EQ(numbered[1], "2 日本");
}

TEST(Bitmap, LettersHaveShapesOfTheirOwn) {
  std::set<std::string> shapes;
  size_t count = 0;
  for (char c = '!'; c <= '~'; ++c, ++count) {
    ASSERT_TRUE(can_write(std::string(1, c))) << c;
    Bitmap b(kBitmapLetter, kBitmapLine, {255, 255, 255});
    b.write(0, 16, std::string(1, c));
    shapes.insert(b.png());
  }
  EXPECT_EQ(shapes.size(), count);
  Bitmap plain(40, 40, {255, 255, 255}), accent = plain, upward = plain;
  plain.write(4, 20, "e");
  accent.write(4, 20, "é");
  upward.write(20, 20, "e", Reading::upward);
  EXPECT_NE(plain.png(), accent.png());
  EXPECT_NE(plain.png(), upward.png());
  Bitmap(4, 4, {255, 255, 255}).write(-3, 2, "outside");
}

TEST(LookSvg, IsWellFormedAndHasTheWords) {
  for (const bool large : {false, true}) {
    const std::string svg = look_svg(small_look(), large);
    EXPECT_EQ(test::trouble_with_markup(svg), "") << large;
    for (const char* what : {"日本", "▁Un", "layer 1"}) EXPECT_NE(svg.find(what), std::string::npos) << what;
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(times(svg, "http"), 1u) << "the name of the format alone";
  }
  EXPECT_EQ(times(look_svg(small_look(), true), "class=\"c\""), 6u);
  EXPECT_NE(look_svg(small_look(), true).find("dog: 88.5 %"), std::string::npos);
  EXPECT_EQ(times(look_svg(small_look(), false), "<g "), 4u) << "a map for each head";
}

TEST(LookPage, NeedsNothingAndCanBeReadWithoutScripts) {
  const std::string page = look_page(small_look());
  EXPECT_EQ(test::trouble_with_markup(page), "");
  for (const char* other : {"http", "url(", "src=", "@import", "alert('1')<"})
    EXPECT_EQ(page.find(other), std::string::npos) << other;
  EXPECT_EQ(times(page, "<script"), 2u) << "the numbers, and what answers to pointers";
  EXPECT_EQ(times(page, "<button"), 5u) << "four heads, and the mean";
  EXPECT_EQ(times(page, "class=\"c\""), 6u) << "one large map is there from the start";
  EXPECT_EQ(times(page, "class=\"pair\""), 2u) << "a pair of words that are not there is left out";
  EXPECT_NE(page.find("prefers-color-scheme"), std::string::npos);
  const size_t from = page.find("id=\"look\">") + 10;
  const auto j = nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(j["sites"].size(), 4u);
}

TEST(LookPage, LongTextsAreCutAndItIsSaid) {
  AttentionLook look;
  look.task = "language";
  look.at = AttentionSite::decoder;
  look.layers = look.heads = 1;
  for (size_t i = 0; i < kMostDrawn + 40; ++i) look.rows.push_back("w" + std::to_string(i));
  look.columns = look.rows;
  look.weights.assign(look.rows.size() * look.rows.size(), 0);
  for (size_t i = 0; i < look.rows.size(); ++i) look.weights[i * look.rows.size() + i] = 1;
  look.each = {{0, 0, look.weights}};
  const AttentionLook some = clipped(look, kMostDrawn);
  ASSERT_EQ(some.weights.size(), kMostDrawn * kMostDrawn);
  for (size_t i = 0; i < kMostDrawn; ++i) EXPECT_EQ(some.each[0].weights[i * kMostDrawn + i], 1);
  for (const std::string& word : look.rows) look.source += word + " ";
  look.text = look.source;
  look.alignment = {{0, 0}, {119, 119}};
  EXPECT_EQ(times(draw_pairs(look), "<text"), 2 * kMostDrawn);
  EXPECT_EQ(times(draw_pairs(look), "class=\"pair\""), 1u) << "the other one is not drawn";
  look.alignment.clear();
  const std::string page = look_page(look);
  EXPECT_NE(page.find("The first 80 of 120 pieces are drawn."), std::string::npos);
  EXPECT_EQ(page.find("Which word belongs"), std::string::npos);
  EXPECT_EQ(test::trouble_with_markup(page), "");
  EXPECT_EQ(nlohmann::json::parse(look_json(look))["rows"].size(), 120u) << "JSON has all";
  unsigned width = 0, height = 0;
  points_of(look_png(look, false), width, height);
  EXPECT_LT(width, 2000u);
}

TEST(LookDrawings, WeightsMustFit) {
  AttentionLook look = small_look();
  look.each[2].weights.pop_back();
  EXPECT_EQ(error_of([&] { look_svg(look, false); }), "[draw_look] 5 weights for 2 rows and 3 columns");
  EXPECT_EQ(error_of([&] { look_page({}); }), "[draw_look] 0 weights for 0 rows and 0 columns");
  look = small_look();
  look.each.clear();
  EXPECT_EQ(error_of([&] { look_png(look, false); }), "[draw_look] no heads were asked for");
}

}  // namespace
}  // namespace attune::show
