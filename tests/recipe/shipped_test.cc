// Every recipe that ships is one that can be read.
#include <filesystem>

#include "checks.h"
#include "places.h"
#include "recipe/settings.h"

namespace attune {
namespace {

TEST(ShippedRecipes, AllCanBeRead) {
  int seen = 0;
  for (const char* folder : {"bench/peers", "recipes"}) {
    const std::filesystem::path root = std::filesystem::path(test::source_dir()) / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
      if (file.path().extension() != ".toml") continue;
      ++seen;
      EXPECT_NO_THROW(load_recipe(file.path().string())) << file.path();
    }
  }
  EXPECT_GE(seen, 2);
}

TEST(ShippedRecipes, ThePeersModelsDifferInSizeAlone) {
  Recipe tiny = load_recipe(test::source_dir() + "/bench/peers/tiny.toml");
  const Recipe base = load_recipe(test::source_dir() + "/bench/peers/base.toml");
  tiny.model.encoder_layers = tiny.model.decoder_layers = 6;
  tiny.model.d_model = 512;
  tiny.model.d_ff = 2048;
  tiny.model.heads = 8;
  // As many pieces of a batch, but fewer gradients at a time: those of base are 193 MB each.
  EXPECT_EQ(tiny.train.shards * tiny.train.slices, base.train.shards * base.train.slices);
  tiny.train.shards = base.train.shards;
  tiny.train.slices = base.train.slices;
  EXPECT_EQ(recipe_text(tiny), recipe_text(base));
}

}  // namespace
}  // namespace attune
