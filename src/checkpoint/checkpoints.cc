// The checkpoints of a run: saving one, finding the newest good one, removing old ones.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-", kStaged = ".staged-", kPruned = ".pruned", kDamaged = ".damaged";

std::string folder_of(const std::string& dir) { return dir + "/checkpoints"; }

std::vector<fs::path> entries_of(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  if (error && error != std::errc::no_such_file_or_directory)
    fail(ErrorKind::io, "cannot read {}: {}", folder, error.message());
  return entries;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// A stop while removing leaves no half checkpoint.
void remove_checkpoint(const Checkpoint& c) {
  const std::string gone = c.path + std::string(kPruned);
  move_file(c.path, gone);
  remove_path(gone);
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string checkpoint_name(int64_t step) { return fmt::format("{}{:08}", kStep, step); }

int64_t checkpoint_step(const std::string& name) {
  int64_t step = -1;
  if (!name.starts_with(kStep) || name.size() < kStep.size() + 8) return -1;
  const char *from = name.data() + kStep.size(), *to = name.data() + name.size();
  const auto r = std::from_chars(from, to, step);
  return r.ec == std::errc{} && r.ptr == to && *from != '-' ? step : -1;
}

std::string checkpoint_path(const std::string& dir, int64_t step) {
  return folder_of(dir) + "/" + checkpoint_name(step);
}

std::string save_checkpoint(const std::string& dir, int64_t step, const ModelContents& contents) {
  check(step >= 0, "checkpoint", "step {}", step);
  const std::string path = checkpoint_path(dir, step);
  FolderWriter writer(path);
  write_contents(writer.path(), contents);
  writer.commit();
  return path;
}

std::vector<Checkpoint> checkpoints(const std::string& dir) {
  std::vector<Checkpoint> found;
  for (const fs::path& p : entries_of(folder_of(dir)))
    if (const int64_t step = checkpoint_step(p.filename().string()); step >= 0 && is_folder(p))
      found.push_back({step, p.string()});
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return found;
}

std::optional<FoundCheckpoint> latest_checkpoint(const std::string& dir) {
  const std::vector<Checkpoint> all = checkpoints(dir);
  FoundCheckpoint found;
  for (auto c = all.rbegin(); c != all.rend(); ++c) try {
      verify_model(c->path);
      found.checkpoint = *c;
      return found;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::model) throw;
      found.damaged.push_back(first_line_of(e.what()));
    }
  if (all.empty()) return std::nullopt;
  fail(ErrorKind::model, "none of the {} checkpoint{} in {} can be used: {}\n  fix: train with --fresh to start anew",
       all.size(), all.size() == 1 ? "" : "s", folder_of(dir), found.damaged.front());
}

void set_aside_after(const std::string& dir, int64_t step) {
  for (const Checkpoint& c : checkpoints(dir)) {
    if (c.step <= step) continue;
    const std::string aside = c.path + std::string(kDamaged);
    remove_path(aside);
    move_file(c.path, aside);
  }
}

void prune(const std::string& dir, int64_t keep, const std::set<int64_t>& spared) {
  check(keep >= 1, "prune", "keep {}: at least the newest must stay", keep);
  std::vector<Checkpoint> all = checkpoints(dir);
  if (std::cmp_less_equal(all.size(), keep)) return;
  all.resize(all.size() - static_cast<size_t>(keep));
  for (const Checkpoint& c : all) {
    if (spared.contains(c.step)) continue;
    remove_checkpoint(c);
  }
}

void remove_after(const std::string& dir, int64_t step) {
  const std::vector<Checkpoint> all = checkpoints(dir);
  for (auto c = all.rbegin(); c != all.rend() && c->step > step; ++c) remove_checkpoint(*c);
}

namespace {

/// Whether a name is one that base/files gives what it writes: NAME.staged-123-4.
bool is_staged(std::string_view name) {
  const size_t at = name.rfind(kStaged);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view rest = name.substr(at + kStaged.size());
  return rest.find('-') != std::string_view::npos && rest.find_first_not_of("0123456789-") == std::string_view::npos;
}

/// A checkpoint, one that is set aside, or one half removed.
bool is_step(std::string_view name) {
  for (const std::string_view suffix : {kPruned, kDamaged})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return checkpoint_step(std::string(name)) >= 0;
}

/// What clear_checkpoints began: what is not ours goes back to where it was.
void finish_clearing(const std::string& dir) {
  const std::string all = folder_of(dir), cleared = all + std::string(kPruned);
  for (const fs::path& p : entries_of(cleared)) {
    const std::string name = p.filename().string();
    if (is_step(name) || is_staged(name)) {
      remove_path(p.string());
    } else {
      make_folder(all);
      move_file(p.string(), all + "/" + name);
    }
  }
  remove_path(cleared);
}

}  // namespace

void clear_checkpoints(const std::string& dir) {
  // In one step, so that a stop meanwhile does not leave half a run to go on from.
  if (move_file_if_there(folder_of(dir), folder_of(dir) + std::string(kPruned))) finish_clearing(dir);
}

void remove_leftovers(const std::string& dir) {
  finish_clearing(dir);
  for (const std::string& folder : {dir, folder_of(dir)})
    for (const fs::path& p : entries_of(folder)) {
      const std::string name = p.filename().string();
      if (is_staged(name) || (is_step(name) && name.ends_with(kPruned))) remove_path(p.string());
    }
}

}  // namespace attune
