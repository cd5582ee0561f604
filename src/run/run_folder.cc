#include "run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>
#include <type_traits>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "recipe/writer.h"
#include "run/start_model.h"
#include "show/event_file.h"
#include "train/schedule.h"

namespace attune {

namespace fs = std::filesystem;

FolderLock::FolderLock(const std::string& dir) : path_(dir + "/.lock") {
  refuse_link(path_);
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (file_ < 0)
    fail(ErrorKind::io, "cannot write to {}: {}\n  fix: check the permissions, or give another folder by --out", dir,
         std::strerror(errno));
  // Whoever only asks whether it is held holds it for a moment.
  for (int i = 0; i < 5; ++i) {
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const int error = errno;
  ::close(file_);
  if (error != EWOULDBLOCK) fail(ErrorKind::io, "cannot lock {}: {}", path_, std::strerror(error));
  fail(ErrorKind::usage, "another run is training in {}\n  fix: wait for it, or give this one a folder by --out", dir);
}

FolderLock::~FolderLock() { ::close(file_); }

bool FolderLock::is_there() const {
  struct stat mine {
  }, there{};
  return ::fstat(file_, &mine) == 0 && ::stat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

bool FolderLock::is_held(const std::string& dir) {
  const int file = ::open((dir + "/.lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return held;
}

namespace {
constexpr const char* kStartHash = "start_hash";  // in trainer.json
}

std::vector<std::string> forbidden_changes(const Recipe& before, const Recipe& now) {
  std::set<std::string> free{"data.train",      "data.valid",     "data.test",        "data.languages", "train.save",
                             "train.keep",      "train.average",  "train.average_of", "train.patience", "train.memory",
                             "train.recompute", "data.alignment", "data.weights",     "train.baseline"};
  if (!depends_on_end(now.train.schedule)) free.insert("train.stop");
  if (now.train.batch_tokens.automatic()) free.insert("train.batch_tokens");  // it was chosen when the run began
  // Where the model it began with lies does not matter; whether there was one does.
  if (before.train.start.empty() == now.train.start.empty()) free.insert("train.start");
  std::vector<std::string> changes;
  for (const Difference& d : differences(to_values(before), to_values(now)))
    if (!free.contains(d.key)) changes.push_back(d.text());
  return changes;
}

void refuse_changes(const std::string& dir, const Recipe& before, const Recipe& now) {
  const std::vector<std::string> changes = forbidden_changes(before, now);
  if (changes.empty()) return;
  const bool end_alone = changes.size() == 1 && changes[0].starts_with("train.stop ");
  fail(ErrorKind::recipe,
       "{} holds a run of another recipe: {}{}\n  fix: undo the change to go on, {}, or start anew with --fresh", dir,
       join(changes, "; "), end_alone ? ", and its learning rate goes by the end" : "",
       end_alone ? fmt::format("begin another run with its weights (--set train.start={} --out ...)", dir)
                 : "give --out another folder");
}

std::optional<Checkpoint> RunFolder::find(std::vector<std::string>& notes) {
  remove_leftovers(dir_);
  const auto found = latest_checkpoint(dir_);
  if (!found) return std::nullopt;
  for (const std::string& d : found->damaged)
    notes.push_back(fmt::format("passed over a damaged checkpoint, going on from update {}: {}",
                                thousands(found->checkpoint.step), d));
  const std::string path = found->checkpoint.path + "/" + kRecipeName;
  Recipe before;
  try {
    before = load_recipe(path);
  } catch (const Error& e) {  // of another version, or edited
    fail(ErrorKind::model, "{}\n  fix: start anew with --fresh, or give --out another folder",
         std::string_view(e.what()).substr(0, std::string_view(e.what()).find('\n')));
  }
  refuse_changes(dir_, before, recipe_);
  check_start(found->checkpoint, before);
  return found->checkpoint;
}

void RunFolder::check_start(const Checkpoint& from, const Recipe& before) const {
  const std::string& now = recipe_.train.start;
  if (now == before.train.start) return;
  const std::string path = from.path + "/" + kTrainerName, hash = StartModel::hash_of(now);
  const State state = read_state(path);
  if (hash.empty() || !state.has(kStartHash) || hash == state.text(kStartHash)) return;
  fail(ErrorKind::recipe,
       "train.start = \"{}\" is not the model that the run in {} began with, \"{}\"\n  fix: undo the change to go on, "
       "give --out another folder, or start anew with --fresh",
       now, dir_, before.train.start);
}

void RunFolder::clear() {
  remove_leftovers(dir_);
  clear_checkpoints(dir_);
  for (const char* name :
       {"metrics.jsonl", "train.log", kNextModelName, kManifestName, kModelName, kRecipeName, kTokenizerName})
    remove_path(dir_ + "/" + name);
  for (std::string path = show::event_file_in(dir_); !path.empty(); path = show::event_file_in(dir_)) remove_path(path);
}

void RunFolder::expect_empty() const {
  std::error_code ignored;
  if (!checkpoints(dir_).empty() || fs::exists(dir_ + "/" + kModelName, ignored))
    fail(ErrorKind::usage, "another run has just trained in {}\n  fix: give this one a folder by --out, or start again",
         dir_);
}

// --- what a checkpoint remembers -------------------------------------------------------------------------------------

namespace {

/// The counters of a run by their names in a checkpoint, to be written and to be read.
template <class P, class Visit>
void each_counter(P& p, Visit&& visit) {
  visit("updates", p.updates);
  visit("batches", p.batches);
  visit("source_tokens", p.source_tokens);
  visit("target_tokens", p.target_tokens);
  visit("sentences", p.sentences);
  visit("seconds", p.seconds);
  visit("data_epoch", p.data.epoch);
  visit("data_example", p.data.example);
  visit("validations", p.validations);
  visit("stalled", p.stalled);
  visit("best_update", p.best_update);
  visit("validated_update", p.validated_update);
  if (p.best_update > 0) visit("best_score", p.best_score);
  visit("steps", p.steps);
  visit("skipped", p.skipped);
  visit("skipped_in_row", p.skipped_in_row);
  visit("rate_scale", p.rate_scale);
  visit("waited", p.waited);
  visit("good_update", p.good_update);
  visit("rolled_back_to", p.rolled_back_to);
  visit("loss_count", p.trend.count);
  visit("loss_mean", p.trend.mean);
  visit("loss_best", p.trend.best);
}

State state_of(const Progress& p, const std::vector<Milestone>& milestones, const std::string& content_hash) {
  State s;
  each_counter(p, [&](const char* name, auto value) { s.set(name, value); });
  s.set("content_hash", content_hash);
  s.set("milestones", static_cast<int64_t>(milestones.size()));
  for (size_t i = 0; i < milestones.size(); ++i) {
    s.set(fmt::format("milestone_{:04}_update", i), milestones[i].update);
    s.set(fmt::format("milestone_{:04}_score", i), milestones[i].score);
  }
  return s;
}

Progress progress_of(const State& s) {
  Progress p;
  p.steps = p.good_update = s.count("updates");  // of a version that skipped no updates
  each_counter(p, [&](const char* name, auto& value) {
    if (!s.has(name)) return;
    if constexpr (std::is_same_v<decltype(value), double&>)
      value = s.number(name);
    else
      value = s.count(name, std::min<int64_t>(value, 0));  // some begin at -1: not yet
  });
  return p;
}

/// What an update reads beside the model: what the optimiser remembers, and what layers remember of the texts.
StoredTensors optimizer_tensors(Learner& learner) {
  StoredTensors all;
  for (const Remembered& r : learner.remembered()) {
    StoredTensor& t = all.emplace_back(StoredTensor{r.name, Stored::f32, {}, r.data});
    for (int d = 0; d < r.shape.rank(); ++d) t.dims.push_back(r.shape[d]);
  }
  StreamMemory& memory = learner.streams();
  for (int i = 0; i < std::ssize(memory.slots()); ++i) {
    const auto& [name, rows, width] = memory.slots()[static_cast<size_t>(i)];
    all.push_back({name, Stored::f32, {memory.streams(), rows, width}, memory.rows(i)});
    all.push_back({name + ".count", Stored::i32, {memory.streams()}, memory.counts(i)});
  }
  return all;
}

/// "training-validation", or "training" alone where validation is held out of it.
const char* changed_side(const std::string& before, const std::string& now) {
  const bool train = before.substr(0, before.find('-')) != now.substr(0, now.find('-'));
  const bool valid =
      before.find('-') != now.find('-') || before.substr(before.find('-') + 1) != now.substr(now.find('-') + 1);
  return train && valid && before.find('-') != std::string::npos ? "the training and validation data"
         : train                                                 ? "the training data"
                                                                 : "the validation data";
}

}  // namespace

Progress RunFolder::resume(const Checkpoint& from, Learner& learner, const std::string& content_hash,
                           ThreadPool* pool) {
  const std::string path = from.path + "/" + kTrainerName;
  const State state = read_state(path);
  if (state.text("content_hash") != content_hash)
    fail(ErrorKind::data,
         "{} is not what the run in {} began with\n  fix: put the old files back to go on, give --out another folder, "
         "or start anew with --fresh",
         changed_side(state.text("content_hash"), content_hash), dir_);
  set_aside_after(dir_, from.step);
  Parameters& parameters = learner.model().parameters();
  learner.streams().begin(state.has("streams") ? state.count("streams") : 0, true);
  const StoredTensors optimizer = optimizer_tensors(learner);
  if (!optimizer.empty()) load_tensors(from.path + "/" + kOptimizerName, optimizer);
  load_tensors(from.path + "/" + kModelName, tensors_of(parameters, learner.kept_weights()));
  parameters.repack(pool);
  if (state.has(kStartHash)) start_hash_ = state.text(kStartHash);
  const Progress progress = progress_of(state);
  learner.set_updates(progress.updates, progress.steps);
  milestones_.clear();
  for (int64_t i = 0; i < state.count("milestones"); ++i)
    add_milestone(state.count(fmt::format("milestone_{:04}_update", i)),
                  state.number(fmt::format("milestone_{:04}_score", i)));
  return progress;
}

Progress RunFolder::roll_back(int64_t update, Learner& learner, const std::string& content_hash, ThreadPool* pool) {
  // The newest one that is whole, at or before it: it may be damaged, or have gone with a folder.
  Checkpoint from;
  for (const Checkpoint& c : checkpoints(dir_))
    if (c.step <= update && is_whole_model(c.path)) from = c;
  if (from.path.empty() && !start_hash_.empty())  // a run that started from a model has a checkpoint of that
    fail(ErrorKind::model,
         "no checkpoint in {} at or before update {} is whole: there is nothing to go back to\n  fix: start anew with "
         "--fresh",
         dir_, thousands(update));
  // What came after it belongs to a course that is given up; a stop from here on must not go on from that.
  remove_after(dir_, from.step);
  if (from.path.empty()) {
    milestones_.clear();
    learner.model().initialize(recipe_.train.seed);
    learner.restart();
    return {};
  }
  return resume(from, learner, content_hash, pool);
}

ModelContents RunFolder::contents(Learner& learner, const Progress& progress, const Tokenizers& tokenizers) const {
  ModelContents c;
  c.weights = tensors_of(learner.model().parameters(), learner.kept_weights());
  c.recipe = recipe_text(recipe_);
  c.save_tokenizer = [&tokenizers](const std::string& folder) { tokenizers.save(folder); };
  c.metadata = {{"format", "attune"}, {"update", std::to_string(progress.updates)}};
  return c;
}

void RunFolder::save(Learner& learner, const Progress& progress, const Tokenizers& tokenizers,
                     const std::string& content_hash) {
  // Those that may still be averaged stay; the others are for going on, of which the newest is enough.
  const auto keep = static_cast<size_t>(recipe_.train.keep);
  std::vector<Milestone> kept = to_average();
  for (size_t i = milestones_.size() > keep ? milestones_.size() - keep : 0; i < milestones_.size(); ++i)
    kept.push_back(milestones_[i]);
  std::erase_if(milestones_, [&](const Milestone& m) {
    return std::none_of(kept.begin(), kept.end(), [&](const Milestone& k) { return k.update == m.update; });
  });
  ModelContents c = contents(learner, progress, tokenizers);
  c.optimizer = optimizer_tensors(learner);
  c.trainer = state_of(progress, milestones_, content_hash);
  if (learner.streams().in_use()) c.trainer->set("streams", learner.streams().streams());
  if (!start_hash_.empty()) c.trainer->set(kStartHash, start_hash_);
  save_checkpoint(dir_, progress.updates, c);
  std::set<int64_t> spared;
  for (const Milestone& m : milestones_) spared.insert(m.update);
  spared.insert({progress.updates, progress.good_update, progress.best_update});
  prune(dir_, 2, spared);  // were the newest damaged, the one before could be gone on from
}

void RunFolder::rescue(Learner& learner, const Progress& progress, const Tokenizers& tokenizers,
                       const std::string& content_hash) {
  make_folder(dir_);
  const FolderLock lock(dir_);
  expect_empty();            // who made it anew may be another run
  Progress kept = progress;  // the best model went with the folder
  kept.best_update = 0;
  kept.best_score = Progress{}.best_score;
  if (kept.skipped_in_row == 0) kept.good_update = kept.updates;  // the good state before went with it too
  std::erase_if(milestones_, [&](const Milestone& m) {
    std::error_code ignored;
    return m.update != progress.updates && !fs::exists(checkpoint_path(dir_, m.update), ignored);
  });
  save(learner, kept, tokenizers, content_hash);
  fail(ErrorKind::io,
       "{} was removed or moved while the run trained in it; the checkpoint of update {} is there again\n"
       "  fix: put the folder back or leave it as it is, and give the same command to go on",
       dir_, thousands(progress.updates));
}

}  // namespace attune
