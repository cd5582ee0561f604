// attune bench: the group of speed measurements; each kind has a file of its own.
#include <CLI/CLI.hpp>

#include "cli/session.h"

namespace attune::cli {

void add_bench(CLI::App& app, Session& session) {
  CLI::App* command = add_command(app, session, "bench", "speed on this machine, as a share of its peak",
                                  "  attune bench train recipe.toml\n"
                                  "  attune bench decode model test.en --beam 1,5 --threads 1,2\n"
                                  "  attune bench attention --length 512,4096 --threads 1 --json");
  command->group("This machine");
  command->require_subcommand(1);
  add_bench_train(*command, session);
  add_bench_decode(*command, session);
  add_bench_gemm(*command, session);
  add_bench_attention(*command, session);
}

}  // namespace attune::cli
