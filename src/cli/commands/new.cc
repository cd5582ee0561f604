// attune new: looks at files and writes a recipe that fits them; or makes up the data too, for a probe.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "attune/error.h"
#include "attune/new_recipe.h"
#include "attune/probe.h"
#include "attune/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct NewArguments {
  std::string task;
  std::vector<std::string> files;
  NewRecipeOptions options;
  ProbeOptions probe;
  std::string time;
  bool force = false;
};

constexpr std::string_view kProbe = "probe:";

/// "90s", "10m", "2h": seconds.
double seconds_of(const std::string& time) {
  double count = 0;
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), count);
  const std::string_view unit(end, static_cast<size_t>(time.data() + time.size() - end));
  const double seconds = count * (unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0);
  if (error != std::errc() || !(seconds >= 1) || seconds > 365 * 86400.0)
    throw Error(ErrorKind::usage, fmt::format("--time {}: how long is that?\n  fix: 90s, 10m or 2h", time));
  return seconds;
}

std::string as_json(const NewRecipe& n, const NewArguments& a) {
  Record settings;
  List languages;
  for (const std::string& l : {n.source_language, n.target_language})
    if (!l.empty()) languages.emplace_back(l);
  for (const auto& [key, value] : n.settings) settings.emplace_back(key, value);
  List files;
  for (const FileUse& f : n.files) files.emplace_back(Record{{"file", f.file}, {"role", f.role}, {"why", f.why}});
  return to_json({{"task", a.task},
                  {"file", n.file},
                  {"train", n.train},
                  {"valid", n.valid},
                  {"test", n.test},
                  {"files", files},
                  {"languages", languages},
                  {"pairs", n.pairs},
                  {"source_words", n.source_words},
                  {"target_words", n.target_words},
                  {"valid_pairs", n.valid_pairs},
                  {"held_out", n.held_out},
                  {"test_pairs", n.test_pairs},
                  {"valid_in_train", n.valid_in_train},
                  {"test_in_train", n.test_in_train},
                  {"parameters", n.parameters},
                  {"expected_seconds", rounded(n.seconds, 0)},
                  {"settings", settings},
                  {"notes", n.notes},
                  {"recipe", n.text}});
}

void run_probe(const NewArguments& a, const Session& session) {
  const std::string name = a.task.substr(kProbe.size());
  if (const NewRecipeOptions& o = a.options;
      !a.files.empty() || o.truncate || !o.train.empty() || !o.valid.empty() || !o.test.empty() || !o.columns.empty())
    throw Error(ErrorKind::usage, "a probe makes its own data\n  fix: give no files, but --out FOLDER");
  const Probe p = make_probe(name, a.probe);
  const std::string folder = a.options.out.empty() ? "probe-" + name : a.options.out, recipe = folder + "/recipe.toml";
  save_probe(p, folder, a.force);
  if (session.json)
    print(to_json({{"task", a.task},
                   {"file", recipe},
                   {"pairs", std::ssize(p.train)},
                   {"valid_pairs", std::ssize(p.valid)},
                   {"test_pairs", std::ssize(p.test)},
                   {"recipe", p.recipe}}) +
          "\n");
  if (session.quiet) return;
  tell("{}: {} pairs to train on, {} to validate, {} to test\nwrote {} and {}/data\nnext: attune train {}\n",
       p.sentence, thousands(std::ssize(p.train)), thousands(std::ssize(p.valid)), thousands(std::ssize(p.test)),
       recipe, folder, recipe);
}

