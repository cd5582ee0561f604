#include "checkpoint/model_folder.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "checkpoint/manifest.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

// A save of DIR's own model is complete once this folder is: its files then move up one by one, the manifest last.
constexpr const char* kNext = kNextModelName;

/// Not what links and pipes in it lead to: a folder of strangers would fetch files of ours into a copy that is given
/// on.
void copy_folder(const std::string& from, const std::string& to) {
  constexpr int64_t kMost = int64_t{1} << 32;
  if (!fs::is_directory(from)) fail(ErrorKind::io, "cannot copy {}: it is not a folder", from);
  for (const std::string& name : files_in(from)) {
    const std::string path = from + "/" + name;
    std::error_code ignored;
    if (!fs::is_regular_file(fs::symlink_status(path, ignored)))
      fail(ErrorKind::model, "{} is not a regular file\n  fix: remove it", path);
    make_folder(fs::path(to + "/" + name).parent_path().string());
    write_file(to + "/" + name, read_regular_file(path, kMost));
  }
}

/// Moves one file of a finished save into its place, unless that was done before or is done by a reader meanwhile.
void move_up(const std::string& next, const std::string& dir, const std::string& name) {
  const std::string from = next + "/" + name, to = dir + "/" + name;
  std::error_code ignored;
  if (!fs::exists(from, ignored)) return;
  make_folder(fs::path(to).parent_path().string());
  move_file_if_there(from, to);
}

/// Removes folders as far as they are empty, and no file ever: another save may just have put a whole one there.
void remove_empty_folders(const std::string& folder) {
  std::vector<std::string> folders{folder};
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored))
    if (std::error_code none; at->is_directory(none)) folders.push_back(at->path().string());
  for (auto f = folders.rbegin(); f != folders.rend(); ++f) rmdir(f->c_str());  // those inside come later in the list
}

/// Whether a name leads through folders of this one alone, not through links.
bool lies_within(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  fs::path at(folder);
  for (const fs::path& part : fs::path(name).parent_path())
    if (fs::is_symlink(at /= part, ignored)) return false;
  return true;
}

/// Whether it lists what a model can't do without.
bool is_of_model(const Manifest& files) { return lists(files, kRecipeName) && lists(files, kModelName); }

/// Whether it is a model, and every file is there as the manifest has it, moved up already or not.
bool is_whole_save(const std::string& next, const std::string& dir, const Manifest& files) {
  const auto is_there = [&](const ManifestEntry& e) {
    if (!lies_within(next, e.name) || !lies_within(dir, e.name)) return false;
    for (const std::string& folder : {next, dir}) try {
        const ManifestEntry found = describe_file(folder, e.name);
        if (found.bytes == e.bytes && found.hash == e.hash) return true;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::io) throw;  // moved up just now, or never there
      }
    return false;
  };
  return is_of_model(files) && std::ranges::all_of(files, is_there);
}

/// Whether nothing is left to be moved.
bool finish_save(const std::string& dir) {
  const std::string next = dir + "/" + kNext;
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(next, ignored).type();
  if (type != fs::file_type::directory) return type == fs::file_type::not_found;  // a link is somebody else's
  if (fs::exists(next + "/" + kManifestName, ignored)) {
    // What is not whole was not left by a save: the model that is there stays.
    const Manifest files = read_manifest(next);
    if (!is_whole_save(next, dir, files)) return false;
    for (const ManifestEntry& e : files) move_up(next, dir, e.name);
    move_up(next, dir, kManifestName);
  }
  remove_empty_folders(next);
  return true;
}

}  // namespace

void write_contents(const std::string& folder, const ModelContents& contents) {
  if (!contents.recipe.empty()) write_file(folder + "/" + kRecipeName, contents.recipe);
  if (!contents.tokenizer.empty()) copy_folder(contents.tokenizer, folder + "/" + kTokenizerName);
  if (contents.save_tokenizer) contents.save_tokenizer(folder + "/" + kTokenizerName);
  if (!contents.shortlist.empty()) write_file(folder + "/" + kShortlistName, contents.shortlist);
  if (!contents.weights.empty()) write_safetensors(folder + "/" + kModelName, contents.weights, contents.metadata);
  if (!contents.optimizer.empty()) write_safetensors(folder + "/" + kOptimizerName, contents.optimizer);
  if (contents.trainer) write_file(folder + "/" + kTrainerName, contents.trainer->to_json());
  write_manifest(folder, files_in(folder));
}

void save_model(const std::string& dir, const ModelContents& contents) {
  check(!contents.recipe.empty() && !contents.weights.empty(), "save_model", "{} would be no model", dir);
  make_folder(dir);
  finish_save(dir);  // an older one that was stopped: what it moved already must not mix with this one
  FolderWriter next(dir + "/" + kNext);
  write_contents(next.path(), contents);
  next.commit();
  if (finish_save(dir)) return;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator(dir, ignored))
    if (e.is_symlink(ignored) && e.is_directory(ignored))
      fail(ErrorKind::io, "cannot write into {}: it is a link\n  fix: remove it, or choose another folder",
           e.path().string());
  fail(ErrorKind::io, "the model in {} could not be replaced: another program changes {}", dir, kNext);
}

void verify_model(const std::string& folder) {
  if (!is_of_model(verify_manifest(folder)))
    fail(ErrorKind::model, "{}/{} lists no {} or no {}\n  fix: copy the folder again, or use another checkpoint",
         folder, kManifestName, kRecipeName, kModelName);
}

bool is_whole_model(const std::string& folder) try {
  verify_model(folder);
  return true;
} catch (const Error&) { return false; }

const std::string& open_model(const std::string& dir) {
  const auto verify = [&] {
    finish_save(dir);
    verify_model(dir);
  };
  try {
    verify();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::model) throw;
    verify();  // a trainer may just have been replacing it
  }
  return dir;
}

Weights average_models(const std::vector<std::string>& dirs) {
  std::vector<std::string> paths;
  for (const std::string& dir : dirs) paths.push_back(open_model(dir) + "/" + kModelName);
  return average_weights(paths);
}

}  // namespace attune
