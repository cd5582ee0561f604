#include "base/fields.h"
#include "checks.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

enum class Norm { post, pre };

struct Cache {
  int64_t pages = 8;
  template <class V>
  void fields(V& v) {
    v("pages", pages, "pages kept", between(1, 64));
  }
};

struct Settings {
  int64_t width = 64;
  int32_t heads = 4;
  uint64_t seed = 1;
  double rate = 0.1;
  float scale = 0.5f;
  bool tie = true;
  std::string kind = "softmax", note;
  Norm norm = Norm::post;
  std::vector<int64_t> sizes{1, 2};
  std::vector<double> weights;
  std::vector<std::string> files{"a"};
  Cache cache;
  template <class V>
  void fields(V& v) {
    v("width", width, "positions each one sees", at_least(1));
    v("heads", heads, "attention heads");
    v("seed", seed, "where random numbers start");
    v("rate", rate, "share that is dropped", from_below(0, 1));
    v("scale", scale, "factor of the scores", above(0));
    v("tie", tie, "share the embedding");
    v("kind", kind, "the mechanism", one_of({"softmax", "band", "linear"}));
    v("note", note, "anything");
    v("norm", norm, "where the norm stands", one_of({"post", "pre"}));
    v("sizes", sizes, "sizes to try", between(1, 100));
    v("weights", weights, "weights of the parts");
    v("files", files, "what to read");
    v.section("cache", cache);
  }
};

template <class F>
std::string recipe_error(F f) {
  return error_of(f, ErrorKind::recipe);
}

