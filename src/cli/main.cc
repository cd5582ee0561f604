// The program: reads the command line, runs one command, maps errors to exit codes.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <system_error>

#include "attune/error.h"
#include "attune/text.h"
#include "attune/version.h"
#include "cli/foreign_words.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

constexpr const char* kInvitation = R"(attune trains, runs and explains attention models on a CPU.

First steps:
  attune demo                        see a model translate, and watch a small one learn to
  attune new translate a.en a.de     look at two text files, line by line each other's translation; write a recipe
  attune train translate.toml        train what the recipe describes
  attune translate translate-model   translate lines with it
)";

/// CLI11's help for commands; an invitation for the program itself.
class Help : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (app->get_parent()) return Formatter::make_help(app, name, mode);
    std::string out = kInvitation;
    std::string group;
    for (const CLI::App* c : app->get_subcommands({})) {
      if (c->get_group() != group) out += "\n" + (group = c->get_group()) + ":\n";
      out += fmt::format("  {:<25}{}\n", "attune " + c->get_name(), c->get_description());
    }
    return out + R"(
Every command has --help with examples, --json, --quiet, --threads N and --isa NAME.
Data goes to stdout, talk to stderr. `attune --version` tells the version.
)";
  }
};

/// The command the parser got to, and its full name.
const CLI::App* deepest(const CLI::App& app, std::string& path) {
  const CLI::App* at = &app;
  for (auto sub = at->get_subcommands(); !sub.empty(); sub = at->get_subcommands()) {
    at = sub.front();
    path += (path.empty() ? "" : " ") + at->get_name();
  }
  return at;
}

std::vector<std::string> command_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* c : app->get_subcommands({})) names.push_back(c->get_name());
  return names;
}

/// What is wrong with a command line, said so that it can be put right.
std::string explain(const CLI::App& app, const CLI::App* at, const std::string& path, const CLI::ParseError& e) {
  const std::vector<std::string> extras = app.remaining(true), commands = command_names(at);
  const std::string help = "attune " + path + (path.empty() ? "" : " ") + "--help";
  if (!extras.empty()) {
    const std::string& word = extras.front();
    const bool option = word.starts_with("-");
    std::vector<std::string> known = commands;
    if (option) {
      known.clear();
      for (const CLI::Option* o : at->get_options())
        for (const auto& name : o->get_lnames()) known.push_back("--" + name);
    }
    const std::string name = word.substr(0, word.find('='));
    const std::string near = closest_name(name, known);
    if (const std::string here = foreign_option(path, name); near.empty() && !here.empty())
      return fmt::format("unknown option '{}'\n  fix: {}", name, here);
    const char* what = option ? "option" : commands.empty() ? "argument" : "command";
    if (path == "test" && !option)
      return fmt::format("it takes a model and no files: '{}'\n  fix: --set 'data.test=[\"{}\"]'", word, word);
    return fmt::format("unknown {} '{}'. {}", what, name,
                       near.empty() ? "See `" + help + "`." : "Did you mean '" + near + "'?");
  }
  if (!commands.empty() && at->get_subcommands().empty()) {
    std::string list;
    for (const auto& c : commands) list += (list.empty() ? "" : ", ") + c;
    return "which one?\n  fix: add one of " + list;
  }
  return std::string(e.what()) + "\n  fix: see `" + help + "`";
}

/// A message may name files, whose names may hold what would move the cursor or change colours.
std::string visible(const std::string& text) {
  std::string out;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    out += (from > 0 ? "\n" : "") + fit_columns(std::string_view(text).substr(from, end - from), 0);
    from = end + 1;
  }
  return out;
}

int report(const std::string& command, const std::string& text, int code) {
  std::fflush(stdout);
  tell("attune{}{}: {}\n", command.empty() ? "" : " ", command, visible(text));
  return code;
}

/// Of the command line, as CLI11 wants them: the last one first. `attune help train` is `attune train --help`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  std::reverse(words.begin(), words.end());
  return words;
}

int run(int argc, char** argv) {
  Session session;
  CLI::App app("attune", "attune");
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", std::string("attune ") + version());
  add_common_options(app, session);
  app.require_subcommand(0, 1);
  add_demo(app, session);
  add_new(app, session);
  add_train(app, session);
  add_compare(app, session);
  add_average(app, session);
  add_quantize(app, session);
  add_info(app, session);
  add_translate(app, session);
  add_generate(app, session);
  add_score(app, session);
  add_classify(app, session);
  add_tag(app, session);
  add_embed(app, session);
  add_look(app, session);
  add_test(app, session);
  add_metric(app, session);
  add_tokenizer(app, session);
  add_doctor(app, session);
  add_bench(app, session);

  try {
    app.parse(words_of(argc, argv));
  } catch (const CLI::Success& e) {  // --help, --version
    app.exit(e);
    finish_output();
    return 0;
  } catch (const CLI::ParseError& e) {
    std::string path;
    const CLI::App* at = deepest(app, path);
    return report(path, explain(app, at, path, e), exit_code(ErrorKind::usage));
  }
  deepest(app, session.command);
  if (!session.work) {
    print(app.help());
    finish_output();
    return 0;
  }
  try {
    session.choose_isa();
    session.work();
    finish_output();
    return session.exit_code;
  } catch (const Error& e) {
    return report(session.command, e.what(), exit_code(e.kind()));
  } catch (const std::bad_alloc&) {
    return report(session.command, "out of memory\n  fix: see `attune doctor` for the limits",
                  exit_code(ErrorKind::memory));
  } catch (const std::system_error& e) {
    // Threads are refused for want of memory for their stacks, among other things.
    const bool memory =
        e.code() == std::errc::resource_unavailable_try_again || e.code() == std::errc::not_enough_memory;
    return report(
        session.command,
        fmt::format("{}\n  fix: {}", e.what(), memory ? "see `attune doctor` for the limits" : "see the system's log"),
        exit_code(memory ? ErrorKind::memory : ErrorKind::io));
  } catch (const std::exception& e) {
    return report(session.command, fmt::format("{} (a bug in attune: please report it)", e.what()),
                  exit_code(ErrorKind::internal));
  }
}

}  // namespace

}  // namespace attune::cli

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails instead, and says so
  try {
    return attune::cli::run(argc, argv);
  } catch (const attune::Error& e) {
    return attune::cli::report("", e.what(), attune::exit_code(e.kind()));
  } catch (const std::exception& e) {
    return attune::cli::report("", e.what(), attune::exit_code(attune::ErrorKind::internal));
  }
}
