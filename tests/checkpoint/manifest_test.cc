#include "checkpoint/manifest.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "checks.h"
#include "run_program.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

struct ManifestTest : testing::Test {
  TempFolder folder{test::memory_folder()};
  ManifestTest() {
    fs::create_directories(folder / "tokenizer");
    write_file(folder / "model.safetensors", std::string(3 << 20, 'm'));
    write_file(folder / "tokenizer/vocabulary", "a b c");
    write_file(folder / "empty", "");
    write_manifest(folder.path(), files_in(folder.path()));
  }
  std::string says() {
    const std::string text = error_of([&] { verify_manifest(folder.path()); }, ErrorKind::model);
    EXPECT_NE(text.find("\n  fix: "), std::string::npos) << text;
    return text.substr(0, text.find('\n'));
  }
};

TEST_F(ManifestTest, ListsEveryFile) {
  const Manifest m = verify_manifest(folder.path());
  ASSERT_EQ(m.size(), 3u);
  EXPECT_EQ(m[0], (ManifestEntry{"empty", 0, "xxh3:99aa06d3014798d86001c324468d497f"}));
  EXPECT_EQ(m[1].name, "model.safetensors");
  EXPECT_EQ(m[1].hash, hash_of(std::string(3 << 20, 'm')));
  EXPECT_EQ(m[2], (ManifestEntry{"tokenizer/vocabulary", 5, hash_of("a b c")}));
  EXPECT_EQ(read_manifest(folder.path()), m);
  write_file(folder / "notes.txt", "not listed, not minded");
  verify_manifest(folder.path());
}

TEST_F(ManifestTest, FindsAChangedByte) {
  std::string bytes = read_file(folder / "model.safetensors");
  bytes[2'000'000] ^= 1;
  write_file(folder / "model.safetensors", bytes);
  EXPECT_EQ(says(), folder / "model.safetensors has changed since it was saved: its hash differs");
}

TEST_F(ManifestTest, FindsWhatIsCutGrownOrLost) {
  fs::resize_file(folder / "model.safetensors", 5);
  EXPECT_EQ(says(), folder / "model.safetensors has 5 bytes instead of 3,145,728: it was cut short");
  fs::resize_file(folder / "model.safetensors", 3 << 20);
  EXPECT_EQ(says(), folder / "model.safetensors has changed since it was saved: its hash differs");
  write_file(folder / "model.safetensors", std::string(3 << 20, 'm'));
  write_file(folder / "tokenizer/vocabulary", "a b c d");
  EXPECT_EQ(says(), folder / "tokenizer/vocabulary has 7 bytes instead of 5: it was changed");
  fs::remove(folder / "tokenizer/vocabulary");
  EXPECT_EQ(says(), folder / "tokenizer/vocabulary is missing");
  fs::create_directory(folder / "tokenizer/vocabulary");
  EXPECT_EQ(says(), folder / "tokenizer/vocabulary is not a regular file");
}

TEST_F(ManifestTest, RefusesWhatIsNotAManifest) {
  const std::string place = folder / "manifest.json", entry = R"({"bytes":5,"hash":"x"})";
  for (const std::string bad : {"", "{", "[]", "7", "{}", R"({"format":1})", R"({"format":1,"files":[]})"}) {
    write_file(place, bad);
    EXPECT_EQ(says(), place + ": not a manifest") << bad;
  }
  for (const std::string name :
       {"../secret", "/etc/passwd", "a/../../b", "", "a\\u0000b", "./a", "a//b", "a/./b", "a/"}) {
    write_file(place, R"({"format":1,"files":{")" + name + "\":" + entry + "}}");
    EXPECT_TRUE(says().starts_with(place + ": what it says about '")) << name;
  }
  for (const std::string wrong : {"5", "{}", R"({"bytes":-5,"hash":"x"})", R"({"bytes":5,"hash":6})"}) {
    write_file(place, R"({"format":1,"files":{"a":)" + wrong + "}}");
    EXPECT_EQ(says(), place + ": what it says about 'a' makes no sense");
  }
  write_file(place, R"({"format":2,"files":{}})");
  EXPECT_EQ(says(), place + ": written by a newer attune");
  write_file(place, std::string((1 << 20) + 1, '['));
  EXPECT_EQ(says(), place + ": too large to be one");
  write_file(place, std::string(1 << 20, '['));
  EXPECT_EQ(says(), place + ": not a manifest");
  std::string many = R"({"format":1,"files":{)";  // half a megabyte of objects takes no seconds
  for (int i = 0; i < 40000; ++i) many += (i ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  write_file(place, many + "}}");
  EXPECT_EQ(says(), place + ": what it says about '0' makes no sense");
  for (const std::string deep : {R"({"format":1,"files":{"a":{"bytes":{}}}})", R"({"format":1,"files":{"a":[]}})"}) {
    write_file(place, deep);
    EXPECT_EQ(says(), place + ": not a manifest");
  }
  fs::remove(place);
  EXPECT_EQ(says(), folder.path() + " is not a model folder: it has no manifest.json");
}

}  // namespace
}  // namespace attune
