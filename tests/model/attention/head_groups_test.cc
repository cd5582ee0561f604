// Heads that attend in different ways, against each mechanism's own formula.
#include "checks.h"
#include "model/attention/lab.h"
#include "recipe/reader.h"
#include "recipe/settings.h"

namespace attune {
namespace {

/// Child et al. 2019, section 4.3: A^(1) in some heads, A^(2) in the others.
TEST(HeadGroups, EachHeadHasItsMechanism) {
  for (const bool causal : {false, true}) {
    Lab lab({"heads", {{"of", "band(width=3), sparse(atoms=strided 4)"}}}, causal);
    const auto formula = [&](int64_t i, int64_t h, int64_t from, int64_t to) {
      Row a;
      for (int64_t j = from; j < to; ++j) {
        const bool near = causal ? i - j < 3 : std::abs(i - j) <= 1;
        const bool seen = (h == 0 ? near : (i - j) % 4 == 0) && (!causal || j <= i);
        a.push_back(seen ? std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2) : 0);
      }
      return divided(a, total(a));
    };
    lab.expect(formula);
    if (causal) lab.expect_steps(formula);
    const std::vector<float> looked = lab.weights(2);
    for (int64_t h = 0; h < 2; ++h) {
      const Row right = formula(24 + 17, h, 24, 64);
      for (int64_t j = 0; j < 40; ++j)
        EXPECT_NEAR(looked[static_cast<size_t>((h * 40 + 17) * 40 + j)], right[static_cast<size_t>(j)], 1e-5);
    }
  }
}

std::string refused(const std::string& of, const std::string& heads, int64_t heads_kv = 4, bool causal = false) {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  const AttentionSetup setup{.heads = 4, .heads_kv = heads_kv, .dim = 4, .causal = causal};
  return error_of(
      [&] {
        make_attention({"heads", {{"of", of}, {"heads", heads}}}, setup, Blueprint(shared, "x"), "model.attention");
      },
      ErrorKind::recipe);
}

TEST(HeadGroups, SayWhatCannotBe) {
  const auto expect_says = [](const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.rfind("model.attention = { kind = \"heads\"", 0), 0u) << error;
  };
  expect_says(refused("softmax, bnd", ""), "of = \"bnd\" is not known. Did you mean \"band\"?");
  expect_says(refused("softmax, linear, band", ""), "4 heads are not as many for each of 3 mechanisms");
  expect_says(refused("softmax, linear", "3"), "heads = [3] share 4 heads out to 2 mechanisms");
  expect_says(refused("softmax, linear", "3, 2"), "heads = [3, 2] share 4 heads out to 2 mechanisms");
  expect_says(refused("softmax, linear", "3, x"), "heads = \"3, x\" are no numbers of heads");
  expect_says(refused("softmax, linear", "3, 1", 2), "3 heads of \"softmax\" can't share keys by 2");
  expect_says(refused("softmax, star", "", 4, true), "of = \"star\" sees the future");
  expect_says(refused("softmax, longformer", ""), "\"longformer\" is a whole layer, not some of its heads");
  expect_says(refused("softmax, etc", ""), "\"etc\" is a whole layer, not some of its heads");
  expect_says(refused("softmax, ", ""), "names no mechanisms");
}

TEST(HeadGroups, AreReadFromLists) {
  const auto attention = [](const std::string& value) {
    Recipe r;
    parse_recipe("[model]\nattention = " + value, "r.toml", fields_of(r));
    return r.model.attention.at(0);
  };
  const Choice c =
      attention("{ kind = \"heads\", of = [\"softmax\", { kind = \"band\", width = 64 }], heads = [2, 6] }");
  EXPECT_EQ(std::get<std::string>(c.options.at("of")), "softmax, band(width=64)");
  EXPECT_EQ(std::get<std::string>(c.options.at("heads")), "2, 6");
  Choice again;
  ASSERT_TRUE(Choice::parse(c.text(), again));
  EXPECT_EQ(again, c);
}

}  // namespace
}  // namespace attune
