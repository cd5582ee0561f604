// Values of --over: what is one value, what they are multiplied to, and what their folders are called.
#include "compare/variants.h"

#include "checks.h"

namespace attune {
namespace {

using Words = std::vector<std::string>;

TEST(CompareValues, SplitAtCommasOutsideBracketsAndQuotes) {
  EXPECT_EQ(split_values("a,b,c"), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_values(" a , 1e-3 "), (Words{"a", "1e-3"}));
  EXPECT_EQ(split_values("softmax,{ kind = \"band\", width = 64 },[\"softmax\", { kind = \"band\", width = 8 }]"),
            (Words{"softmax", "{ kind = \"band\", width = 64 }", "[\"softmax\", { kind = \"band\", width = 8 }]"}));
  EXPECT_EQ(split_values(R"("a,b",'c,]','d"',"e\",f")"), (Words{R"("a,b")", "'c,]'", "'d\"'", R"("e\",f")"}));
  EXPECT_EQ(split_values("band(width=64;global=2),softmax"), (Words{"band(width=64;global=2)", "softmax"}));
  EXPECT_EQ(split_values("\"\""), (Words{"\"\""}));
}

TEST(CompareValues, WhatIsNotClosedOrEmptyIsRefused) {
  const auto trouble = [](const char* text) { return error_of([&] { split_values(text); }, ErrorKind::usage); };
  EXPECT_EQ(trouble("[a,b"), "--over: a ']' is missing at the end of '[a,b'");
  EXPECT_EQ(trouble("a,\"b"), "--over: a '\"' is missing at the end of 'a,\"b'");
  EXPECT_TRUE(trouble("a],b").starts_with("--over: a ']' in 'a],b' was never opened"));
  EXPECT_TRUE(trouble("{a]").starts_with("--over: a ']' in '{a]' was never opened"));
  for (const char* text : {"a,,b", "a,", ",a", "", " "})
    EXPECT_TRUE(trouble(text).starts_with("--over: a value of '")) << text;
}

TEST(CompareVariants, SeveralKeysMakeTheProduct) {
  const auto v = variants_of({"model.attention=softmax,band", "train.seed=1,2,3"});
  ASSERT_EQ(v.size(), 6u);
  EXPECT_EQ(v[0].name, "softmax-seed-1");
  EXPECT_EQ(v[1].name, "softmax-seed-2");
  EXPECT_EQ(v[5].name, "band-seed-3");
  EXPECT_EQ(v[5].sets(), (Words{"model.attention=band", "train.seed=3"}));
}

TEST(CompareVariants, NamesTellTheValuesAndFitAnyDisk) {
  const auto name = [](const std::string& over) { return variants_of({over}).at(0).name; };
  EXPECT_EQ(name("model.attention={ kind = \"band\", width = 64 }"), "band-width-64");
  EXPECT_EQ(name("model.attention=[\"softmax\",\"band\"]"), "softmax-band");
  EXPECT_EQ(name("model.d_model=64"), "d_model-64");
  EXPECT_EQ(name("train.learning_rate=1e-3"), "learning_rate-1e-3");
  EXPECT_EQ(name("tokenizer.joint=true"), "joint-true");
  EXPECT_EQ(name("train.stop=\"200u\""), "200u");
  EXPECT_EQ(name("data.train=[\"../a/b.en\",\"/c/b.de\"]"), "a-b.en-c-b.de");
  EXPECT_EQ(name("model.position=\"\""), "position");
  EXPECT_TRUE(name("x=\"compare.html\"").starts_with("variant-"));
  EXPECT_EQ(name("x=..").find("/"), std::string::npos);
  EXPECT_FALSE(name("x=..").starts_with("."));
  const std::string longest = name("x=" + std::string(300, 'a'));
  EXPECT_LE(longest.size(), 80u);
  EXPECT_NE(longest, name("x=" + std::string(301, 'a')));
  // Alike but for what a name can't hold, or for capitals that some disks don't tell apart.
  for (const char* over : {"x=\"a b\",a-b", "x=Abc,aBC"}) {
    const auto v = variants_of({over});
    EXPECT_NE(v[0].name, v[1].name);
    EXPECT_TRUE(v[1].name.starts_with(over[2] == 'A' ? "aBC-" : "a-b-")) << v[1].name;
  }
  // A name does not depend on what else is compared.
  EXPECT_EQ(variants_of({"x=a,b,c"}).at(1).name, variants_of({"x=b"}).at(0).name);
}

TEST(CompareVariants, MistakesAreTold) {
  const auto trouble = [](const Words& over) { return error_of([&] { variants_of(over); }, ErrorKind::usage); };
  EXPECT_TRUE(trouble({}).starts_with("nothing to compare\n  fix: "));
  EXPECT_TRUE(trouble({"model.attention"}).starts_with("--over: 'model.attention' is not key=a,b,c\n  fix: "));
  EXPECT_TRUE(trouble({"=a,b"}).starts_with("--over: '=a,b' is not key=a,b,c"));
  EXPECT_EQ(trouble({"x=a,b,a"}), "--over: x has the value a twice\n  fix: remove one of them");
  EXPECT_EQ(trouble({"x=a", "x=b"}), "--over: x is there twice\n  fix: give all its values in one --over");
  std::string many = "0";
  for (int i = 1; i < 40; ++i) many += "," + std::to_string(i);
  EXPECT_TRUE(trouble({"x=" + many, "y=" + many}).starts_with("--over makes more than 1,000 variants"));
}

}  // namespace
}  // namespace attune
