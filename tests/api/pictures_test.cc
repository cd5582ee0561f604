// Pictures and graphs from files to scores: trained, resumed to the same bits, tested, asked about files.
#include <gtest/gtest.h>

#include <map>

#include "attune/classifier.h"
#include "attune/embedder.h"
#include "attune/model.h"
#include "attune/new_recipe.h"
#include "attune/test.h"
#include "checks.h"
#include "data/row_makers.h"
#include "data/tokenizers.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

struct ShapesRun {
  TempFolder folder{memory_folder()};
  std::string recipe = folder / "shapes.toml";

  ShapesRun() {
    Shapes(600, 1).put_in(folder.path(), "train");
    Shapes(100, 2).put_in(folder.path(), "valid");
    Shapes(100, 3).put_in(folder.path(), "test");
    put(recipe, R"(task = "image"
[data]
train = ["train-images.gz", "train-labels"]
valid = ["valid-images.gz", "valid-labels"]
test = ["test-images.gz", "test-labels"]
[model]
input = { kind = "patches", size = 2 }
position = "learned"
encoder_layers = 1
d_model = 32
d_ff = 32
heads = 2
dropout = 0.1
[train]
batch_tokens = 2048
shards = 4
learning_rate = 1e-2
warmup = 10
stop = "60u"
save = "10u"
validate = "20u"
average = 1
)");
  }
  TrainingOutcome train(const std::string& out, const Sets& sets = {}, int threads = 1) const {
    return Trainer({.recipe = recipe, .out = folder / out, .sets = sets, .threads = threads}).run();
  }
  double accuracy(const std::string& out) const {
    for (const MetricResult& r : test_model(folder / out, {}, {}, 1).scores)
      if (r.name == "accuracy") return r.score;
    return -1;
  }
};

TEST(PictureRuns, LearnTheirLabels) {
  const ShapesRun run;
  for (const char* input :
       {"{ kind = \"patches\", size = 2 }", "{ kind = \"convolution\", layers = 1, channels = 8 }"}) {
    run.train("m", {std::string("model.input=") + input, "train.stop=200u"});
    EXPECT_GE(run.accuracy("m"), 90) << input;
    std::filesystem::remove_all(run.folder / "m");
  }
}

TEST(PictureRuns, AreTheSameOnAnyThreadsOnTheDiskAndAfterAStop) {
  const ShapesRun run;
  run.train("whole");
  const std::string whole = slurp(run.folder / "whole/model.safetensors");
  run.train("threads", {}, 3);
  EXPECT_TRUE(slurp(run.folder / "threads/model.safetensors") == whole);
  limit_corpus_in_memory(1000);
  run.train("disk");
  limit_corpus_in_memory(0);
  EXPECT_TRUE(std::filesystem::exists(run.folder / "disk/corpus/tokens.bin"));
  EXPECT_TRUE(slurp(run.folder / "disk/model.safetensors") == whole);
  Trainer trainer({.recipe = run.recipe, .out = run.folder / "stopped", .sets = {}, .threads = 2});
  TrainingEvents events;
  events.on_update = [&](const TrainingStatus& s) {
    if (s.update == 27) trainer.stop();
  };
  EXPECT_EQ(trainer.run(events).reason, TrainingOutcome::Reason::interrupted);
  run.train("stopped");
  EXPECT_TRUE(slurp(run.folder / "stopped/model.safetensors") == whole);
}

/// Updates and epochs foresee the same time: what fills a batch is pixels, what is counted are labels.
TEST(PictureRuns, TheTimeIsForeseenByPixels) {
  const ShapesRun run;
  const auto foreseen = [&](const std::string& stop) {
    Trainer trainer({.recipe = run.recipe, .out = run.folder / stop, .sets = {"train.stop=" + stop}, .threads = 1});
    double seconds = 0;
    TrainingEvents events;
    events.on_plan = [&](const TrainingPlan& p) {
      seconds = p.seconds;
      trainer.stop();
    };
    trainer.run(events);
    return seconds;
  };
  const double epochs = foreseen("4e"), updates = foreseen("75u");  // 600 pictures of 64 pixels, 32 in a batch
  EXPECT_NEAR(updates / epochs, 1, 0.5);                            // the machine's peak is measured anew
}

TEST(PictureRuns, FilesAreClassified) {
  const ShapesRun run;
  run.train("m", {"train.stop=120u"});
  const Classifier c(run.folder / "m", 1);
  EXPECT_TRUE(c.reads_files());
  const Shapes test(100, 3);
  size_t right = 0, at = 0;
  c.classify_files({run.folder / "test-images.gz"}, [&](const std::string& name, const Classification& said) {
    EXPECT_EQ(name, "test-images.gz:" + std::to_string(at + 1));
    EXPECT_EQ(said.scores.size(), 3u);
    right += said.label == std::to_string(test.labels[at++]);
  });
  EXPECT_EQ(at, 100u);
  EXPECT_NEAR(static_cast<double>(right), run.accuracy("m"), 1e-9);
  EXPECT_EQ(error_of([&] { c.classify("a line"); }), "this model reads pictures, not lines\n  fix: name files of them");
  put(run.folder / "large", idx_pictures({std::string(81, 'x')}, 9, 9));
  EXPECT_NE(error_of([&] {
              c.classify_files({run.folder / "large"}, [](const auto&, const auto&) {});
            }).find("pictures of up to 9 x 9 pixels, and the model knows 8 x 8"),
            std::string::npos);
  const ModelDescription d = describe_model(run.folder / "m");
  EXPECT_EQ(d.task, "image");
  EXPECT_EQ(d.tokenizer, "");
  EXPECT_NE(error_of([&] { Embedder(run.folder / "m", 1); }).find("classifies pictures"), std::string::npos);
}

