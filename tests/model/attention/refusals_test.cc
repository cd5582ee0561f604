// What can't stand together is refused in one sentence, before anything runs.
#include <gtest/gtest.h>

#include "checks.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

std::string refusal(const std::function<void(ModelOptions&)>& change) {
  ModelOptions o = tiny_options();
  change(o);
  return error_of([&] { Model(o, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100}); },
                  ErrorKind::recipe);
}

TEST(Refusals, OneSentenceAndAWayOut) {
  EXPECT_EQ(refusal([](ModelOptions& o) { o.attention = {{"bandd"}}; }),
            "model.attention = \"bandd\" is not known. Did you mean \"band\"?");
  EXPECT_EQ(refusal([](ModelOptions& o) { o.cross_attention = {{"band"}}; }),
            "model.cross_attention = \"band\" works within one sequence, not from decoder to encoder\n"
            "  fix: another mechanism for model.cross_attention: see `attune info mechanisms`");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.attention = {{"linear"}};
              o.position = {"alibi"};
            }),
            "model.attention = \"linear\" has no scores that the position scheme \"alibi\" could change\n"
            "  fix: a scheme that is added to the embeddings (sinusoidal, learned), or none");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.decoder_attention = {{"softmax"}, {"persistent"}};
              o.decoder_position = {"shaw"};
            }),
            "model.decoder_attention = \"persistent\" has no scores that the position scheme \"shaw\" could change\n"
            "  fix: a scheme that is added to the embeddings (sinusoidal, learned), or rope");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.attention = {{"softmax", {{"score", "additive"}}}};
              o.position = {"music"};
            }),
            "model.attention = { kind = \"softmax\", score = \"additive\" }: score = \"additive\" with normalizer = "
            "\"softmax\" can't take the position scheme \"music\"\n"
            "  fix: a softmax of dot products, or a scheme that is added to the embeddings (sinusoidal, learned)");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.attention = {{"softmax", {{"score", "additiv"}}}};
            }),
            "model.attention = { kind = \"softmax\", score = \"additiv\" }: score = \"additiv\" is not known. Did you "
            "mean \"additive\"?");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.attention = {{"softmax", {{"shared", true}}}};
              o.heads_kv = 2;
            }),
            "model.attention = { kind = \"softmax\", shared = true }: shared = true makes 4 heads of keys, and "
            "heads_kv = 2\n  fix: leave out heads_kv");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.cross_attention = {{"softmax", {{"shared", true}}}};
            }),
            "model.cross_attention = { kind = \"softmax\", shared = true }: queries and keys are of two sequences "
            "from decoder to encoder, with a matrix each\n"
            "  fix: leave out shared");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.encoder_attention = {{"etc"}, {"softmax"}};
            }),
            "model.attention: every layer of a stack needs the same rows of its own\n"
            "  fix: one mechanism with one number of such rows (etc, bp, bigbird with external = true) for all layers");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.attention = {{"bigbird", {{"external", true}}}};
            }),
            "model.attention = { kind = \"bigbird\", external = true }: external rows see the future, which a decoder "
            "may not\n"
            "  fix: external = false for the decoder");
  EXPECT_EQ(refusal([](ModelOptions& o) {
              o.attention = {{"routing"}};
              o.heads_kv = 2;
            }),
            "model.attention = \"routing\": attention \"routing\" clusters each head by itself: heads_kv = 2 can't be "
            "shared by 4\n"
            "  fix: leave out heads_kv");
}

}  // namespace
}  // namespace attune
