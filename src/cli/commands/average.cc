// attune average: the mean of several models.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/model.h"
#include "attune/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct AverageArguments {
  std::vector<std::string> models;
  std::string out;
  AverageOptions options;
};

void run_average(const AverageArguments& a, const Session& session) {
  AverageOptions options = a.options;
  options.threads = session.thread_count();
  const AverageReport r = average(a.models, a.out, options);
  if (session.json) {
    Record j{{"out", a.out}, {"models", r.models}, {"parameters", r.parameters}, {"notes", r.notes}};
    if (r.judged)
      j.insert(j.end(), {{"metric", r.metric},
                         {"score", r.score},
                         {"against", r.against},
                         {"against_score", r.against_score},
                         {"better", r.better}});
    print(to_json(j) + "\n");
  }
  if (session.quiet) return;
  for (const std::string& note : r.notes) tell("note: {}\n", note);
  tell("{} is the average of {} models, {} parameters:\n", a.out, r.models.size(), thousands(r.parameters));
  for (const std::string& m : r.models) tell("  {}\n", m);
  if (!r.verdict.empty()) tell("{}\n", r.verdict);
}

}  // namespace

void add_average(CLI::App& app, Session& session) {
  auto a = std::make_shared<AverageArguments>();
  CLI::App* command = add_command(app, session, "average", "average checkpoints into one model",
                                  "  attune average run --last 5 --out averaged\n"
                                  "  attune average run/checkpoints/step-00007000 run/checkpoints/step-00008000 "
                                  "--out averaged");
  command->group("Making models");
  command->add_option("DIR", a->models, "a run, whose last checkpoints are meant, or several model folders")
      ->required();
  command
      ->add_option("--last", a->options.last, "how many checkpoints of the later half of a run, at most (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(int64_t{2}, int64_t{1'000'000}));
  command->add_flag("--early", a->options.early, "take checkpoints of the first half of the run too");
  command->add_flag("!--no-judge", a->options.judge, "do not compare with the run's own model on its validation set");
  command->add_option("--out", a->out, "where to put the averaged model")->type_name("DIR")->required();
  command->add_flag("--force", a->options.replace, "replace a model that is there already");
  set_work(command, session, [&session, a] { run_average(*a, session); });
}

}  // namespace attune::cli
