#include "attune/new_recipe.h"

#include <algorithm>
#include <filesystem>

#include "advise/corpus_look.h"
#include "advise/files_look.h"
#include "advise/recipe_layout.h"
#include "advise/sort_files.h"
#include "advise/trial.h"
#include "attune/bench.h"
#include "attune/machine.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "data/corpus/answers.h"
#include "data/files/data_files.h"
#include "data/files/overlap.h"
#include "recipe/reader.h"
#include "text/utf8.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

Task task_of(const std::string& task, const std::vector<std::string>& files) {
  const std::vector<std::string> tasks = task_names();
  const auto known = std::find(tasks.begin(), tasks.end(), task);
  if (known != tasks.end()) return static_cast<Task>(known - tasks.begin());
  std::error_code ignored;
  if (fs::exists(task, ignored) || task.find_first_of("./") != std::string::npos) {
    std::vector<std::string> words{task};
    for (const std::string& f : files)
      if (f != tasks[0]) words.push_back(f);
    fail(ErrorKind::usage, "'{}' is a file, and the task comes first\n  fix: attune new translate {}{}", task,
         join(words, " "), words.size() == 1 ? " OTHER" : "");
  }
  const std::string near = closest_name(task, tasks);
  fail(ErrorKind::usage, "unknown task '{}'. {}", task,
       near.empty() ? "Known: " + join(tasks, ", ") : "Did you mean '" + near + "'?");
}

/// A file as the recipe names it: from the recipe's folder, unless it was named from the root and lies elsewhere.
std::string from_recipe(const std::string& file, const std::string& out) {
  if (!text::is_utf8(file))
    fail(ErrorKind::usage, "{}: a recipe can't name it, it is not UTF-8\n  fix: rename it", file);
  const auto folder_of = [](const std::string& path) {
    const fs::path parent = fs::path(path).parent_path();
    const fs::path whole = fs::absolute(parent.empty() ? "." : parent);
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(whole, error);
    return error ? whole.lexically_normal() : canonical;
  };
  const fs::path folder = folder_of(out == "-" ? "" : out);
  // The file's own name stays, also where it is a link: its ending tells the language.
  const std::string relative = (folder_of(file) / fs::path(file).filename()).lexically_relative(folder).string();
  return fs::path(file).is_absolute() && relative.starts_with("..") ? file : relative;
}

std::vector<std::string> from_recipe(const std::vector<std::string>& files, const std::string& out) {
  std::vector<std::string> paths;
  for (const std::string& f : files) paths.push_back(from_recipe(f, out));
  return paths;
}

void write(SizedRecipe& sized, NewRecipe& n) {
  const Recipe& r = sized.recipe;
  RecipeLayout w(sized, n);
  n.text = fmt::format(
      "# {} to {}, {} pairs. Train it:  attune train {}\n"
      "# What is not said here has its default; `attune info recipe` tells every key there is.\n\n",
      n.source_language, n.target_language, thousands(n.pairs), shown_name(n.file));
  w.key("task", "a text in, a text out");
  w.section("data");
  w.key("train", r.data.format == DataFormat::tsv ? "two columns: source, target; relative to this file"
                                                  : "source, target (and so on); relative to this file");
  if (!r.data.valid.empty())
    w.key("valid", "to see whether it learns, never trained on");
  else
    w.example("valid = [\"val.en\", \"val.de\"]", "none given: 2 % of train, at most 1,000 pairs, are held out");
  if (!r.data.test.empty()) w.key("test", "for `attune test`");
  if (r.data.format != DataFormat::lines)
    w.key("format", r.data.format == DataFormat::tsv ? "a pair a line: source, tab, target" : "a pair a row");
  for (const char* key : {"columns", "header", "delimiter", "encoding"})
    if (w.has_reason(std::string("data.") + key)) w.key(key);
  if (!r.data.languages.empty())
    w.key("languages", "what the sides are called, as the files or their columns are");
  else
    w.example("languages = [\"en\", \"de\"]", "what to call the sides; the file names do not tell");
  w.key("max_length");
  if (r.data.truncate) w.key("truncate");
  w.section("tokenizer");
  for (const char* key : {"kind", "size", "joint", "character_coverage"})
    if (w.has_reason(std::string("tokenizer.") + key)) w.key(key);
  w.section("model");
  for (const char* key :
       {"encoder_layers", "decoder_layers", "d_model", "d_ff", "heads", "dropout", "norm", "position"})
    w.key(key);
  w.section("train");
  for (const char* key : {"batch_tokens", "shards", "slices", "stop", "schedule", "learning_rate", "warmup", "clip",
                          "validate", "metric", "average"})
    w.key(key);
  if (w.has_reason("train.metric_options.tokenize")) {
    w.section("train.metric_options");
    w.key("tokenize");
  }
}

