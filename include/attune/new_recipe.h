// A recipe for files that have none yet: looks at them and chooses sizes that fit them and this machine.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attune {

struct NewRecipeOptions {
  std::string out =
      {};  // where the recipe will lie: its paths are relative to that folder ("" or "-": the current one)
  bool truncate = false;  // files may differ in length: the lines that all have are used
  int threads = 0;        // that training will have, for the time it takes; 0: all cores
  int64_t memory = 0;     // bytes that training may take; 0: what this machine has to spare
  double seconds = 0;     // that training may take; 0: as many as are of use
  bool measure = true;    // how long training takes, by a second of it; false: that is not foreseen
  std::vector<std::string> train = {}, valid = {}, test = {};  // files whose use names need not tell
  std::vector<std::string> columns = {};  // of tables, by names of the header or numbers from 1: texts, then the label
};

/// What a file is for, and why.
struct FileUse {
  std::string file;  // as it was named
  std::string role;  // "train", "valid", "test" or "ignored"
  std::string why;   // "its name says so"
};

struct NewRecipe {
  std::string text;                // a commented recipe (TOML)
  std::string file;                // what to call it: "translate.toml"
  std::vector<std::string> notes;  // a sentence each, for people: what was found, and what follows from it

  std::vector<std::string> train, valid, test;    // the files, as they were named
  std::vector<FileUse> files;                     // all of them, those that are not used too
  int64_t valid_in_train = 0, test_in_train = 0;  // examples of valid and test whose text is trained on, too
  std::string source_language, target_language;
  int64_t pairs = 0;                           // to train on, those with an empty side left out; of texts: lines
  int64_t source_words = 0, target_words = 0;  // between spaces
  int64_t valid_pairs = 0, test_pairs = 0;
  bool held_out = false;   // valid_pairs are taken out of the training pairs
  int64_t parameters = 0;  // of the model, about: the vocabulary may turn out smaller
  double seconds = 0;      // that training takes here, about: by a few updates of such a model

  /// What was chosen, in the order of the text; values as a recipe has them: {"model.d_model", "128"}.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// The tasks that recipes can be for.
std::vector<std::string> task_names();

/// Files are pairs (source, target, source, target ...) or of two columns (tsv), for "language" texts, for "classify"
/// texts with labels (tsv, csv), for "tag" words with labels (CoNLL); plain or .gz.
/// Those that are called val, valid, dev or test serve for that, as do those that lie in folders of such names or are
/// named in the options; the others for training. When some names tell and others do not, ErrorKind::usage asks.
/// Errors say which file and what to do: ErrorKind::usage, data or io.
NewRecipe propose_recipe(const std::string& task, const std::vector<std::string>& files,
                         const NewRecipeOptions& options = {});

/// Throws ErrorKind::usage when something is in the way at `path`; with `replace`, a recipe (*.toml) may be.
void check_recipe_place(const std::string& path, bool replace);
/// Writes it, under the same conditions.
void save_recipe(const NewRecipe& recipe, const std::string& path, bool replace = false);

}  // namespace attune