TEST(Fields, SetFromText) {
  Settings s;
  for (const auto& [key, text] : std::vector<std::pair<std::string, std::string>>{{"width", "128"},
                                                                                  {"heads", " 8 "},
                                                                                  {"rate", "0.25"},
                                                                                  {"scale", "2"},
                                                                                  {"tie", "false"},
                                                                                  {"kind", "band"},
                                                                                  {"note", "two words, one comma"},
                                                                                  {"norm", "pre"},
                                                                                  {"sizes", "3, 4,5"},
                                                                                  {"weights", "0.5,1e-3"},
                                                                                  {"files", "x.en, y.de"},
                                                                                  {"cache.pages", "64"}})
    set_field(s, key, std::string_view(text));
  EXPECT_EQ(s.width, 128);
  EXPECT_EQ(s.heads, 8);
  EXPECT_EQ(s.rate, 0.25);
  EXPECT_EQ(s.scale, 2.0f);
  EXPECT_FALSE(s.tie);
  EXPECT_EQ(s.kind, "band");
  EXPECT_EQ(s.note, "two words, one comma");
  EXPECT_EQ(s.norm, Norm::pre);
  EXPECT_EQ(s.sizes, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(s.weights, (std::vector<double>{0.5, 1e-3}));
  EXPECT_EQ(s.files, (std::vector<std::string>{"x.en", "y.de"}));
  EXPECT_EQ(s.cache.pages, 64);
  set_field(s, "files", std::string_view(""));
  EXPECT_TRUE(s.files.empty());
}

TEST(Fields, UnknownKeysNameTheClosest) {
  Settings s;
  EXPECT_EQ(recipe_error([&] { set_field(s, "widht", std::string_view("1")); }),
            "unknown key 'widht'. Did you mean 'width'?");
  EXPECT_EQ(recipe_error([&] { set_field(s, "cache.page", std::string_view("1")); }),
            "unknown key 'cache.page'. Did you mean 'cache.pages'?");
  EXPECT_EQ(recipe_error([&] { set_field(s, "pages", std::string_view("1")); }),
            "unknown key 'pages'. Did you mean 'cache.pages'?");
  EXPECT_TRUE(recipe_error([&] {
                set_field(s, "zzzzz", std::string_view("1"));
              }).starts_with("unknown key 'zzzzz'. Known: width, "));
}

TEST(Fields, WrongValuesSayWhatIsRight) {
  Settings s;
  const auto says = [&](const char* key, std::string_view text) {
    return recipe_error([&] { set_field(s, key, text); });
  };
  EXPECT_EQ(says("width", "0"), "width = 0 is out of range: at least 1\n  fix: for example width = 64");
  EXPECT_EQ(says("width", "12a"), "width is \"12a\", not a whole number\n  fix: for example width = 64");
  EXPECT_EQ(says("width", ""), "width is \"\", not a whole number\n  fix: for example width = 64");
  EXPECT_EQ(says("heads", "3000000000"),
            "heads = 3000000000 is out of range: -2147483648 to 2147483647\n  fix: for example heads = 4");
  EXPECT_EQ(says("rate", "1"), "rate = 1 is out of range: 0 to below 1\n  fix: for example rate = 0.1");
  EXPECT_EQ(says("rate", "nan"), "rate = nan is out of range: 0 to below 1\n  fix: for example rate = 0.1");
  EXPECT_EQ(says("scale", "0"), "scale = 0 is out of range: above 0\n  fix: for example scale = 0.5");
  EXPECT_EQ(says("tie", "yes"), "tie is \"yes\", not a bool (true or false)\n  fix: for example tie = true");
  EXPECT_EQ(says("kind", "bnad"), "kind = 'bnad' is not known: softmax | band | linear. Did you mean 'band'?");
  EXPECT_EQ(says("norm", "middle"), "norm = 'middle' is not known: post | pre");
  EXPECT_EQ(says("sizes", "1,101"), "sizes = 101 is out of range: 1 to 100\n  fix: for example sizes = [1, 2]");
  EXPECT_EQ(says("cache.pages", "65"), "cache.pages = 65 is out of range: 1 to 64\n  fix: for example pages = 8");
  EXPECT_EQ(error_of([&] { set_field(s, "width", std::string_view("0"), ErrorKind::usage); }, ErrorKind::usage),
            "width = 0 is out of range: at least 1\n  fix: for example width = 64");
  EXPECT_EQ(to_values(s), to_values(Settings{})) << "a refused value must not change anything";
}

TEST(Fields, ValuesGoAroundUnchanged) {
  Settings s;
  s.width = 7;
  s.seed = 123456789012345;
  s.norm = Norm::pre;
  s.weights = {1, 2.5};
  s.cache.pages = 2;
  Settings copy;
  from_values(copy, to_values(s));
  EXPECT_EQ(to_values(copy), to_values(s));
  EXPECT_EQ(copy.norm, Norm::pre);
  for (const Field& f : fields_of(s)) find_field(fields_of(copy), f.name).set_text(text_of(f.get()));  // as text too
  EXPECT_EQ(to_values(copy), to_values(s));
}

TEST(Fields, TypesOfValuesAreChecked) {
  Settings s;
  EXPECT_EQ(recipe_error([&] { set_field(s, "width", FieldValue(2.5)); }),
            "width is 2.5, not a whole number\n  fix: for example width = 64");
  EXPECT_EQ(recipe_error([&] { set_field(s, "tie", FieldValue(int64_t{1})); }),
            "tie is 1, not a bool (true or false)\n  fix: for example tie = true");
  EXPECT_EQ(recipe_error([&] { set_field(s, "files", FieldValue(std::string("x"))); }),
            "files is \"x\", not a list of texts\n  fix: for example files = [\"a\"]");
  set_field(s, "rate", FieldValue(int64_t{0}));  // a whole number is a number
  EXPECT_EQ(s.rate, 0);
  set_field(s, "weights", FieldValue(std::vector<int64_t>{1, 2}));
  EXPECT_EQ(s.weights, (std::vector<double>{1, 2}));
}

TEST(Fields, SettingsMadeInCodeCanBeChecked) {
  Settings s;
  EXPECT_NO_THROW(check_fields(fields_of(s)));
  s.rate = 1.5;
  EXPECT_EQ(error_of([&] { check_fields(fields_of(s)); }, ErrorKind::usage),
            "rate = 1.5 is out of range: 0 to below 1\n  fix: for example rate = 0");
}

TEST(Fields, ReferenceTable) {
  EXPECT_EQ(reference_table<Cache>(),
            "key    default  range    meaning\n"
            "pages  8        1 to 64  pages kept\n");
  const std::string all = reference_table<Settings>();
  for (const char* part : {"softmax | band | linear", "cache.pages", "0 to below 1", "share that is dropped"})
    EXPECT_NE(all.find(part), std::string::npos) << all;
}

}  // namespace
}  // namespace attune
