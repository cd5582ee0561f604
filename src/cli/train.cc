// attune train: trains what a recipe describes, or goes on with what the folder holds.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "attune/trainer.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

constexpr int kInterrupted = 75;

Trainer* running = nullptr;

/// The first asks for a checkpoint and an orderly end; Ctrl-C once more ends at once.
extern "C" void on_signal(int signal) {
  static volatile sig_atomic_t asked = 0;
  if (asked && signal == SIGINT) _exit(130);
  asked = 1;
  if (running) running->stop();
}

class Signals {
 public:
  explicit Signals(Trainer& trainer) {
    running = &trainer;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (const int s : {SIGTERM, SIGINT}) sigaction(s, &action, nullptr);
  }
  ~Signals() {
    for (const int s : {SIGTERM, SIGINT}) ::signal(s, SIG_DFL);
    running = nullptr;
  }
};

void run(TrainerOptions options, Session& session) {
  options.threads = session.thread_count();
  Trainer trainer(options);
  const Signals signals(trainer);
  TrainingEvents events;
  if (!session.quiet) events.on_log = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const TrainingOutcome o = trainer.run(events);
  if (o.reason == TrainingOutcome::Reason::interrupted) session.exit_code = kInterrupted;
}

}  // namespace

void add_train(CLI::App& app, Session& session) {
  auto options = std::make_shared<TrainerOptions>();
  CLI::App* command = add_command(app, session, "train", "train what a recipe describes, or resume what DIR holds",
                                  "  attune train translate.toml\n"
                                  "  attune train translate.toml --out model --set train.stop=20000u");
  command->group("Models");
  command->add_option("RECIPE", options->recipe, "what to train; `attune new` writes one")->required();
  command->add_option("--out", options->out, "folder of the run (default: RECIPE without .toml, and -model)")
      ->type_name("DIR");
  command->add_option("--set", options->sets, "change a key of the recipe: key=value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--fresh", options->fresh, "start anew, even where DIR holds a run");
  set_work(command, session, [&session, options] { run(*options, session); });
}

}  // namespace attune::cli
