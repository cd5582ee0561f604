#include "cli/input.h"
#include "cli/tell.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

namespace attune::cli {

void add_input_format(CLI::App* command, std::string& format) {
  command
      ->add_option("--input-format", format,
                   "what FILE is: lines, or rows of tsv, csv or conll, of which the recipe's columns are read "
                   "(default: auto, rows where it looks like the recipe's data)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"auto", "lines", "tsv", "csv", "conll"}));
}

InputTexts open_input(const NamedInput& named, const Session& session) {
  InputTexts input(named.model, named.input,
                   {named.format, named.pairs,
                    fmt::format("for a text itself: echo 'TEXT' | attune {} {}", session.command, named.model)});
  if (!session.quiet && !input.how().empty()) tell("note: {}\n", input.how());
  return input;
}

void tell_notes(const InputTexts& input, const Session& session) {
  if (session.quiet) return;
  for (const std::string& note : input.notes()) tell("note: {}\n", note);
}

}  // namespace attune::cli
