// attune on pictures as people and scripts meet it: new, train, classify, test, info.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.h"
#include "data/row_makers.h"

namespace attune::test {
namespace {

TEST(PictureCommands, FromFilesToLabels) {
  TempFolder folder(memory_folder());
  const auto train = Shapes(300, 1).put_in(folder.path(), "train"), test = Shapes(40, 2).put_in(folder.path(), "test");
  const std::string recipe = folder / "image.toml", model = folder / "m";
  Outcome r = run_attune({"new", "image", train[0], train[1], test[0], test[1], "--out", recipe});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("300 pictures of 8 x 8 pixels to train on; 3 labels: 0, 1, 2"), std::string::npos) << r.err;
  r = run_attune(
      {"train", recipe, "--out", model, "--threads", "1", "--set", "train.stop=80u", "--set", "train.validate=40u"});
  ASSERT_EQ(r.code, 0) << r.err;
  r = run_attune({"classify", model, test[0]});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(lines_of(r.out).size(), 40u);
  const auto j = nlohmann::json::parse(lines_of(run_attune({"classify", model, test[0], "--json"}).out)[1]);
  EXPECT_EQ(j["file"], "test-images.gz:2");
  EXPECT_EQ(j["label"], lines_of(r.out)[1]);
  EXPECT_EQ(j["scores"].size(), 3u);
  EXPECT_EQ(j["score"], j["scores"][j["label"].get<std::string>()]);
  const auto scores = nlohmann::json::parse(run_attune({"test", model, "--json"}).out);
  size_t right = 0;
  const Shapes shapes(40, 2);
  for (size_t i = 0; i < 40; ++i) right += lines_of(r.out)[i] == std::to_string(shapes.labels[i]);
  EXPECT_NEAR(scores["accuracy"].get<double>(), 100.0 * static_cast<double>(right) / 40, 1e-6);
  r = run_attune({"info", model});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out.find("vocabulary"), std::string::npos) << r.out;
  // What it can't do, it says.
  EXPECT_EQ(run_attune({"classify", model}).code, 2);
  EXPECT_EQ(run_attune({"classify", model, test[1]}).code, 4);
  for (const char* command : {"translate", "tag", "embed", "generate"})
    EXPECT_EQ(run_attune({command, model, test[0]}).code, 5) << command;
  EXPECT_NE(run_attune({"look", model, "text"}).code, 0);
}

}  // namespace
}  // namespace attune::test
