// Model folders and checkpoints, whole or not there at all:
//
//   DIR/recipe.toml  model.safetensors  tokenizer/  manifest.json      the model, replaced by save_model
//   DIR/checkpoints/step-00012000/      the same + optimizer.safetensors + trainer.json, by save_checkpoint
//
// Every write, fsync and rename is checked; whatever fails or whenever the machine stops, what was there before is
// still there and verifies.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/state.h"
#include "checkpoint/tensors.h"

namespace attune {

constexpr const char* kModelName = "model.safetensors";
constexpr const char* kOptimizerName = "optimizer.safetensors";
constexpr const char* kTrainerName = "trainer.json";
constexpr const char* kRecipeName = "recipe.toml";
constexpr const char* kTokenizerName = "tokenizer";
constexpr const char* kShortlistName = "shortlist.txt";
constexpr const char* kNextModelName = ".next-model";  // a save of DIR's own model that is not finished

/// What a folder gets. Empty parts are left out.
struct ModelContents {
  StoredTensors weights;                                               // tensors_of(parameters)
  StoredTensors optimizer;                                             // all that an optimiser remembers
  std::optional<State> trainer;                                        // counters, place in the data, random keys
  std::string recipe;                                                  // text of recipe.toml
  std::string tokenizer;                                               // a folder to copy in, or instead:
  std::function<void(const std::string& folder)> save_tokenizer = {};  // writes it there
  std::string shortlist = {};                                          // text of shortlist.txt
  Metadata metadata;                                                   // of model.safetensors
};

/// Writes all files and, last, the manifest into a folder that exists and is nobody's yet.
void write_contents(const std::string& folder, const ModelContents& contents);

/// Replaces the model in DIR, beside whatever else DIR holds. A stop in the middle is finished by the next open_model.
void save_model(const std::string& dir, const ModelContents& contents);
/// Verifies a model folder before its files are read, finishing a save that was interrupted. Returns `dir`.
const std::string& open_model(const std::string& dir);

/// ErrorKind::model unless a folder's manifest lists a model and every file is as it says; and whether it is so.
void verify_model(const std::string& folder);
bool is_whole_model(const std::string& folder);

/// Makes DIR/checkpoints/step-NNNNNNNN in one step and returns its path.
std::string save_checkpoint(const std::string& dir, int64_t step, const ModelContents& contents);

struct Checkpoint {
  int64_t step = 0;
  std::string path;
};
/// "step-00012000", and the number of such a name; -1 of any other.
std::string checkpoint_name(int64_t step);
int64_t checkpoint_step(const std::string& name);
/// Where the one of a step is, or would be.
std::string checkpoint_path(const std::string& dir, int64_t step);
/// All there are by name, unchecked, oldest first.
std::vector<Checkpoint> checkpoints(const std::string& dir);

struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::vector<std::string> damaged;  // a sentence for each newer one that had to be passed over: tell the user
};
/// The newest that verifies; none when there are none. When all are damaged: ErrorKind::model, for to start anew is not
/// ours to decide. One that can't be read for now (ErrorKind::io) is not passed over: it may be whole.
std::optional<FoundCheckpoint> latest_checkpoint(const std::string& dir);

/// Gives checkpoints after `step` another name (".damaged" behind it), so that newer saves are not taken for older.
void set_aside_after(const std::string& dir, int64_t step);
/// Removes checkpoints after `step`, newest first: what is left is a whole run at any time.
void remove_after(const std::string& dir, int64_t step);
/// Removes all but the newest `keep` (at least 1), and spares the steps in `spared`.
void prune(const std::string& dir, int64_t keep, const std::set<int64_t>& spared = {});
/// Removes what a run that was killed left half written. Only while no other run writes to DIR.
void remove_leftovers(const std::string& dir);
/// Removes all checkpoints of a run, those set aside too. What is not ours stays.
void clear_checkpoints(const std::string& dir);

/// The mean weights of several model folders, each verified first.
Weights average_models(const std::vector<std::string>& dirs);

}  // namespace attune
