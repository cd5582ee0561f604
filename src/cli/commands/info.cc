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
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct InfoOptions {
  std::string what, which;
  bool markdown = false, picture = false, causal = false;
  std::string png;
  int64_t length = 64;
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

const char* yes(bool x) { return x ? "yes" : "-"; }

/// The names of the options, as a recipe would set them: "width = 64, dilation = 1".
std::string options_text(const Described& d) {
  std::string text;
  for (const RecipeKey& k : d.options) text += (text.empty() ? "" : ", ") + k.key + " = " + k.standard;
  return text;
}

Record described(const Mechanism& m) {
  Record r = described(static_cast<const Described&>(m));
  for (auto& [name, can] : {std::pair{"causal", m.causal}, {"cross", m.cross}, {"step", m.step}})
    r.push_back({name, can});
  for (auto& [name, where] : {std::pair{"relative", m.relative},
                              {"sequences", m.sequences},
                              {"levels", m.levels},
                              {"positions", m.positions},
                              {"representations", m.representations}})
    r.push_back({name, where});
  return r;
}

/// Which query sees which key: the keys of each.
Record keys_of(const PatternPicture& p) {
  List rows;
  for (int64_t i = 0; i < p.length; ++i) {
    List keys;
    for (int64_t j = 0; j < p.length; ++j)
      if (p.sees[static_cast<size_t>(i * p.length + j)]) keys.push_back(j);
    rows.push_back(keys);
  }
  return {{"drawn", p.mechanism}, {"length", p.length}, {"density", rounded(p.density, 6)}, {"keys", rows}};
}

/// One of them: what is known of it, and who sees whom in it.
void tell_mechanism(const InfoOptions& options, const Session& session) {
  const std::string name = options.which.substr(0, options.which.find('('));
  const bool draws = options.picture || !options.png.empty();
  PatternPicture p;
  if (draws) p = picture_pattern(options.which, options.causal, options.length);
  if (!options.png.empty()) write_pattern(p, options.png);
  std::vector<std::string> known;
  for (const Mechanism& m : mechanisms()) {
    known.push_back(m.name);
    if (m.name != name) continue;
    Record r = described(m);
    if (session.json) {
      if (draws) r.push_back({"picture", keys_of(p)});
      return print(to_json(r) + "\n");
    }
    if (options.picture) print(draw_pattern(p));
    if (draws && !session.quiet)
      tell("{}, {} positions{}: {:.1f} % of the pairs{}; down who looks, across what is seen\n", p.mechanism, p.length,
           p.causal ? " of a decoder" : "", 100 * p.density, p.causal ? " that may be" : "");
    if (draws) return;
    std::string text =
        fmt::format("{}: {}\n\n    {}\n\n{}{}cost: {}\nfrom: {}\nin a decoder: {}\n", m.name, m.sentence, m.formula,
                    m.details, m.details.empty() ? "" : "\n\n", m.cost, m.cite, yes(m.causal));
    for (const RecipeKey& k : m.options)
      text += fmt::format("{} = {}: {} ({})\n", k.key, k.standard, k.sentence, k.range.empty() ? k.type : k.range);
    return print(text);
  }
  const std::string near = closest_name(name, known);
  throw Error(ErrorKind::usage,
              fmt::format("there is no mechanism '{}'{}\n  fix: one of: {}", name,
                          near.empty() ? "" : ". Did you mean '" + near + "'?", fmt::join(known, ", ")));
}

void tell_mechanisms(const InfoOptions& options, const Session& session) {
  if (!options.which.empty()) return tell_mechanism(options, session);
  if (options.picture || !options.png.empty())
    throw Error(ErrorKind::usage, "a picture of which mechanism?\n  fix: attune info mechanisms bigbird --picture");
  if (options.markdown) return print(mechanisms_reference());
  std::vector<std::vector<std::string>> rows;
  for (const Mechanism& m : mechanisms()) {
    if (session.json)
      print(to_json(described(m)) + "\n");
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
  if (!options.which.empty() && options.what != "mechanisms")
    throw Error(
        ErrorKind::usage,
        fmt::format("info {} takes no more words: '{}'\n  fix: attune info mechanisms bigbird, or attune info {}",
                    options.what, options.which, options.what));
  for (const auto& [name, tell] : topics) {
    if (options.what == name) return tell(options, session);
    known.push_back(name);
  }
  if (std::error_code ignored; std::filesystem::exists(options.what, ignored)) return tell_model(options.what, session);
  const std::string kind = options.what.substr(0, options.what.find('('));
  for (const Mechanism& m : mechanisms())
    if (m.name == kind)
      throw Error(ErrorKind::usage, fmt::format("'{}' is a mechanism\n  fix: attune info mechanisms '{}'{}",
                                                options.what, options.what, options.picture ? " --picture" : ""));
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
                                  "  attune info mechanisms bigbird --picture\n"
                                  "  attune info run/checkpoints/step-00008000\n"
                                  "  attune info recipe --json | jq -r .key");
  command->group("Making models");
  command
      ->add_option("what", options->what,
                   "a model folder; or what can be chosen: models, inputs, mixers, mechanisms, scores, positions, "
                   "optimizers, heads, pools, recipe (every key)")
      ->type_name("WHAT")
      ->required();
  command->add_option("which", options->which, "one of the mechanisms, perhaps with options: 'band(width=9)'")
      ->type_name("NAME");
  command->add_flag("--picture", options->picture, "of one mechanism: which query sees which key, and how many pairs");
  command->add_option("--png", options->png, "the same as a picture")->type_name("FILE");
  command->add_option("--length", options->length, "positions of it")->capture_default_str()->type_name("N");
  command->add_flag("--causal", options->causal, "as in a decoder");
  command->add_flag("--markdown", options->markdown, "as a page of Markdown");
  set_work(command, session, [&session, options] { run_info(*options, session); });
}

}  // namespace attune::cli
