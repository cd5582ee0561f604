// Probes as corpora: the same bytes for the same seed, nothing twice, and recipes that ship as they are written.
#include "attune/probe.h"

#include <filesystem>
#include <set>

#include "checks.h"
#include "data/files.h"
#include "places.h"
#include "recipe/settings.h"

namespace attune::test {
namespace {

using attune::error_of;

std::string all_lines(const Probe& p) {
  std::string text = p.recipe;
  for (const auto* part : {&p.train, &p.valid, &p.test})
    for (const ProbePair& pair : *part) text += pair.source + "\t" + pair.target + "\n";
  return text;
}

TEST(Probe, SameSeedSameBytes) {
  for (const ProbeDescription& d : probes()) {
    const ProbeOptions options{.seed = 7, .lines = 300};
    EXPECT_TRUE(all_lines(make_probe(d.name, options)) == all_lines(make_probe(d.name, options))) << d.name;
    EXPECT_FALSE(all_lines(make_probe(d.name, {.seed = 8, .lines = 300})) == all_lines(make_probe(d.name, options)));
    // More training lines leave the tested ones as they are.
    EXPECT_EQ(make_probe(d.name, {.seed = 7, .lines = 310}).test.back().source,
              make_probe(d.name, options).test.back().source);
  }
}

TEST(Probe, NoLineTwice) {
  for (const ProbeDescription& d : probes()) {
    const Probe p = make_probe(d.name, {.lines = 2000});
    std::set<std::string> seen;
    for (const auto* part : {&p.train, &p.valid, &p.test})
      for (const ProbePair& pair : *part) EXPECT_TRUE(seen.insert(pair.source).second) << pair.source;
    EXPECT_EQ(p.train.size(), 2000u);
    EXPECT_EQ(p.valid.size(), 500u);
    EXPECT_EQ(p.test.size(), 1000u);
  }
}

TEST(Probe, RecipesShipAsTheyAreWritten) {
  for (const ProbeDescription& d : probes())
    EXPECT_EQ(make_probe(d.name, {.lines = 2000}).recipe,
              slurp(source_dir() + "/recipes/probes/" + d.name + "/recipe.toml"))
        << "fix: build/attune new probe:" << d.name << " --force --out recipes/probes/" << d.name;
}

TEST(Probe, IsSavedWithItsData) {
  const TempFolder dir;
  const Probe p = make_probe("copy", {.lines = 50, .gap = 300});
  save_probe(p, dir / "a/b");
  const Recipe recipe = load_recipe_for_run(dir / "a/b/recipe.toml");
  EXPECT_GE(recipe.data.max_length, 12 + 300 + 1);
  EXPECT_GE(recipe.train.batch_tokens.tokens, 8 * recipe.data.max_length);
  for (const auto* files :
       {static_cast<const std::vector<std::string>*>(&recipe.data.train), &recipe.data.valid, &recipe.data.test})
    for (const std::string& file : *files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_TRUE(slurp(recipe.data.train[0]).starts_with(p.train[0].source + "\n" + p.train[1].source));

  save_probe(p, dir / "a/b");  // the same recipe is not in the way, another one is
  const Probe other = make_probe("copy", {.lines = 50, .gap = 20});
  const std::string text = error_of([&] { save_probe(other, dir / "a/b"); }, ErrorKind::usage);
  EXPECT_NE(text.find("is there already and says something else\n  fix: "), std::string::npos) << text;
  save_probe(other, dir / "a/b", true);
  EXPECT_EQ(slurp(dir / "a/b/recipe.toml"), other.recipe);
  put(dir / "file", "");
  EXPECT_NE(error_of([&] { save_probe(p, dir / "file"); }, ErrorKind::usage).find("is not a folder"),
            std::string::npos);
}

TEST(Probe, WhatIsNotThereIsRefused) {
  const auto trouble = [](const std::string& name, const ProbeOptions& options = {}) {
    return error_of([&] { make_probe(name, options); }, ErrorKind::usage);
  };
  EXPECT_EQ(trouble("lisops"), "there is no probe 'lisops'. Did you mean 'listops'?");
  EXPECT_EQ(trouble("xyzzy"), "there is no probe 'xyzzy'. There are: copy, listops, agreement");
  EXPECT_EQ(trouble("copy", {.depth = 3}), "the probe 'copy' has no depth\n  fix: leave it out; it has gap");
  EXPECT_TRUE(trouble("listops", {.words = 2}).starts_with("words = 2, wanted 4 to "));
  EXPECT_TRUE(trouble("listops", {.depth = 1, .words = 4}).starts_with("there are too few different"));
}

}  // namespace
}  // namespace attune::test
