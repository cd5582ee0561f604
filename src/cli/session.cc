#include "cli/session.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "attune/error.h"
#include "attune/machine.h"

namespace attune::cli {

int Session::thread_count() const { return threads > 0 ? threads : default_threads(); }

void Session::choose_isa() {
  isa_source = isa.empty() ? "" : "--isa";
  if (isa.empty()) {
    const char* set = std::getenv("ATTUNE_ISA");
    if (!set || !*set) return;
    isa = set;
    isa_source = "ATTUNE_ISA";
  }
  try {
    force_isa(isa);
  } catch (const Error& e) { throw Error(e.kind(), isa_source + ": " + e.what()); }
}

void add_common_options(CLI::App& app, Session& session) {
  app.add_flag("--json", session.json, "the result as JSON (one object per line)")->group("Everywhere");
  app.add_flag("--quiet", session.quiet, "no talk on stderr")->group("Everywhere");
  app.add_option("--threads", session.threads, "how many threads (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group("Everywhere");
  app.add_option("--isa", session.isa, "the instruction set to use; also ATTUNE_ISA (default: the best)")
      ->type_name("NAME")
      ->group("Everywhere");
}

CLI::App* add_command(CLI::App& parent, Session& session, const std::string& name, const std::string& sentence,
                      const std::string& examples) {
  CLI::App* command = parent.add_subcommand(name, sentence);
  command->footer("Examples:\n" + examples);
  add_common_options(*command, session);
  return command;
}

void set_work(CLI::App* command, Session& session, std::function<void()> work) {
  command->callback([&session, work = std::move(work)] { session.work = work; });
}

}  // namespace attune::cli
