// attune compare: trains variants of a recipe, one after another, and writes one table and one page of plots.
#include "attune/compare.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

void say(const Session& session, const std::string& line) {
  if (!session.quiet) tell("{}\n", line);
}

void run_compare(CompareOptions options, Session& session) {
  options.threads = session.thread_count();
  Comparer comparer(options);
  for (const std::string& note : comparer.plan().notes) say(session, "note: " + note);
  for (const ComparedVariant& v : comparer.plan().variants)
    if (v.state == ComparedVariant::State::refused) say(session, fmt::format("{} is impossible: {}", v.name, v.reason));

  Session talk = session;
  talk.json = false;  // the result is the comparison's, not that of each update
  std::optional<Progress> progress;
  CompareEvents events;
  events.on_start = [&](const ComparedVariant& v, int64_t number, int64_t of) {
    say(session, fmt::format("{}{} ({} of {})", number > 1 ? "\n" : "", v.name, number, of));
    return progress.emplace(talk).events();
  };
  events.on_trained = [&](const ComparedVariant&, const TrainingOutcome& o) { progress->finish(o, false); };
  events.on_trouble = [&](const ComparedVariant& v) { say(session, fmt::format("{} failed: {}", v.name, v.reason)); };
  events.on_phase = [&](const char* what) { say(session, fmt::format("{} ...", what)); };

  const Interruptible interruptible(comparer, Progress(talk).talk(),
                                    "saving what there is (Ctrl-C again to stop at once)");
  const Comparison c = comparer.run(events);
  if (c.interrupted) {
    session.exit_code = kInterrupted;
    return say(session, "interrupted; the same command goes on");
  }
  if (session.json) {
    for (const ComparedVariant& v : c.variants) print(json_of(v) + "\n");
  } else {
    say(session, "");
    CompareTable t = table_of(c);
    for (auto& row : t.rows)
      for (size_t i = 0; i < row.size(); ++i)
        if (row[i].empty() && t.head[i] != "remarks") row[i] = "-";
    print(table(t.head, t.rows));
  }
  if (const std::string note = table_of(c).note; !note.empty()) say(session, "note: " + note);
  say(session, fmt::format("plots: {0}/compare.html; the table: {0}/compare.md and compare.json", c.out));
}

}  // namespace

void add_compare(CLI::App& app, Session& session) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      add_command(app, session, "compare", "train variants of a recipe and compare them in a table and plots",
                  "  attune compare translate.toml --over model.position=sinusoidal,learned\n"
                  "  attune compare translate.toml --over 'model.attention=softmax,{ kind = \"band\", width = 64 }' "
                  "--over train.seed=1,2,3 --set train.stop=2000u");
  command->group("Making models");
  command->add_option("RECIPE", options->recipe, "what to train variants of")->required();
  command
      ->add_option("--over", options->over,
                   "a key of the recipe and its values; commas within brackets or quotes belong to a value, several "
                   "--over make the product")
      ->type_name("KEY=A,B,C")
      ->allow_extra_args(false)
      ->required();
  command->add_option("--out", options->out, "folder of all runs (default: RECIPE without .toml, and .compare)")
      ->type_name("DIR");
  command->add_option("--set", options->sets, "change a key of the recipe for all: key=value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--fresh", options->fresh, "start anew, even where DIR holds runs");
  set_work(command, session, [&session, options] { run_compare(*options, session); });
}

}  // namespace attune::cli
