// attune look: what attended to what, in the terminal.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>

#include "attune/look.h"
#include "attune/show.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/terminal.h"

namespace attune::cli {

namespace {

struct LookArguments {
  std::string model, text;
  AttentionChoice choice;
  DrawOptions draw;
  int width = 0;  // 0: the terminal's
};

std::string as_json(const AttentionLook& look) {
  List rows;
  const size_t columns = look.columns.size();
  for (size_t i = 0; i < look.rows.size(); ++i) {
    List row;
    for (size_t j = 0; j < columns; ++j) row.push_back(rounded(static_cast<double>(look.weights[i * columns + j]), 6));
    rows.push_back(row);
  }
  return to_json(
      {{"source", look.columns}, {"target", look.rows}, {"layer", look.layer}, {"head", look.head}, {"weights", rows}});
}

const char* words_of(AttentionSite at) {
  return at == AttentionSite::encoder   ? "source at itself, encoder"
         : at == AttentionSite::decoder ? "text at itself, decoder"
                                        : "decoder";
}

void run_look(const LookArguments& a, const Session& session) {
  const AttentionLook look = look_at(a.model, a.text, a.choice, session.thread_count());
  if (session.json) return print(as_json(look) + "\n");
  DrawOptions draw = a.draw;
  draw.width = a.width > 0 ? a.width : terminal_columns(STDOUT_FILENO);
  draw.colour = has_colours(STDOUT_FILENO);
  if (!session.quiet)
    fmt::print(stderr, "{} layer {} of {}, {}\n", words_of(look.at), look.layer, look.layers,
               look.head < 0 ? fmt::format("the mean of {} heads", look.heads)
                             : fmt::format("head {} of {}", look.head, look.heads));
  print(draw_attention({look.rows, look.columns, look.weights}, draw));
}

}  // namespace

void add_look(CLI::App& app, Session& session) {
  auto a = std::make_shared<LookArguments>();
  CLI::App* command = add_command(app, session, "look", "draw what a model attended to",
                                  "  attune look model 'A dog runs in the park.'\n"
                                  "  attune look model 'A dog runs.' --target 'Ein Hund rennt.' --layer 2 --head 0\n"
                                  "  attune look model 'A dog runs.' --at encoder\n"
                                  "  attune look language-model 'To be, or not to be'");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option("TEXT", a->text, "what is translated, or read")->required();
  command->add_option("--target", a->choice.target, "the translation to explain (default: the model's own)")
      ->type_name("TEXT");
  const std::map<std::string, AttentionSite> sites{
      {"cross", AttentionSite::cross}, {"encoder", AttentionSite::encoder}, {"decoder", AttentionSite::decoder}};
  command
      ->add_option("--at", a->choice.at,
                   "cross: the translation looks at the text (default); encoder, decoder: each at itself")
      ->type_name("WHERE")
      ->transform(CLI::CheckedTransformer(sites).description(""));
  command->add_option("--layer", a->choice.layer, "from 0 (default: of cross the last but one, else the last)")
      ->type_name("L")
      ->check(CLI::Range(0, 1000));
  command->add_option("--head", a->choice.head, "from 0 (default: the mean of all)")
      ->type_name("H")
      ->check(CLI::Range(0, 1000));
  command->add_flag("--numbers", a->draw.numbers, "percentages in the cells");
  command->add_option("--width", a->width, "columns of the drawing (default: the terminal's)")
      ->type_name("N")
      ->check(CLI::Range(20, 10000));
  set_work(command, session, [&session, a] { run_look(*a, session); });
}

}  // namespace attune::cli