void tell(const SizedRecipe& sized, const CorpusLook& look, int threads, NewRecipe& n) {
  const Recipe& r = sized.recipe;
  auto& notes = n.notes;
  notes.push_back(fmt::format("{} to {}: {} pairs to train on, {} and {} words", n.source_language, n.target_language,
                              thousands(n.pairs), thousands(n.source_words), thousands(n.target_words)));
  if (r.data.languages.empty()) notes.push_back("the file names tell no languages: set data.languages to name them");
  for (const std::string& remark : look.remarks) notes.push_back(remark);
  if (!n.held_out)
    notes.push_back(fmt::format("validation: {} pairs of {}", thousands(n.valid_pairs), join(n.valid, ", ")));
  else if (n.valid_pairs > 0)
    notes.push_back(fmt::format("no validation files: about {} pair{} of the training files will be held out for it",
                                thousands(n.valid_pairs), n.valid_pairs == 1 ? "" : "s"));
  if (n.test_pairs > 0)
    notes.push_back(fmt::format("test: {} pairs of {}", thousands(n.test_pairs), join(n.test, ", ")));
  if (n.pairs < 1000)
    notes.push_back(
        fmt::format("{} pairs are very few: expect it to learn these and little beyond", thousands(n.pairs)));
  if (const int64_t longer = look.longer_than(r.data.max_length); longer > 0)
    notes.push_back(fmt::format("{} pair{} longer than max_length = {} tokens: they will be skipped", thousands(longer),
                                longer == 1 ? " looks" : "s look", r.data.max_length));
  notes.push_back(fmt::format("tokenizer: joint BPE of {}; model: {} + {} layers, d_model {}, {:.1f} M parameters",
                              thousands(r.tokenizer.size), r.model.encoder_layers, r.model.decoder_layers,
                              r.model.d_model, static_cast<double>(n.parameters) / 1e6));
  notes.insert(notes.end(), sized.notes.begin(), sized.notes.end());
  notes.push_back(training_note(r, n.seconds, threads));
  if (n.seconds > 48 * 3600)
    notes.push_back(
        "that is long: `attune train --set train.stop=600m` ends after ten hours, --set model.d_model=256 "
        "makes it lighter");
}

int64_t memory_to_spare() {
  const Limits limits = read_limits();
  int64_t least = limits.memory_available;
  for (const int64_t limit : {limits.memory_limit, limits.address_space})
    if (limit > 0) least = std::min(least, limit);
  return least > 0 ? least / 4 * 3 : INT64_MAX;
}

}  // namespace

std::vector<std::string> task_names() {
  Recipe recipe;
  return find_field(fields_of(recipe), "task").rule.choices;
}

namespace {

NewRecipe propose_for_rows(const std::string& name, Task task, const std::vector<std::string>& files,
                           const NewRecipeOptions& options) {
  if (options.truncate) fail(ErrorKind::usage, "--truncate is for texts\n  fix: leave it out");
  if (!options.columns.empty()) fail(ErrorKind::usage, "--columns is for tables of texts\n  fix: leave it out");
  const SortedFiles sorted = sort_texts(files, task, {options.train, options.valid, options.test});
  NewRecipe n;
  n.files = sorted.uses;
  n.train = sorted.train;
  n.valid = sorted.valid;
  n.test = sorted.test;
  n.file = !options.out.empty() && options.out != "-" ? options.out : name + ".toml";
  const int threads = options.threads > 0 ? options.threads : default_threads();
  SizedRecipe sized = choose_row_sizes(task, {.threads = threads, .seconds = options.seconds}, n);
  tell_files(n);
  DataSettings& d = sized.recipe.data;
  d.train = n.train;
  d.valid = n.valid;
  d.test = n.test;
  const Overlaps overlaps = count_overlaps(d, sides_of(task));
  n.valid_in_train = overlaps.valid.in_train;
  n.test_in_train = overlaps.test.in_train;
  for (const std::string& sentence : overlaps.sentences()) n.notes.push_back(sentence);
  d.train = from_recipe(n.train, options.out);
  d.valid = from_recipe(n.valid, options.out);
  d.test = from_recipe(n.test, options.out);
  write_rows(sized, n);
  check_recipe(read_recipe(n.text, n.file));  // what is written must be what was meant
  return n;
}

}  // namespace

