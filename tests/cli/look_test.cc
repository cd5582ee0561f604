// attune look as people meet it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/model_maker.h"
#include "base/files.h"
#include "show/well_formed.h"

namespace attune::test {
namespace {

TEST(Look, EitherSideLooksAtItself) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  for (const std::string at : {"encoder", "decoder"}) {
    const auto j = nlohmann::json::parse(
        run_attune({"look", model, "the cat sees", "--target", "ein hund", "--at", at, "--head", "0", "--json"}).out);
    const size_t n = j["source"].size();
    ASSERT_EQ(j["weights"].size(), j["target"].size());
    EXPECT_EQ(j["target"].size(), n) << at;
    for (size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) {
        const double w = j["weights"][i][k].get<double>();
        sum += w;
        EXPECT_TRUE(at == "encoder" || k <= i || w == 0) << i << " sees " << k;
      }
      EXPECT_NEAR(sum, 1, 1e-4);
    }
  }
}

TEST(Look, DrawsAGivenTranslation) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const Outcome r = run_attune({"look", model, "the cat sees", "--target", "ein hund", "--width", "100"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("decoder layer 0 of 2, the mean of 4 heads"), std::string::npos) << r.err;
  for (const char* shown : {"</s>", "▁hund", "▁the"}) EXPECT_NE(r.out.find(shown), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos);  // no colours but in a terminal
  EXPECT_EQ(run_attune({"look", model, "the cat sees"}).code, 0);
}

TEST(Look, Json) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const auto j = nlohmann::json::parse(
      run_attune({"look", model, "the cat", "--target", "ein hund", "--layer", "1", "--head", "3", "--json"}).out);
  EXPECT_EQ(j["layer"], 1);
  EXPECT_EQ(j["head"], 3);
  ASSERT_EQ(j["weights"].size(), j["target"].size());
  double total = 0;
  for (const double w : j["weights"][0]) total += w;
  EXPECT_NEAR(total, 1, 1e-4);
}

TEST(Look, JsonHasAllHeadsAndTheAlignmentOfTranslate) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const auto j = nlohmann::json::parse(run_attune({"look", model, "the cat sees", "--json"}).out);
  EXPECT_EQ(j["task"], "translate");
  ASSERT_EQ(j["sites"].size(), 8u) << "2 layers of 4 heads";
  for (const auto& site : j["sites"]) {
    const auto alone = nlohmann::json::parse(
        run_attune({"look", model, "the cat sees", "--layer", std::to_string(site["layer"].get<int>()), "--head",
                    std::to_string(site["head"].get<int>()), "--json"})
            .out);
    ASSERT_EQ(alone["sites"].size(), 1u);
    EXPECT_EQ(alone["weights"], site["weights"]);
    EXPECT_EQ(alone["sites"][0]["weights"], site["weights"]);
    for (const auto& row : site["weights"]) {
      double total = 0;
      for (const double w : row) total += w;
      EXPECT_NEAR(total, 1, 1e-4);
    }
  }
  write_file(dir / "line", "the cat sees\n");
  const auto t = nlohmann::json::parse(run_attune({"translate", model, dir / "line", "--json"}).out);
  EXPECT_EQ(j["text"], t["text"]);
  EXPECT_EQ(j["alignment"], t["alignment"]);
  EXPECT_FALSE(j["alignment"].empty());
}

TEST(Look, DrawsToFiles) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const Outcome r = run_attune({"look", model, "the cat sees", "--target", "ein 猫", "--png", dir / "a.png", "--svg",
                                dir / "a.svg", "--html", dir / "a.html"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "") << "nothing in the terminal";
  EXPECT_EQ(slurp(dir / "a.png").substr(1, 3), "PNG");
  EXPECT_EQ(trouble_with_markup(slurp(dir / "a.svg")), "");
  const std::string page = slurp(dir / "a.html");
  EXPECT_EQ(trouble_with_markup(page), "");
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(page.find("layer 1, head 3"), std::string::npos);
  // A layer and a head: one large.
  ASSERT_EQ(run_attune({"look", model, "the cat", "--layer", "1", "--head", "2", "--svg", dir / "b.svg"}).code, 0);
  const std::string one = slurp(dir / "b.svg");
  EXPECT_NE(one.find("layer 1, head 2"), std::string::npos);
  EXPECT_EQ(one.find("head 0"), std::string::npos);
  EXPECT_EQ(run_attune({"look", model, "the cat", "--html", dir / "none/a.html"}).code, 6);
}

TEST(Look, ATextThatIsTooLongIsCroppedAndItIsSaid) {
  const TempFolder dir;
  const std::string model = make_model(dir, {.position = "learned"});
  std::string text;
  for (int i = 0; i < 60; ++i) text += "dog ";
  const Outcome r = run_attune({"look", model, text, "--target", "ein hund", "--svg", dir / "a.svg"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("note: the text was cropped"), std::string::npos) << r.err;
}

TEST(Look, Mistakes) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  EXPECT_NE(run_attune({"look", model, "a", "--layer", "7"}).err.find("there is no layer 7"), std::string::npos);
  EXPECT_NE(run_attune({"look", model, "a", "--at", "encoder", "--layer", "7"}).err.find("the encoder has layers 0 to"),
            std::string::npos);
  EXPECT_EQ(run_attune({"look", model, "a", "--at", "sideways"}).code, 2);
  EXPECT_NE(run_attune({"look", model, " "}).err.find("fix: give a sentence"), std::string::npos);
  EXPECT_EQ(run_attune({"look", dir / "none", "a"}).code, 5);
}

}  // namespace
}  // namespace attune::test
