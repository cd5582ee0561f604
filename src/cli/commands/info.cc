// attune info: a model, or what can be chosen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "attune/error.h"
#include "attune/mechanisms.h"
#include "attune/recipe.h"
#include "attune/text.h"
#include "cli/commands/info_model.h"
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

Record described(const Described& d) {
  Record r{{"name", d.name}, {"sentence", d.sentence}, {"formula", d.formula}, {"cite", d.cite}};
  if (!d.cost.empty()) r.push_back({"cost", d.cost});
  if (!d.details.empty()) r.push_back({"details", d.details});
  List options;
  for (const RecipeKey& k : d.options)
    options.push_back(Record{
        {"name", k.key}, {"type", k.type}, {"default", k.standard}, {"range", k.range}, {"sentence", k.sentence}});
  r.push_back({"options", options});
  return r;
}

/// The names of the options, as a recipe would set them: "width = 64, dilation = 1".
std::string options_text(const Described& d) {
  std::string text;
  for (const RecipeKey& k : d.options) text += (text.empty() ? "" : ", ") + k.key + " = " + k.standard;
  return text;
}

const char* yes(bool x) { return x ? "yes" : "-"; }

void tell_mechanisms(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(mechanisms_reference());
  std::vector<std::vector<std::string>> rows;
  for (const Mechanism& m : mechanisms()) {
    Record r = described(m);
    for (auto& [name, can] : {std::pair{"causal", m.causal}, {"cross", m.cross}, {"step", m.step}})
      r.push_back({name, can});
    for (auto& [name, where] : {std::pair{"relative", m.relative},
                                {"sequences", m.sequences},
                                {"levels", m.levels},
                                {"positions", m.positions},
                                {"representations", m.representations}})
      r.push_back({name, where});
    if (session.json)
      print(to_json(r) + "\n");
    else
      rows.push_back(
          {m.name, yes(m.causal), yes(m.cross), m.relative.empty() ? "-" : m.relative, m.cost, options_text(m)});
  }
  if (!session.json) print(table({"mechanism", "decoder", "cross", "relative", "cost", "options"}, rows));
}

void tell_scores(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(mechanisms_reference());
  std::vector<std::vector<std::string>> rows;
  for (const ScoreOrNormalizer& s : scores()) {
    const std::string key = s.normalizer ? "normalizer" : "score";
    Record r = described(s);
    r.push_back({"key", key});
    if (session.json)
      print(to_json(r) + "\n");
    else
      rows.push_back({s.name, key, s.formula, s.sentence});
  }
  if (!session.json) print(table({"name", "option", "formula", "meaning"}, rows));
}

void tell_positions(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(mechanisms_reference());
  std::vector<std::vector<std::string>> rows;
  for (const Position& p : positions()) {
    Record r = described(p);
    r.push_back({"relative", p.relative});
    if (session.json)
      print(to_json(r) + "\n");
    else
      rows.push_back({p.name, p.relative.empty() ? "-" : p.relative, p.sentence, options_text(p)});
  }
  if (!session.json) print(table({"position", "relative", "meaning", "options"}, rows));
}

void tell_all(const char* what, const std::vector<Described>& all, const Session& session) {
  std::vector<std::vector<std::string>> rows;
  for (const Described& d : all) {
    if (session.json)
      print(to_json(described(d)) + "\n");
    else
      rows.push_back({d.name, d.sentence, options_text(d)});
  }
  if (!session.json) print(table({what, "meaning", "options"}, rows));
}

void tell_models(const InfoOptions&, const Session& session) { tell_all("model", models(), session); }
void tell_inputs(const InfoOptions&, const Session& session) { tell_all("input", inputs(), session); }
void tell_mixers(const InfoOptions&, const Session& session) { tell_all("mixer", mixers(), session); }
void tell_optimizers(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(recipe_reference());
  tell_all("optimizer", optimizers(), session);
}
void tell_heads(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(recipe_reference());
  tell_all("head", heads(), session);
}
void tell_pools(const InfoOptions& options, const Session& session) {
  if (options.markdown) return print(recipe_reference());
  tell_all("pool", pools(), session);
}

void run_info(const InfoOptions& options, const Session& session) {
  using Tell = void (*)(const InfoOptions&, const Session&);
  const std::vector<std::pair<std::string, Tell>> topics{
      {"models", tell_models},         {"inputs", tell_inputs}, {"mixers", tell_mixers},
      {"mechanisms", tell_mechanisms}, {"scores", tell_scores}, {"positions", tell_positions},
      {"optimizers", tell_optimizers}, {"heads", tell_heads},   {"pools", tell_pools},
      {"recipe", tell_recipe}};
  std::vector<std::string> known;
  for (const auto& [name, tell] : topics) {
    if (options.what == name) return tell(options, session);
    known.push_back(name);
  }
  if (std::error_code ignored; std::filesystem::exists(options.what, ignored)) return tell_model(options.what, session);
  const std::string near = closest_name(options.what, known);
  throw Error(
      ErrorKind::usage,
      fmt::format("nothing is known about '{}'. {}\n  fix: name a model folder, or one of: {}", options.what,
                  near.empty() ? "There is no such folder." : "Did you mean '" + near + "'?", fmt::join(known, ", ")));
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = add_command(app, session, "info", "describe a model, or what can be chosen",
                                  "  attune info mechanisms\n"
                                  "  attune info run/checkpoints/step-00008000\n"
                                  "  attune info recipe --json | jq -r .key");
  command->group("Making models");
  command
      ->add_option("what", options->what,
                   "a model folder; or what can be chosen: models, inputs, mixers, mechanisms, scores, positions, "
                   "optimizers, heads, pools, recipe (every key)")
      ->type_name("WHAT")
      ->required();
  command->add_flag("--markdown", options->markdown, "as a page of Markdown");
  set_work(command, session, [&session, options] { run_info(*options, session); });
}

}  // namespace attune::cli
