#include "base/choice.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/fields.h"
#include "checks.h"

namespace attune {
namespace {

TEST(Choice, TextAndLiteral) {
  const Choice plain{"softmax"}, band{"band", {{"width", int64_t{64}}, {"scale", 2.0}, {"on", true}, {"w", "x y"}}};
  EXPECT_EQ(plain.text(), "softmax");
  EXPECT_EQ(plain.literal(), "\"softmax\"");
  EXPECT_EQ(band.text(), "band(on=true;scale=2.0;w=x y;width=64)");
  EXPECT_EQ(band.literal(), "{ kind = \"band\", on = true, scale = 2.0, w = \"x y\", width = 64 }");
  for (const Choice& c : {plain, band, Choice{}}) {
    Choice back;
    ASSERT_TRUE(Choice::parse(c.text(), back)) << c.text();
    EXPECT_EQ(back, c);
  }
  for (const char* bad : {"(a=1)", "band(a", "band(a)", "band()", "band(=1)"}) {
    Choice c{"kept"};
    EXPECT_FALSE(Choice::parse(bad, c)) << bad;
    EXPECT_EQ(c.kind, "kept");
  }
}

TEST(Choice, NumbersAndTextsReadBack) {
  EXPECT_EQ(number_literal(1), "1.0");
  EXPECT_EQ(number_literal(1e300), "1e+300");
  EXPECT_EQ(number_literal(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(in_quotes("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
}

struct Mechanism {
  int64_t width = 8;
  double scale = 1;
  template <class V>
  void fields(V& v) {
    v("width", width, "positions", at_least(1));
    v("scale", scale, "factor");
  }
};
struct Layer {
  Choice one{"softmax"};
  std::vector<Choice> many;
  template <class V>
  void fields(V& v) {
    v("one", one, "a choice", one_of({"softmax", "band"}));
    v("many", many, "choices");
  }
};

TEST(Choice, IsAField) {
  Layer l;
  set_field(l, "one", std::string_view("band(width=4)"));
  EXPECT_EQ(l.one, (Choice{"band", {{"width", int64_t{4}}}}));
  EXPECT_EQ(error_of([&] { set_field(l, "one", std::string_view("bnad")); }, ErrorKind::recipe),
            "one = 'bnad' is not known: softmax | band. Did you mean 'band'?");
  EXPECT_EQ(error_of([&] { set_field(l, "one", FieldValue(2.5)); }, ErrorKind::recipe),
            "one is 2.5, not a name or { kind = ... }\n  fix: for example one = { kind = \"band\", width = 4 }");
  set_field(l, "many", std::string_view("softmax, band(width=4)"));
  ASSERT_EQ(l.many.size(), 2u);
  EXPECT_EQ(text_of(find_field(fields_of(l), "many").get()), "softmax,band(width=4)");
  EXPECT_EQ(literal_of(find_field(fields_of(l), "many").get()), "[\"softmax\", { kind = \"band\", width = 4 }]");
  set_field(l, "many", FieldValue(std::vector<int64_t>{}));
  EXPECT_TRUE(l.many.empty());
}

TEST(Choice, OptionsSetAMechanism) {
  Mechanism m;
  apply_options(fields_of(m), {"band", {{"width", int64_t{64}}, {"scale", int64_t{2}}}}, "model.attention");
  EXPECT_EQ(m.width, 64);
  EXPECT_EQ(m.scale, 2);
  EXPECT_EQ(error_of(
                [&] {
                  apply_options(fields_of(m), {"band", {{"widht", int64_t{1}}}}, "model.attention");
                },
                ErrorKind::recipe),
            "model.attention = { kind = \"band\", widht = 1 }: unknown key 'widht'. Did you mean 'width'?");
  EXPECT_EQ(error_of(
                [&] {
                  apply_options(fields_of(m), {"band", {{"width", int64_t{0}}}}, "model.attention");
                },
                ErrorKind::recipe),
            "model.attention = { kind = \"band\", width = 0 }: width = 0 is out of range: at least 1\n  fix: for "
            "example width = 64");
}

}  // namespace
}  // namespace attune
