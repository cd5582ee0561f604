// attune demo: the main job from end to end, in about a minute. Translates with the model that ships with the program;
// then trains a small one, translates sentences that it has never seen, and draws what it looked at.
#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "attune/error.h"
#include "attune/show.h"
#include "attune/test.h"
#include "attune/text.h"
#include "attune/trainer.h"
#include "attune/translator.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kShown = 12, kWrongShown = 3;

/// A file or folder in the sources, or where `make install` put it; "" if there is none.
std::string shipped(const std::string& name) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& path : {fs::path(name), program / "../share/attune" / name, program / ".." / name})
    if (fs::exists(path, ignored)) return path.lexically_normal().string();
  return "";
}

std::string shipped_recipe() {
  const std::string name = "recipes/demo/recipe.toml", path = shipped(name);
  if (!path.empty()) return path;
  throw Error(ErrorKind::usage, "there is no " + name +
                                    " here, and none was installed with the program\n"
                                    "  fix: run it in the folder of the sources, or name one with --recipe FILE");
}

/// Where the run goes when nobody wants to keep it.
class ScratchFolder {
 public:
  ScratchFolder() {
    path_ = (fs::temp_directory_path() / "attune-demo-XXXXXX").string();
    if (!mkdtemp(path_.data()))
      throw Error(ErrorKind::io, "cannot make a folder in " + fs::temp_directory_path().string() +
                                     "\n  fix: name another with --out DIR, or set TMPDIR");
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Every so many line: nobody chose them.
std::string spread(const TestReport& report, int width, const Paint& paint) {
  const std::vector<TestedLine>& all = report.tested;
  const size_t step = std::max<size_t>(1, all.size() / kShown);
  std::string out =
      fmt::format("\n{} sentences it has never seen, translated in {:.1f} s. {}:\n\n", thousands(report.lines),
                  report.seconds, step > 1 ? fmt::format("One in {}", step) : "All of them");
  for (size_t i = 0; i < all.size() && i < kShown * step; i += step) {
    const TestedLine& line = all[i];
    out += "  " + (line.right ? paint.good("right") : paint.bad("wrong")) + "  " +
           fit_columns(line.source, width - 10) + "\n         " +
           paint.strong(fit_columns(line.translation, width - 10)) + "\n";
  }
  return out;
}

std::string verdict(const TestReport& report, int width, const Paint& paint) {
  std::string wrong;
  int64_t count = 0;
  for (const TestedLine& line : report.tested) {
    if (line.right || ++count > static_cast<int64_t>(kWrongShown)) continue;
    wrong += fmt::format("  source  {}\n  wanted  {}\n  got     {}\n", fit_columns(line.source, width - 11),
                         fit_columns(line.reference, width - 11), paint.bad(fit_columns(line.translation, width - 11)));
  }
  const int64_t right = report.lines - count;
  std::string out =
      "\n" + paint.strong(fmt::format("{} of {} are right to the letter: {:.1f} %", right, report.lines,
                                      100.0 * static_cast<double>(right) / static_cast<double>(report.lines)));
  if (count > 0)
    out += (count == 1                                   ? ". The other one:\n"
            : count <= static_cast<int64_t>(kWrongShown) ? ". The others:\n"
                                                         : ". Some that are not:\n") +
           wrong;
  else
    out += "\n";
  return out;
}

/// How sure the rows are of their column: the mean of their largest weights.
double sharpness(const AttentionLook& look) {
  const size_t columns = look.columns.size();
  double sum = 0;
  for (size_t r = 0; r < look.rows.size(); ++r)
    sum += *std::max_element(&look.weights[r * columns], &look.weights[r * columns] + columns);
  return sum / static_cast<double>(std::max<size_t>(1, look.rows.size()));
}

/// Pairs of rows that are sure and whose columns stand the other way round: words that changed places.
int crossings(const AttentionLook& look) {
  const size_t columns = look.columns.size();
  std::vector<std::ptrdiff_t> sure;
  for (size_t r = 0; r < look.rows.size(); ++r) {
    const float* row = &look.weights[r * columns];
    const float* best = std::max_element(row, row + columns);
    if (*best > 0.5f) sure.push_back(best - row);
  }
  int n = 0;
  for (size_t i = 0; i < sure.size(); ++i)
    for (size_t j = i + 1; j < sure.size(); ++j) n += sure[i] > sure[j];
  return n;
}

/// The sharpest layer of a short sentence whose words change places on the way.
AttentionLook telling_look(const Translator& translator, const std::vector<TestedLine>& tested) {
  constexpr size_t kLongest = 14, kTried = 60;
  AttentionLook chosen;
  int most = -1;
  size_t tried = 0;
  const bool any_right = std::any_of(tested.begin(), tested.end(), [](const TestedLine& line) { return line.right; });
  for (const TestedLine& line : tested) {
    if (any_right && !line.right) continue;
    AttentionLook look = translator.attention(line.source);
    if (look.columns.size() > kLongest && most >= 0) continue;
    for (int layer = 0; layer < look.layers; ++layer) {
      AttentionLook other = translator.attention(line.source, {.layer = layer});
      if (sharpness(other) > sharpness(look)) look = std::move(other);
    }
    if (const int n = crossings(look); n > most) {
      most = n;
      chosen = std::move(look);
    }
    if (++tried == kTried) break;
  }
  return chosen;
}

void draw(const AttentionLook& look, int width, const Paint& paint) {
  print(fmt::format(
      "\nWhat it looked at: down what it wrote, across what it read\n(decoder layer {}, the mean of {} heads)\n\n",
      look.layer + 1, look.heads));
  print(draw_attention({look.rows, look.columns, look.weights}, {.colour = paint.on, .width = width}));
}

/// What the model that ships with the program can do, before anything is trained.
void show_shipped(const std::string& model, int threads, int width, const Paint& paint) {
  const std::vector<std::string> english{"Where is the nearest bank?", "I would like a glass of red wine, please.",
                                         "She told me that she didn't want to go to school.", "Who wrote this book?",
                                         "It's raining, so we are staying at home."};
  const Translator translator(model, threads);
  print(fmt::format("A model that comes with attune, {}, puts English into French:\n\n", model));
  std::vector<TestedLine> lines;
  for (const Translation& t : translator.translate(english)) {
    lines.push_back({.source = english[lines.size()], .reference = "", .translation = t.text, .right = true});
    print("  " + fit_columns(lines.back().source, width - 2) + "\n  " + paint.strong(fit_columns(t.text, width - 2)) +
          "\n");
  }
  draw(telling_look(translator, lines), width, paint);
  print("\n");
  finish_output();
}

TrainingOutcome train_demo(const TrainerOptions& options, Progress& progress, bool keep) {
  Trainer trainer(options);
  const Interruptible interruptible(
      trainer, progress.talk(),
      keep ? "saving a checkpoint (Ctrl-C again to stop at once)" : "stopping (Ctrl-C again: at once)");
  const TrainingOutcome o = trainer.run(progress.events());
  progress.finish(o, keep);
  return o;
}

void run_demo(TrainerOptions options, Session& session) {
  if (options.recipe.empty()) options.recipe = shipped_recipe();
  options.threads = session.thread_count();
  const bool keep = !options.out.empty();
  std::optional<ScratchFolder> scratch;
  if (!keep) options.out = scratch.emplace().path();
  const int width = terminal_columns(STDOUT_FILENO);
  const Paint paint{has_colours(STDOUT_FILENO)};
  if (const std::string model = shipped("models/en-fr"); !model.empty() && !session.json)
    show_shipped(model, options.threads, width, paint);
  if (!session.quiet) tell("A small Transformer learns to translate, from nothing: {}\n\n", options.recipe);

  Session talk = session;
  talk.json = false;  // of the whole demo, not of each update
  Progress progress(talk);
  const TrainingOutcome o = train_demo(options, progress, keep);
  if (o.reason == TrainingOutcome::Reason::interrupted) {
    session.exit_code = keep ? kInterrupted : kByCtrlC;
    return;
  }

  const TestReport report = test_model(o.model, {}, {}, options.threads);
  int64_t right = 0;
  for (const TestedLine& line : report.tested) right += line.right;
  if (session.json) {
    Record r{{"parameters", progress.plan().parameters},
             {"updates", o.updates},
             {"train_seconds", rounded(o.seconds, 1)},
             {"target_tokens_per_s", rounded(progress.status().target_tokens_per_s, 0)},
             {"lines", report.lines},
             {"right", right}};
    for (const MetricResult& m : report.scores) r.emplace_back(m.name, rounded(m.score, 2));
    return print(to_json(r) + "\n");
  }
  print(spread(report, width, paint) + verdict(report, width, paint));

  const Translator translator(o.model, options.threads);
  draw(telling_look(translator, report.tested), width, paint);
}

}  // namespace

void add_demo(CLI::App& app, Session& session) {
  auto options = std::make_shared<TrainerOptions>();
  CLI::App* command =
      add_command(app, session, "demo", "see a model translate, and watch a small one learn to, in a minute",
                  "  attune demo\n"
                  "  attune demo --out demo-model\n"
                  "  attune demo --set train.seed=7 --json");
  command->group("See it work");
  command->add_option("--recipe", options->recipe, "what to train (default: the demo's own)")->type_name("FILE");
  command->add_option("--out", options->out, "keep the model in this folder (default: nothing is kept)")
      ->type_name("DIR");
  command->add_option("--set", options->sets, "change a key of the recipe: key=value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  set_work(command, session, [&session, options] { run_demo(*options, session); });
}

}  // namespace attune::cli
