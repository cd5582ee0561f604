// attune train: trains what a recipe describes, or goes on with what the folder holds.
#include <CLI/CLI.hpp>

#include "attune/trainer.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

void run_train(TrainerOptions options, Session& session) {
  options.threads = session.thread_count();
  Trainer trainer(options);
  Progress progress(session);
  const Interruptible interruptible(trainer, progress.talk(), "saving a checkpoint (Ctrl-C again to stop at once)");
  const TrainingOutcome o = trainer.run(progress.events());
  progress.finish(o);
  if (o.reason == TrainingOutcome::Reason::interrupted) session.exit_code = kInterrupted;
}

}  // namespace

void add_train(CLI::App& app, Session& session) {
  auto options = std::make_shared<TrainerOptions>();
  CLI::App* command = add_command(app, session, "train", "train what a recipe describes, or resume what DIR holds",
                                  "  attune train translate.toml\n"
                                  "  attune train translate.toml --out model --set train.stop=20000u\n"
                                  "  attune train model");
  command->group("Making models");
  command
      ->add_option("RECIPE", options->recipe,
                   "what to train; `attune new` writes one. Or the folder of a run, to go on with it")
      ->required();
  command->add_option("--out", options->out, "folder of the run (default: RECIPE without .toml, and -model)")
      ->type_name("DIR");
  command->add_option("--set", options->sets, "change a key of the recipe: key=value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--fresh", options->fresh, "start anew, even where DIR holds a run");
  set_work(command, session, [&session, options] { run_train(*options, session); });
}

}  // namespace attune::cli