NewRecipe propose_recipe(const std::string& name, const std::vector<std::string>& files,
                         const NewRecipeOptions& options) {
  const Task task = task_of(name, files);
  if (reads_rows(task)) return propose_for_rows(name, task, files, options);
  const bool language = task == Task::language, answers = gives_answers(task);
  const Sides sides = sides_of(task);
  const SaidRoles said{options.train, options.valid, options.test};
  const SortedFiles sorted = task == Task::translate ? sort_files(files, said) : sort_texts(files, task, said);
  DataSettings data;
  data.format = sorted.format;
  data.truncate = options.truncate;
  data.stream = language;
  data.train = sorted.train;
  data.valid = sorted.valid;
  data.test = sorted.test;
  const FilesLook found = look_into_files(task, options.columns, data);
  const CorpusLook look = look_at(sorted.train, "train", data, sides);

  NewRecipe n;
  n.files = sorted.uses;
  n.train = sorted.train;
  n.valid = sorted.valid;
  n.test = sorted.test;
  n.file = name + ".toml";
  if (!options.out.empty() && options.out != "-") n.file = options.out;
  n.pairs = look.pairs;
  n.source_words = look.source.words;
  n.target_words = look.target.words;
  n.held_out = sorted.valid.empty();
  std::vector<std::string> remarks;
  const auto count = [&](const std::vector<std::string>& list, const std::string& what) {
    const CorpusLook other = look_at(list, what, data, sides);
    for (const std::string& r : other.remarks) remarks.push_back(what + " data: " + r);
    return other.pairs;
  };
  n.valid_pairs = n.held_out ? std::min({std::max<int64_t>(1, look.pairs / 50), int64_t{1000}, look.pairs - 1})
                             : count(sorted.valid, "validation");
  if (!sorted.test.empty()) n.test_pairs = count(sorted.test, "test");
  const Overlaps overlaps = count_overlaps(data, sides);
  n.valid_in_train = overlaps.valid.in_train;
  n.test_in_train = overlaps.test.in_train;

  Room room;
  const int threads = room.threads = options.threads > 0 ? options.threads : default_threads();
  room.memory = options.memory > 0 ? options.memory : memory_to_spare();
  room.seconds = options.seconds;
  const double all = static_cast<double>(std::max(look.source.tokens, look.target.tokens));
  room.validated = all * static_cast<double>(n.valid_pairs) / static_cast<double>(look.pairs);
  if (language && n.held_out) room.validated = all / 50;
  const bool labelled = answers && !found.columns.numbers;
  const text::Labels labels = labelled ? learn_labels(data, kinds_of_head(defaults_of(task).model.head))
                                       : text::Labels(std::vector<std::string>{});
  if (options.measure || options.seconds > 0)
    room.seconds_of_update = [&](const Recipe& r) { return seconds_of_update(r, look, labels.size(), threads); };
  SizedRecipe sized = language  ? choose_language_sizes(look, room)
                      : answers ? choose_answer_sizes(task, look, found.columns, room)
                                : choose_sizes(look, room);
  found.apply(data, sized);
  DataSettings& d = sized.recipe.data;
  d.truncate = options.truncate;
  d.train = sorted.train;
  if (task == Task::translate) {
    const auto languages = languages_of(d);
    if (languages[0] != "source") d.languages = {languages[0], languages[1]};
    n.source_language = languages[0];
    n.target_language = languages[1];
  }
  d.train = from_recipe(sorted.train, options.out);
  d.valid = from_recipe(sorted.valid, options.out);
  d.test = from_recipe(sorted.test, options.out);
  n.parameters = numbers_of_model(sized.recipe, labels.size());
  n.seconds = sized.seconds;
  if (language) {
    write_language(sized, n);
    tell_language(sized, look, threads, n);
  } else if (answers) {
    write_answers(sized, n);
    tell_answers(sized, look, labels, threads, n);
  } else {
    write(sized, n);
    tell(sized, look, threads, n);
  }
  tell_files(n);
  const std::vector<std::string> same = overlaps.sentences();
  remarks.insert(remarks.end(), same.begin(), same.end());
  found.tell(remarks, n);
  check_recipe(read_recipe(n.text, n.file));  // what is written must be what was meant
  return n;
}

void check_recipe_place(const std::string& path, bool replace) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    fail(ErrorKind::usage, "{} is a folder\n  fix: --out {}", path, (fs::path(path) / "translate.toml").string());
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, ignored))
    fail(ErrorKind::usage, "there is no folder {}\n  fix: make it, or choose another --out", parent.string());
  if (!fs::is_regular_file(path, ignored)) return;
  if (!replace)
    fail(ErrorKind::usage, "{} is there already\n  fix: choose another name by --out, or replace it by --force", path);
  if (fs::path(path).extension() != ".toml")
    fail(ErrorKind::usage, "{} is there already and not called *.toml: it may be something else\n  fix: {}", path,
         "remove it yourself, or choose another --out");
}

void save_recipe(const NewRecipe& recipe, const std::string& path, bool replace) {
  check_recipe_place(path, replace);
  write_file(path, recipe.text);
}

}  // namespace attune