void run_new(NewArguments& a, const Session& session) {
  if (a.task.starts_with(kProbe)) return run_probe(a, session);
  if (const ProbeOptions& p = a.probe; p.lines || p.gap || p.depth || p.words)
    throw Error(ErrorKind::usage, "--lines, --gap, --depth and --words are for probes\n  fix: leave them out");
  const bool to_stdout = a.options.out == "-";
  const std::vector<std::string> tasks = task_names();
  if (a.options.out.empty() && std::count(tasks.begin(), tasks.end(), a.task) > 0) a.options.out = a.task + ".toml";
  if (!to_stdout && !a.options.out.empty()) check_recipe_place(a.options.out, a.force);  // before the long part
  a.options.threads = session.threads;
  if (!a.time.empty()) a.options.seconds = seconds_of(a.time);
  const NewRecipe n = propose_recipe(a.task, a.files, a.options);
  if (!to_stdout) save_recipe(n, a.options.out, a.force);
  if (session.json)
    print(as_json(n, a) + "\n");
  else if (to_stdout)
    print(n.text);
  if (session.quiet) return;
  for (const std::string& note : n.notes) tell("{}\n", note);
  if (!to_stdout) tell("wrote {}\nnext: attune train {}\n", n.file, n.file);
}

}  // namespace

void add_new(CLI::App& app, Session& session) {
  auto a = std::make_shared<NewArguments>();
  CLI::App* command = add_command(app, session, "new", "look at files and write a recipe that fits them",
                                  "  attune new translate train.en train.de\n"
                                  "  attune new translate train.en.gz train.de.gz val.en val.de test.en test.de\n"
                                  "  attune new translate pairs.tsv --out -\n"
                                  "  attune new language book.txt --time 10m\n"
                                  "  attune new classify train.tsv valid.tsv test.tsv\n"
                                  "  attune new classify reviews.csv --columns review,stars\n"
                                  "  attune new tag train.conllu dev.conllu test.conllu\n"
                                  "  attune new tag --train esp.train --valid esp.testa --test esp.testb\n"
                                  "  attune new image train-images.gz train-labels.gz t10k-images.gz t10k-labels.gz\n"
                                  "  attune new graph nodes.tsv edges.tsv\n"
                                  "  attune new probe:listops --out listops --depth 3");
  command->group("Making models");
  command
      ->add_option("TASK", a->task,
                   "what is to be learned: translate, language, classify, tag, image, graph, or probe:copy, "
                   "probe:listops, probe:agreement")
      ->required();
  command->add_option("FILE", a->files,
                      "source, target (and again for validation and test, told by their names or folders: val, valid, "
                      "dev, test, testa ...); "
                      "or one file of two columns (tsv); language: texts; classify: label, tab, text (tsv, csv); tag: "
                      "CoNLL; image: IDX "
                      "files of pictures and labels; graph: tables of nodes and edges; "
                      "plain or .gz");
  command
      ->add_option("--out", a->options.out, "where to write it (default: TASK.toml; -: stdout); of a probe: the folder")
      ->type_name("RECIPE");
  command
      ->add_option("--time", a->time, "how long training may take here: 90s, 10m, 2h (default: as long as is of use)")
      ->type_name("T");
  command->add_flag("--force", a->force, "replace a recipe that is there already");
  const auto role = [&](const char* name, std::vector<std::string>& files, const char* sentence) {
    command->add_option(name, files, sentence)->type_name("FILE");
  };
  role("--train", a->options.train, "files to train on, whatever their names say");
  role("--valid", a->options.valid, "files to validate on, likewise");
  role("--test", a->options.test, "files to test on, likewise");
  command
      ->add_option("--columns", a->options.columns,
                   "of tsv, csv and CoNLL files: which columns to read, by their names in the header or numbers from 1 "
                   "(classify: text,label)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command->add_flag("--truncate", a->options.truncate, "files may differ in length: use the lines that both have");
  command->add_option("--seed", a->probe.seed, "which lines a probe draws")->type_name("N")->group("Probes");
  const auto measure = [&](const char* name, int64_t& value, const char* sentence) {
    command->add_option(name, value, sentence)->type_name("N")->check(CLI::Range(1, 10'000'000))->group("Probes");
  };
  measure("--lines", a->probe.lines, "to train on");
  measure("--gap", a->probe.gap, "copy, agreement: words between the answer and the question, at most");
  measure("--depth", a->probe.depth, "listops: lists within lists");
  measure("--words", a->probe.words, "listops: words of a line, at most");
  set_work(command, session, [&session, a] { run_new(*a, session); });
}

}  // namespace attune::cli
