// Plots are markup that browsers read, whatever the names and numbers in them.
#include "show/plot.h"

#include <cmath>
#include <limits>

#include "checks.h"
#include "show/html.h"
#include "show/well_formed.h"

namespace attune::show {
namespace {

using test::trouble_with_markup;

const std::string kNasty = "</svg><script>alert('1')</script> & \"quoted\" \x01\xff \u202e";

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Html, TextIsEscaped) {
  EXPECT_EQ(escaped("a<b>&\"'\n\tü"), "a&lt;b&gt;&amp;&quot;&#39;\n\tü");
  EXPECT_EQ(escaped("\x01\x7f\xff"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(label("abcdefgh", 5), "abcd…");
  EXPECT_EQ(label(kNasty, 0).find('<'), std::string::npos);
}

TEST(Html, NumbersAreShort) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(999.9), "1k");
  EXPECT_EQ(short_number(15432), "15.4k");
  EXPECT_EQ(short_number(3e6), "3M");
  EXPECT_EQ(short_number(2.1e9), "2.1G");
}

TEST(Plot, LinesAreDrawnAndLabelled) {
  LinePlot plot{"loss", "updates", "loss"};
  plot.series = {{"one", 0, {{0, 5}, {100, 2}}}, {kNasty, 9, {{0, 4}, {100, 3}}}, {"none", 2, {}}};
  const std::string svg = draw_lines(plot);
  EXPECT_EQ(trouble_with_markup(svg), "");
  EXPECT_EQ(count(svg, "<polyline"), 2u);
  EXPECT_EQ(count(svg, "class=\"end"), 2u);
  EXPECT_NE(svg.find("class=\"k1 d1\""), std::string::npos);  // the ninth style has dashes
  EXPECT_EQ(svg.find("<script"), std::string::npos);
}

TEST(Plot, PointsLieWhereTheyShould) {
  LinePlot plot{"", "", "", true, true, {64, 256, 1024}};
  plot.series = {{"a", 0, {{64, 1e3}, {256, 1e4}, {1024, 1e5}}}};
  const std::string svg = draw_lines(plot);
  const size_t from = svg.find("points=\"") + 8;
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(svg.c_str() + from, "%lf,%lf %lf,%lf %lf,%lf", x, y, x + 1, y + 1, x + 2, y + 2), 6);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2);  // equal factors, equal steps
  EXPECT_NEAR(y[0] - y[1], y[1] - y[2], 0.2);
  EXPECT_GT(y[0], y[2]);
  for (const char* tick : {">64<", ">256<", ">1,024<"}) EXPECT_NE(svg.find(tick), std::string::npos) << tick;
}

TEST(Plot, NoNumbersAreNoTrouble) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  LinePlot plot{"", "", "", true, true};
  plot.series = {{"a", 0, {{64, kNan}, {0, 1}, {64, kInf}, {64, 0}, {-1, 2}}}};
  EXPECT_EQ(draw_lines(plot), "");
  plot.series[0].points.emplace_back(64, 7);  // one point, no range
  for (const bool log : {true, false}) {
    plot.log_x = plot.log_y = log;
    const std::string svg = draw_lines(plot);
    EXPECT_EQ(trouble_with_markup(svg), "");
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  }
  EXPECT_EQ(draw_bars("none", {}), "");
  EXPECT_EQ(draw_heat_map("none", {}), "");
}

TEST(Plot, BarsAreAsLongAsTheirFigures) {
  const std::string svg = draw_bars("speed", {{"fast", 0, 2000}, {kNasty, 1, 1000}, {"still", 2, 0}});
  EXPECT_EQ(trouble_with_markup(svg), "");
  double widths[2];
  size_t at = 0;
  for (double& w : widths) {
    at = svg.find("<rect", at + 1);
    w = std::stod(svg.substr(svg.find("width=\"", at) + 7));
  }
  EXPECT_NEAR(widths[0], 2 * widths[1], 0.2);
  EXPECT_NE(svg.find(">2k<"), std::string::npos);
}

TEST(Plot, HeatMapsShadeByTheLargest) {
  const AttentionPicture p{{"x", kNasty}, {"a", "b", "c"}, {0.8f, 0.2f, 0, 0.4f, 0.4f, 0.0f}};
  const std::string svg = draw_heat_map("who", p);
  EXPECT_EQ(trouble_with_markup(svg), "");
  EXPECT_EQ(count(svg, "class=\"cell\""), 3u);  // full, half, a quarter
  EXPECT_NE(svg.find("fill-opacity=\"1.0\""), std::string::npos);
  EXPECT_NE(svg.find("fill-opacity=\"0.5\""), std::string::npos);
}

TEST(Plot, ManyLinesHaveNoLabels) {
  LinePlot plot{"", "", ""};
  for (int i = 0; i < 30; ++i) plot.series.push_back({"s" + std::to_string(i), i, {{0, i}, {1, i + 1}}});
  const std::string svg = draw_lines(plot);
  EXPECT_EQ(trouble_with_markup(svg), "");
  EXPECT_EQ(count(svg, "<polyline"), 30u);
  EXPECT_EQ(count(svg, "class=\"end"), 0u);
}

TEST(WellFormed, FindsWhatIsNot) {
  EXPECT_EQ(trouble_with_markup("<!DOCTYPE html>\n<p class=\"x\">a &lt; b<br/></p>"), "");
  for (const char* bad : {"<p>", "</p>", "<p></b>", "<p>a & b</p>", "<p class=x></p>", "a < b", "<p title=\"<\"></p>"})
    EXPECT_NE(trouble_with_markup(bad), "") << bad;
}

}  // namespace
}  // namespace attune::show
