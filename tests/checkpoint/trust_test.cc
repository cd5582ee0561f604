// What a model folder may hold that no attune wrote: it is told, costs no memory, and harms nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"
#include "checks.h"
#include "run_program.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

void declare(Parameters& p) {
  p.add("a.weight", Shape{3, 4}, true);
  p.add("b.bias", Shape{4});
  p.allocate();
}

TEST(Trust, WeightsThatAreNoNumbersAreNamed) {
  const TempFolder folder;
  const std::string path = folder / "m.safetensors";
  Parameters p;
  declare(p);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), 1.0f}) {
    p.data()[p.offset(1) + 2] = bad;
    write_safetensors(path, tensors_of(p));
    Parameters q;
    declare(q);
    const std::string text = error_of([&] { load_parameters(path, q); }, ErrorKind::model);
    EXPECT_EQ(without_fix(text), std::isfinite(bad) ? "no error"
                                                    : path + ": tensor 'b.bias' is not all numbers: " +
                                                          (std::isnan(bad) ? "NaN" : "infinity") + " at place 2");
  }
}

TEST(Trust, ARecipeOfAnotherSizeTakesNoMemory) {
  const TempFolder folder;
  const std::string path = folder / "m.safetensors";
  Parameters p;
  declare(p);
  write_safetensors(path, tensors_of(p));
  Parameters huge;  // 64 GB, were it allocated
  huge.add("a.weight", Shape{1 << 17, 1 << 17}, true);
  huge.add("b.bias", Shape{4});
  EXPECT_EQ(without_fix(error_of([&] { check_declared(path, huge); }, ErrorKind::model)),
            path + ": tensor 'a.weight' is [3, 4], the model wants [131072, 131072]");
  check_declared(path, p);
}

TEST(Trust, AManifestIsARegularFile) {
  const TempFolder folder;
  const std::string dir = folder / "m", manifest = dir + "/" + kManifestName;
  fs::create_directories(dir);
  const auto says = [&] { return without_fix(error_of([&] { read_manifest(dir); }, ErrorKind::model)); };
  ASSERT_EQ(mkfifo(manifest.c_str(), 0600), 0);
  EXPECT_EQ(says(), manifest + ": not a regular file");
  fs::remove(manifest);
  fs::create_symlink("/dev/zero", manifest);
  EXPECT_EQ(says(), manifest + ": not a regular file");
  fs::remove(manifest);
  fs::create_directories(manifest);
  EXPECT_EQ(says(), manifest + ": not a regular file");
  EXPECT_EQ(error_of([&] { read_regular_file("/dev/zero", 10); }, ErrorKind::io),
            "cannot read /dev/zero: not a regular file");
  write_file(folder / "long", "0123456789a");
  EXPECT_TRUE(error_of([&] { read_regular_file(folder / "long", 10); }, ErrorKind::io).starts_with("cannot read "));
  EXPECT_EQ(read_regular_file(folder / "long", 11), "0123456789a");
}

/// A file that the folder's own model has, with other bytes.
void plant(const std::string& next, const std::string& name, const std::string& content) {
  fs::create_directories(fs::path(next + "/" + name).parent_path());
  write_file(next + "/" + name, content);
}

TEST(Trust, AModelIsReplacedByAWholeOneAlone) {
  const TempFolder folder;
  const std::string dir = folder / "m", next = dir + "/" + kNextModelName;
  fs::create_directories(dir);
  plant(dir, "recipe.toml", "old");
  plant(dir, kModelName, "old");
  write_manifest(dir, {"recipe.toml", kModelName});
  // It lists a file that is nowhere.
  plant(next, "recipe.toml", "new");
  plant(next, kModelName, "new");
  plant(next, "other", "gone");
  write_manifest(next, {"other", "recipe.toml", kModelName});
  fs::remove(next + "/other");
  open_model(dir);
  EXPECT_EQ(read_file(dir + "/recipe.toml"), "old");
  // One that was stopped in the middle of its move goes on.
  plant(dir, "other", "gone");
  open_model(dir);
  EXPECT_EQ(read_file(dir + "/recipe.toml"), "new");
  EXPECT_EQ(read_manifest(dir).size(), 3u);
  // What lists no weights is no model, however whole it is.
  plant(next, "recipe.toml", "newer");
  write_manifest(next, {"recipe.toml"});
  open_model(dir);
  EXPECT_EQ(read_file(dir + "/recipe.toml"), "new");
}

/// A save that can't be finished is told, and the model that was there stays.
TEST(Trust, AFolderThatIsALinkIsNotWrittenThrough) {
  const TempFolder folder;
  const std::string dir = folder / "m";
  fs::create_directories(folder / "elsewhere");
  fs::create_directories(dir);
  fs::create_directory_symlink(folder / "elsewhere", dir + "/tokenizer");
  std::vector<float> weights{1};
  ModelContents c;
  c.recipe = "new";
  c.weights = {{"w", Stored::f32, {1}, weights.data()}};
  c.save_tokenizer = [](const std::string& to) { plant(to, "vocabulary", "a"); };
  EXPECT_EQ(without_fix(error_of([&] { save_model(dir, c); }, ErrorKind::io)),
            "cannot write into " + dir + "/tokenizer: it is a link");
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
  fs::remove(dir + "/tokenizer");
  open_model(dir);
  EXPECT_EQ(read_file(dir + "/recipe.toml"), "new") << "what was saved is whole, and moves up";
}

/// A copy takes no files from elsewhere with it.
TEST(Trust, ACopyFollowsNoLinksAndWaitsForNoPipes) {
  const TempFolder folder;
  write_file(folder / "secret", "mine");
  std::vector<float> weights{1};
  ModelContents c;
  c.recipe = "r";
  c.weights = {{"w", Stored::f32, {1}, weights.data()}};
  c.tokenizer = folder / "tokenizer";
  plant(c.tokenizer, "vocabulary", "a");
  fs::create_symlink(folder / "secret", c.tokenizer + "/more");
  EXPECT_EQ(without_fix(error_of([&] { save_model(folder / "m", c); }, ErrorKind::model)),
            c.tokenizer + "/more is not a regular file");
  fs::remove(c.tokenizer + "/more");
  ASSERT_EQ(mkfifo((c.tokenizer + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(without_fix(error_of([&] { save_model(folder / "m", c); }, ErrorKind::model)),
            c.tokenizer + "/pipe is not a regular file");
}

TEST(Trust, CheckpointsThatAreNoModelsArePassedOver) {
  const TempFolder folder;
  std::vector<float> weights{1};
  ModelContents c;
  c.recipe = "r";
  c.weights = {{"w", Stored::f32, {1}, weights.data()}};
  save_checkpoint(folder.path(), 1, c);
  const std::string empty = checkpoint_path(folder.path(), 2);
  plant(empty, "manifest.json", R"({"format":1,"files":{}})");
  const auto found = latest_checkpoint(folder.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->checkpoint.step, 1);
  ASSERT_EQ(found->damaged.size(), 1u);
  EXPECT_NE(found->damaged[0].find("lists no recipe.toml"), std::string::npos);
}

TEST(Trust, ALogIsNotWrittenThroughALink) {
  const TempFolder folder;
  write_file(folder / "mine", "precious\n");
  fs::create_symlink(folder / "mine", folder / "train.log");
  EXPECT_EQ(without_fix(error_of([&] { AppendedFile(folder / "train.log").line("x"); }, ErrorKind::io)),
            "cannot write " + folder / "train.log" + ": it is a link");
  EXPECT_EQ(read_file(folder / "mine"), "precious\n");
}

}  // namespace
}  // namespace attune