TEST(PictureRuns, ARecipeIsProposedThatLearns) {
  const ShapesRun run;
  const NewRecipe n = propose_recipe("image",
                                     {run.folder / "train-images.gz", run.folder / "train-labels",
                                      run.folder / "test-images.gz", run.folder / "test-labels"},
                                     {.out = run.folder / "new.toml", .threads = 1});
  EXPECT_EQ(n.pairs, 600);
  EXPECT_EQ(n.test_pairs, 100);
  EXPECT_TRUE(n.held_out);
  put(run.folder / "new.toml", n.text);
  Trainer({.recipe = run.folder / "new.toml", .out = run.folder / "new", .sets = {"train.stop=150u"}, .threads = 1})
      .run();
  EXPECT_GE(run.accuracy("new"), 90);
}

TEST(GraphRuns, NodesLearnFromThoseThatHaveLabels) {
  TempFolder folder(memory_folder());
  const std::vector<std::string> files = put_clubs(folder.path(), 60, 1);
  const NewRecipe n = propose_recipe("graph", files, {.out = folder / "graph.toml", .threads = 1});
  put(folder / "graph.toml", n.text);
  const Sets sets{"model.d_model=16",          "model.d_ff=16",      "model.heads=2", "model.dropout=0.1",
                  "model.attention_dropout=0", "model.input=linear", "train.stop=60u"};
  Trainer({.recipe = folder / "graph.toml", .out = folder / "m", .sets = sets, .threads = 1}).run();
  const TestReport report = test_model(folder / "m", {}, {}, 1);
  ASSERT_EQ(report.scores[0].name, "accuracy");
  EXPECT_GE(report.scores[0].score, 90);
  // Without edges a third of the nodes can only be guessed.
  std::map<std::string, std::string> said;
  Classifier(folder / "m", 1).classify_files(files, [&](const std::string& name, const Classification& c) {
    said[name] = c.label;
  });
  EXPECT_EQ(said.size(), 120u);
  EXPECT_TRUE(said["n0"] == "red" || said["n0"] == "blue");
  Trainer({.recipe = folder / "graph.toml", .out = folder / "twice", .sets = sets, .threads = 2}).run();
  EXPECT_TRUE(slurp(folder / "twice/model.safetensors") == slurp(folder / "m/model.safetensors"));
  // Labels that look like those of spans: nodes do not follow one another, so each is judged by itself.
  std::string nodes = slurp(files[0]);
  for (const auto& [name, span] : {std::pair<std::string, std::string>{"\tred\t", "\tI-y\t"}, {"\tblue\t", "\tI-x\t"}})
    for (size_t at = 0; (at = nodes.find(name, at)) != std::string::npos;) nodes.replace(at, name.size(), span);
  put(files[0], nodes);
  Trainer({.recipe = folder / "graph.toml", .out = folder / "spans", .sets = sets, .threads = 1}).run();
  const TestReport spans = test_model(folder / "spans", {}, {}, 1);
  ASSERT_EQ(spans.scores.size(), report.scores.size());
  EXPECT_EQ(spans.scores[0].score, report.scores[0].score);
}

TEST(PictureRuns, WhatMakesNoSenseIsRefused) {
  const ShapesRun run;
  const auto refused = [&](const std::string& set) {
    return error_of([&] { Trainer({.recipe = run.recipe, .out = run.folder / "no", .sets = {set}, .threads = 1}); });
  };
  for (const char* set :
       {"data.lowercase=true", "data.columns=[1,2]", "data.stream=true", "data.max_length=10", "data.encoding=latin-1",
        "model.word_dropout=0.1", "train.mask=0.3", "train.target_noise=0.1"}) {
    const std::string key = std::string(set).substr(0, std::string(set).find('='));
    EXPECT_EQ(refused(set), "--set: " + key + " is for texts, and task = \"image\" reads none\n  fix: leave it out");
  }
  EXPECT_NE(refused("tokenizer.size=100").find("tokenizer.size is for texts, and task = \"image\" reads none"),
            std::string::npos);
  EXPECT_NE(refused("model.head=tags").find("model.head = \"tags\" is for texts"), std::string::npos);
  EXPECT_NE(refused("model.kind=bag").find("counts words"), std::string::npos);
  EXPECT_NE(refused("data.format=tsv").find("data.format holds texts"), std::string::npos);
  EXPECT_NE(refused("model.input=embed").find("reads words, and the data has vectors"), std::string::npos);
  EXPECT_NE(refused("model.position=transformer-xl").find("counts along one axis"), std::string::npos);
  EXPECT_NE(refused("train.metric=bleu").find("does not judge"), std::string::npos);
  const std::string line = error_of([&] {
    put(run.folder / "bad.toml", "task = \"image\"\n[data]\ntrain = [\"a\", \"b\"]\nlowercase = true\n");
    Trainer({.recipe = run.folder / "bad.toml", .out = run.folder / "no", .sets = {}, .threads = 1});
  });
  EXPECT_TRUE(line.starts_with(run.folder / "bad.toml" + ":4: data.lowercase is for texts")) << line;
  EXPECT_FALSE(std::filesystem::exists(run.folder / "no"));
}

}  // namespace
}  // namespace attune::test
