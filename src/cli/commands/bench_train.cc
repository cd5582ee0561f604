// attune bench train: the speed of training on this machine.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/bench.h"
#include "attune/machine.h"
#include "attune/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

void run_bench_train(TrainBench bench, const Session& session) {
  bench.threads = session.thread_count();
  if (!session.quiet)
    tell("measuring {} updates after {} to warm up, {} thread{}, {}\n", bench.updates, bench.warm, bench.threads,
         bench.threads == 1 ? "" : "s", chosen_isa());
  const TrainFigure f = bench_train(bench);
  if (!session.quiet) note_busy(f.load);
  if (session.json) {
    print(to_json({{"target_tokens_per_s", rounded(f.target_tokens_per_s, 1)},
                   {"source_tokens_per_s", rounded(f.source_tokens_per_s, 1)},
                   {"share_of_gemm_peak", rounded(f.share_of_gemm_peak, 4)},
                   {"gflops", rounded(f.gflops, 2)},
                   {"ms_per_update", rounded(f.ms_per_update, 2)},
                   {"peak_rss_mb", rounded(f.peak_rss_mb, 1)},
                   {"estimated_mb", rounded(f.estimated_mb, 1)},
                   {"parameters", f.parameters},
                   {"vocabulary", f.vocabulary},
                   {"updates", f.updates},
                   {"loss", rounded(f.loss, 4)},
                   {"busy", rounded(f.load.share(), 3)},
                   {"threads", bench.threads},
                   {"isa", chosen_isa()}}) +
          "\n");
    return;
  }
  print(fmt::format("{} target tokens/s, {:.0f} % of peak ({:.0f} GFLOP/s), {:.1f} ms per update\n",
                    thousands(static_cast<int64_t>(f.target_tokens_per_s)), 100 * f.share_of_gemm_peak, f.gflops,
                    f.ms_per_update));
  print(fmt::format("{} parameters, {} pieces, peak memory {:.0f} MB ({:.0f} MB foreseen for the training itself)\n",
                    thousands(f.parameters), thousands(f.vocabulary), f.peak_rss_mb, f.estimated_mb));
}

}  // namespace

void add_bench_train(CLI::App& bench, Session& session) {
  auto b = std::make_shared<TrainBench>();
  CLI::App* command = add_command(bench, session, "train", "updates of a recipe's model on its own data; saves nothing",
                                  "  attune bench train recipe.toml\n"
                                  "  attune bench train recipe.toml --set model.d_model=512 --updates 40 --json");
  command->add_option("RECIPE", b->recipe, "what to train")->required();
  command->add_option("--set", b->sets, "change a key of the recipe: key=value")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--updates", b->updates, "updates to measure (default: 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--warm", b->warm, "updates before that (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
  set_work(command, session, [&session, b] { run_bench_train(*b, session); });
}

}  // namespace attune::cli
