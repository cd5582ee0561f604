// attune info: a model, or what can be chosen.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "attune/error.h"
#include "attune/recipe.h"
#include "attune/text.h"
#include "cli/info_model.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

struct InfoOptions {
  std::string what;
  bool markdown = false;
};

void tell_recipe(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(recipe_reference());
  std::vector<std::vector<std::string>> rows;
  for (const RecipeKey& k : recipe_keys()) {
    if (session.json)
      print(to_json({{"key", k.key},
                     {"type", k.type},
                     {"default", k.standard},
                     {"range", k.range},
                     {"sentence", k.sentence}}) +
            "\n");
    else
      rows.push_back({k.key, k.standard, k.range.empty() ? k.type : k.range, k.sentence});
  }
  if (!session.json) print(table({"key", "default", "type or range", "meaning"}, rows));
}

void run(const InfoOptions& options, const Session& session) {
  const std::vector<std::string> known{"recipe"};
  if (options.what == "recipe") return tell_recipe(options, session);
  if (std::error_code ignored; std::filesystem::exists(options.what, ignored)) return tell_model(options.what, session);
  const std::string near = closest_name(options.what, known);
  throw Error(ErrorKind::usage,
              fmt::format("nothing is known about '{}'. {}\n  fix: name a model folder, or one of: recipe",
                          options.what, near.empty() ? "There is no such folder." : "Did you mean '" + near + "'?"));
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = add_command(app, session, "info", "describe a model, or the keys of recipes",
                                  "  attune info recipe\n"
                                  "  attune info run/checkpoints/step-00008000\n"
                                  "  attune info recipe --json | jq -r .key");
  command->group("Making models");
  command->add_option("what", options->what, "a model folder; or recipe: every key with its default, range and meaning")
      ->type_name("WHAT")
      ->required();
  command->add_flag("--markdown", options->markdown, "as a page of Markdown");
  set_work(command, session, [&session, options] { run(*options, session); });
}

}  // namespace attune::cli
