#include "model/usual_position.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

/// What sides and model have after a recipe with such lines below [model].
std::string positions_of(const std::string& model, const std::string& head = "task = \"translate\"\n") {
  Recipe r = read_recipe(head + "[model]\n" + model, "r.toml");
  settle_position(r);
  return r.model.position.literal() + " " + r.model.encoder_position.literal() + " " +
         r.model.decoder_position.literal();
}

TEST(UsualPosition, IsRopeWhereAttentionCanTakeIt) {
  EXPECT_EQ(positions_of(""), R"("rope" "" "")");
  EXPECT_EQ(positions_of("attention = \"band\""), R"("rope" "" "")");
  EXPECT_EQ(positions_of("attention = { kind = \"softmax\", score = \"additive\" }"), R"("rope" "" "")");
  EXPECT_EQ(positions_of("attention = \"linear\""), R"("sinusoidal" "" "")");
  EXPECT_EQ(positions_of("attention = [\"softmax\", \"linear\"]"), R"("sinusoidal" "" "")");
  EXPECT_EQ(positions_of("encoder_attention = \"luna\""), R"("rope" "sinusoidal" "")");
  EXPECT_EQ(positions_of("decoder_attention = \"linear\""), R"("rope" "" "sinusoidal")");
  EXPECT_EQ(positions_of("decoder_attention = \"linear\"", "task = \"language\"\n"), R"("sinusoidal" "" "")");
  EXPECT_EQ(positions_of("d_model = 36\nheads = 4"), R"("sinusoidal" "" "")") << "9 columns a head";
  EXPECT_EQ(positions_of("decoder_heads = 128"), R"("rope" "" "sinusoidal")");
  EXPECT_EQ(positions_of("kind = \"rnn\"\nattention = \"linear\""), R"("rope" "" "")") << "no side asks";
}

TEST(UsualPosition, LeavesWhatWasSaid) {
  EXPECT_EQ(positions_of("position = \"rope\"\nattention = \"linear\""), R"("rope" "" "")");
  EXPECT_EQ(positions_of("position = \"none\"\nattention = \"linear\""), R"("none" "" "")");
  EXPECT_EQ(positions_of("encoder_position = \"learned\"\nencoder_attention = \"linear\""), R"("rope" "learned" "")");
  EXPECT_EQ(positions_of("attention = \"linear\"", "task = \"graph\"\n"), R"("none" "" "")");
}

TEST(UsualSettings, AreThoseThatNewWrites) {
  const Recipe r = read_recipe("task = \"translate\"\n", "r.toml");
  EXPECT_EQ(r.model.norm, NormPlace::pre);
  EXPECT_EQ(r.train.schedule, Schedule::cosine);
  EXPECT_EQ(r.train.clip, 1);
  const auto schedule = [](const std::string& train) {
    return read_recipe("task = \"translate\"\n[train]\n" + train, "r.toml").train.schedule;
  };
  EXPECT_EQ(schedule("stop = \"90m\""), Schedule::inverse_sqrt) << "nobody knows how many updates that will be";
  EXPECT_EQ(schedule("stop = \"0u\""), Schedule::inverse_sqrt);
  EXPECT_EQ(schedule("stop = \"20e\""), Schedule::cosine);
  EXPECT_EQ(schedule("stop = \"90m\"\nschedule = \"linear\""), Schedule::linear) << "refused when the run begins";
}

}  // namespace
}  // namespace attune
