#include "checkpoint/model_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "checkpoint/manifest.h"
#include "checks.h"
#include "run_program.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using Call = FileFault::Call;

void add_all(Parameters& p) {
  p.add("embedding.weight", Shape{5, 3});
  p.add("decoder.0.self.query.weight", Shape{4, 4}, true);
  p.add("decoder.0.self.query.bias", Shape{4});
  p.allocate();
}

struct FolderTest : testing::Test {
  TempFolder folder{test::memory_folder()};
  std::string dir = folder / "run";
  Parameters p;
  Aligned<float> first, second;

  FolderTest() {
    add_all(p);
    first = Aligned<float>(p.size());
    second = Aligned<float>(p.size());
    fill(1);
    fs::create_directories(folder / "tokenizer/more");
    write_file(folder / "tokenizer/vocabulary", "a b c");
    write_file(folder / "tokenizer/more/merges", "");
  }
  ~FolderTest() override { inject_file_fault({}); }

  void fill(float by) {
    for (int i = 0; i < p.count(); ++i)
      for (int64_t j = 0; j < p.value(i).size(); ++j) {
        p.data()[p.offset(i) + j] = by * static_cast<float>(j + 10 * i) / 3;
        first.data()[p.offset(i) + j] = by * -0.0f;
        second.data()[p.offset(i) + j] = by * 1e-40f;
      }
  }
  /// Two blocks of the parameters' layout.
  static StoredTensors moments(const Parameters& of, float* a, float* b) {
    StoredTensors all = tensors_of(of, a, ".first");
    for (StoredTensor& t : tensors_of(of, b, ".second")) all.push_back(std::move(t));
    return all;
  }
  ModelContents contents(int64_t step = 0) {
    ModelContents c;
    c.weights = tensors_of(p);
    c.optimizer = moments(p, first.data(), second.data());
    c.trainer = State();
    c.trainer->set("step", step);
    c.recipe = "task = \"translate\"\n";
    c.tokenizer = folder / "tokenizer";
    return c;
  }
  std::vector<std::string> names(const std::string& path) const {
    std::vector<std::string> all;
    if (fs::exists(path))
      for (const auto& e : fs::directory_iterator(path)) all.push_back(e.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST_F(FolderTest, ACheckpointComesBackBitByBit) {
  const std::string path = save_checkpoint(dir, 12000, contents(12000));
  EXPECT_EQ(path, dir + "/checkpoints/step-00012000");
  EXPECT_EQ(files_in(path),
            (std::vector<std::string>{"model.safetensors", "optimizer.safetensors", "recipe.toml",
                                      "tokenizer/more/merges", "tokenizer/vocabulary", "trainer.json"}));
  const auto found = latest_checkpoint(dir);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->checkpoint.step, 12000);
  EXPECT_TRUE(found->damaged.empty());

  Parameters q;
  add_all(q);
  Aligned<float> a(q.size()), b(q.size());
  load_parameters(path + "/" + kModelName, q);
  load_tensors(path + "/" + kOptimizerName, moments(q, a.data(), b.data()));
  const auto bytes = static_cast<size_t>(p.size()) * sizeof(float);
  EXPECT_EQ(std::memcmp(q.data(), p.data(), bytes), 0);
  EXPECT_EQ(std::memcmp(a.data(), first.data(), bytes), 0);
  EXPECT_EQ(std::memcmp(b.data(), second.data(), bytes), 0);
  EXPECT_EQ(State::from_json(read_file(path + "/" + kTrainerName), path).whole("step"), 12000);
  EXPECT_EQ(read_file(path + "/tokenizer/vocabulary"), "a b c");
  EXPECT_TRUE(SafetensorsFile(path + "/" + kOptimizerName).find("embedding.weight.first"));
}

TEST_F(FolderTest, WrongTensorsAreOneErrorThatNamesThem) {
  fs::create_directories(dir);
  const std::string path = dir + "/m.safetensors";
  const auto says = [&](const StoredTensors& saved) {
    write_safetensors(path, saved);
    Parameters q;
    add_all(q);
    const std::string text = error_of([&] { load_parameters(path, q); }, ErrorKind::model);
    for (int64_t i = 0; i < q.size(); ++i) EXPECT_EQ(q.data()[i], 0) << "changed by a load that failed";
    return text.substr(path.size() + 2, text.find('\n') - path.size() - 2);
  };
  StoredTensors t = tensors_of(p);
  t[0].dims = {3, 5};
  EXPECT_EQ(says(t), "tensor 'embedding.weight' is [3, 5], the model wants [5, 3]");
  t = tensors_of(p);
  t[2].type = Stored::i32;
  EXPECT_EQ(says(t), "tensor 'decoder.0.self.query.bias' is I32, not F32");
  t = tensors_of(p);
  t.push_back({"extra", Stored::f32, {2}, p.data()});
  EXPECT_EQ(says(t), "tensor 'extra' [2] is not part of the model");
  t = tensors_of(p);
  t.pop_back();
  EXPECT_EQ(says(t), "tensor 'decoder.0.self.query.bias' [4] is missing");
  t[0].name = "embed.weight";
  EXPECT_EQ(says(t), "tensor 'embedding.weight' [5, 3] is missing (and 2 more like this)");
}

TEST_F(FolderTest, ADamagedCheckpointFallsBackAndSaysSo) {
  EXPECT_FALSE(latest_checkpoint(dir));
  for (const int64_t step : {100, 200, 300, 1'000'000'000}) save_checkpoint(dir, step, contents(step));
  fs::create_directories(dir + "/checkpoints/step-9");  // not ours
  fs::create_directories(dir + "/checkpoints/step-00000400.staged-1-1");
  write_file(dir + "/checkpoints/step-00000500", "a file");
  EXPECT_EQ(latest_checkpoint(dir)->checkpoint.step, 1'000'000'000);
  const std::string newest = dir + "/checkpoints/step-1000000000", second_newest = dir + "/checkpoints/step-00000300";
  fs::resize_file(newest + "/optimizer.safetensors", 100);
  fs::remove(second_newest + "/manifest.json");
  auto found = latest_checkpoint(dir);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->checkpoint.step, 200);
  ASSERT_EQ(found->damaged.size(), 2u);
  EXPECT_TRUE(found->damaged[0].starts_with(newest + "/optimizer.safetensors has 100 bytes instead of "))
      << found->damaged[0];
  EXPECT_TRUE(found->damaged[0].ends_with("it was cut short"));
  EXPECT_EQ(found->damaged[1], second_newest + " is not a model folder: it has no manifest.json");
  for (const char* step : {"100", "200"}) fs::remove(dir + "/checkpoints/step-00000" + step + "/trainer.json");
  const std::string text = error_of([&] { latest_checkpoint(dir); }, ErrorKind::model);
  EXPECT_TRUE(text.starts_with("none of the 4 checkpoints in ")) << text;
  EXPECT_NE(text.find("--fresh"), std::string::npos);
}

TEST_F(FolderTest, PruningKeepsTheNewestAndTheSpared) {
  for (int64_t step = 1; step <= 6; ++step) save_checkpoint(dir, step, contents(step));
  prune(dir, 10);
  EXPECT_EQ(checkpoints(dir).size(), 6u);
  prune(dir, 2, {1});
  EXPECT_EQ(names(dir + "/checkpoints"), (std::vector<std::string>{"step-00000001", "step-00000005", "step-00000006"}));
  error_of([&] { prune(dir, 0); }, ErrorKind::usage);
  fs::create_directories(dir + "/checkpoints/step-00000007.staged-1-1");
  fs::create_directories(dir + "/checkpoints/step-00000004.pruned");
  write_file(dir + "/metrics.jsonl.staged-1-2", "x");
  write_file(dir + "/metrics.jsonl", "x");
  remove_leftovers(dir);
  EXPECT_EQ(names(dir + "/checkpoints").size(), 3u);
  EXPECT_EQ(names(dir), (std::vector<std::string>{"checkpoints", "metrics.jsonl"}));
  remove_leftovers(folder / "none");
  prune(folder / "none", 1);
}

TEST_F(FolderTest, WhatIsNotOursStays) {
  const auto put_all = [&](const std::string& checkpoints) {
    for (const char* name : {"/step-00000003", "/step-00000007.staged-1-1", "/step-00000004.damaged",
                             "/step-00000002.pruned", "/notes", "/step-by-step"})
      fs::create_directories(checkpoints + name);
    write_file(checkpoints + "/notes/why.txt", "x");
    write_file(checkpoints + "/read.me.pruned", "x");
    write_file(checkpoints + "/thesis.staged-final", "x");
  };
  const std::vector<std::string> foreign{"notes", "read.me.pruned", "step-by-step", "thesis.staged-final"};
  put_all(dir + "/checkpoints");
  write_file(dir + "/old.pruned", "x");
  remove_leftovers(dir);
  EXPECT_EQ(names(dir), (std::vector<std::string>{"checkpoints", "old.pruned"}));
  EXPECT_EQ(names(dir + "/checkpoints").size(), foreign.size() + 2);
  clear_checkpoints(dir);
  EXPECT_EQ(names(dir + "/checkpoints"), foreign);
  EXPECT_TRUE(fs::exists(dir + "/checkpoints/notes/why.txt"));
  // Stopped half-way, and finished by whoever comes next.
  put_all(dir + "/checkpoints");
  fs::rename(dir + "/checkpoints", dir + "/checkpoints.pruned");
  remove_leftovers(dir);
  EXPECT_EQ(names(dir + "/checkpoints"), foreign);
  EXPECT_EQ(names(dir), (std::vector<std::string>{"checkpoints", "old.pruned"}));
}

/// Every call of every kind fails once; `work` must say so each time, and `check` then look at what is left.
template <class Work, class Check>
int fail_each(Work work, Check check) {
  int failures = 0;
  for (const Call call : {Call::open, Call::write, Call::sync, Call::rename})
    for (int n = 1;; ++n) {
      inject_file_fault({.call = call, .nth = n, .error = n % 2 ? ENOSPC : EIO});
      bool failed = false;
      try {
        work();
      } catch (const Error& e) {
        failed = true;
        EXPECT_EQ(e.kind(), ErrorKind::io) << e.what();
      }
      inject_file_fault({});
      check();
      if (!failed) break;  // there is no n-th call
      ++failures;
      if (n > 1000) return -1;
    }
  return failures;
}

TEST_F(FolderTest, EveryFailureOfASaveIsReportedAndLeavesTheOldCheckpoint) {
  save_checkpoint(dir, 1, contents(1));
  const int failures = fail_each([&] { save_checkpoint(dir, 2, contents(2)); },
                                 [&] {
                                   const auto found = latest_checkpoint(dir);
                                   ASSERT_TRUE(found);
                                   EXPECT_TRUE(found->damaged.empty());
                                   verify_manifest(dir + "/checkpoints/step-00000001");
                                   for (const auto& name : names(dir + "/checkpoints"))
                                     EXPECT_EQ(name.size(), 13u) << name << " was left behind";
                                   fs::remove_all(dir + "/checkpoints/step-00000002");
                                 });
  EXPECT_GT(failures, 40);
}

TEST_F(FolderTest, EveryFailureOfReplacingTheModelLeavesAWholeOne) {
  save_model(dir, contents(1));
  write_file(dir + "/metrics.jsonl", "stays");
  int round = 2;
  const int failures = fail_each(
      [&] {
        fill(static_cast<float>(round));
        save_model(dir, contents(round++));
      },
      [&] {
        open_model(dir);
        Parameters q;
        add_all(q);
        load_parameters(dir + "/" + kModelName, q);
        // The weights and the step that was saved with them, old or new, never mixed.
        const auto step = static_cast<float>(State::from_json(read_file(dir + "/trainer.json"), "t").whole("step"));
        EXPECT_EQ(q.value(0).as<float>()[1], step / 3);
        EXPECT_EQ(names(dir),
                  (std::vector<std::string>{"manifest.json", "metrics.jsonl", "model.safetensors",
                                            "optimizer.safetensors", "recipe.toml", "tokenizer", "trainer.json"}));
      });
  EXPECT_GT(failures, 50);
  EXPECT_EQ(read_file(dir + "/metrics.jsonl"), "stays");
}

TEST_F(FolderTest, EveryFailureOfPruningLeavesWholeCheckpoints) {
  fail_each(
      [&] {
        for (int64_t step = 1; step <= 3; ++step) {
          if (!fs::exists(dir + "/checkpoints/step-0000000" + std::to_string(step)))
            save_checkpoint(dir, step, contents(step));
        }
        prune(dir, 2);
      },
      [&] {
        for (const Checkpoint& c : checkpoints(dir)) verify_manifest(c.path);
        remove_leftovers(dir);
      });
}

/// What is removed loses its name first, in one step: where that fails, nothing of it is gone.
TEST_F(FolderTest, ACheckpointIsRenamedBeforeItIsRemoved) {
  for (int64_t step = 1; step <= 3; ++step) save_checkpoint(dir, step, contents(step));
  const auto removals = {std::function([&] { prune(dir, 1); }), std::function([&] { remove_after(dir, 2); })};
  for (const auto& remove : removals) {
    inject_file_fault({.call = Call::rename, .nth = 1, .error = EIO});
    EXPECT_TRUE(error_of(remove, ErrorKind::io).starts_with("cannot rename " + dir + "/checkpoints/step-0000000"));
    inject_file_fault({});
    ASSERT_EQ(checkpoints(dir).size(), 3u);
    for (const Checkpoint& c : checkpoints(dir)) verify_manifest(c.path);
  }
  // Renamed, and no further: what is left is no checkpoint.
  inject_file_fault({.call = Call::sync, .nth = 1, .error = EIO});
  EXPECT_NE(error_of([&] { prune(dir, 2); }, ErrorKind::io), "no error");
  inject_file_fault({});
  EXPECT_EQ(checkpoints(dir).size(), 2u);
  remove_leftovers(dir);
  EXPECT_EQ(names(dir + "/checkpoints"), (std::vector<std::string>{"step-00000002", "step-00000003"}));
}

/// A disk that can't be read for once is no reason to go back to an older checkpoint and train all of it again.
TEST_F(FolderTest, ACheckpointThatCannotBeReadIsNotTakenForADamagedOne) {
  for (const int64_t step : {1, 2}) save_checkpoint(dir, step, contents(step));
  inject_file_fault({.call = Call::open, .nth = 1, .error = EIO});
  EXPECT_EQ(error_of([&] { latest_checkpoint(dir); }, ErrorKind::io),
            "cannot read " + dir + "/checkpoints/step-00000002/manifest.json: Input/output error");
  EXPECT_EQ(latest_checkpoint(dir)->checkpoint.step, 2);
}

TEST_F(FolderTest, AMissingTokenizerOrFolderIsAnError) {
  ModelContents c = contents();
  c.tokenizer = folder / "none";
  error_of([&] { save_checkpoint(dir, 1, c); }, ErrorKind::io);
  EXPECT_TRUE(names(dir + "/checkpoints").empty());
  error_of([&] { open_model(folder / "none"); }, ErrorKind::model);
}

TEST_F(FolderTest, AveragesAreMeansInDouble) {
  std::vector<std::string> dirs;
  std::vector<float> wanted;
  for (int k = 0; k < 3; ++k) {
    fill(k == 0 ? 1e8f : k == 1 ? 1.0f : -1e8f);  // in float the 1 would be lost
    dirs.push_back(folder / ("m" + std::to_string(k)));
    save_model(dirs.back(), contents());
  }
  Weights mean = average_models(dirs);
  ASSERT_EQ(mean.by_name.size(), 3u);
  const Weights::One& e = mean.by_name.at("embedding.weight");
  EXPECT_EQ(e.dims, (std::vector<int64_t>{5, 3}));
  EXPECT_NEAR(e.values[1], 1.0f / 9, 1e-7);
  std::swap(dirs[0], dirs[2]);
  EXPECT_EQ(average_models(dirs).by_name.at("embedding.weight").values, e.values);
  EXPECT_EQ(average_models({dirs[1]}).by_name.at("embedding.weight").values[1], 1.0f / 3);

  ModelContents c;
  c.recipe = "mean";
  c.weights = tensors_of(mean);
  save_model(folder / "mean", c);
  load_parameters(open_model(folder / "mean") + "/" + kModelName, p);
  EXPECT_EQ(p.value(0).as<float>()[1], e.values[1]);

  write_file(dirs[0] + "/recipe.toml", "changed");
  EXPECT_NE(error_of([&] { average_models(dirs); }, ErrorKind::model).find("recipe.toml"), std::string::npos);
  ModelContents other;
  other.recipe = "other";
  other.weights = {{"embedding.weight", Stored::f32, {1}, p.data()}};
  save_model(dirs[0], other);
  EXPECT_NE(error_of([&] { average_models(dirs); }, ErrorKind::model).find("tensor '"), std::string::npos);
  error_of([&] { average_models({}); }, ErrorKind::usage);
}

}  // namespace
}  // namespace attune
