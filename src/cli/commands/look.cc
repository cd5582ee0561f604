// attune look: what attended to what, in the terminal, as pictures, as a page.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "attune/error.h"
#include "attune/look.h"
#include "attune/show.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"
#include "cli/terminal.h"

namespace attune::cli {

namespace {

struct LookArguments {
  std::string model, text, at = "cross";
  AttentionChoice choice;
  DrawOptions draw;
  LookFiles files;
  int width = 0;  // 0: the terminal's
};

AttentionSite site_of(const std::string& at) {
  if (at == "cross") return AttentionSite::cross;
  if (at == "encoder") return AttentionSite::encoder;
  if (at == "decoder") return AttentionSite::decoder;
  throw Error(ErrorKind::usage, "--at " + at + " is not known\n  fix: --at cross, encoder or decoder");
}

const char* words_of(AttentionSite at) {
  return at == AttentionSite::encoder   ? "source at itself, encoder"
         : at == AttentionSite::decoder ? "text at itself, decoder"
                                        : "decoder";
}

/// What the drawings in files leave out, and names that a PNG has no letters for.
void note_drawings(const AttentionLook& look, const LookFiles& files) {
  const size_t most = std::max(look.rows.size(), look.columns.size());
  if (most > kMostDrawn) tell("note: the first {} of {} pieces are drawn; --json has all\n", kMostDrawn, most);
  if (files.png.empty()) return;
  const std::vector<std::string> numbered = numbered_in_png(look);
  for (size_t side = 0; side < 2; ++side)
    if (!numbered[side].empty())
      tell("note: {} in {} by their numbers: {}\n", side == 0 ? "rows" : "columns", files.png, numbered[side]);
}

void run_look(const LookArguments& a, const Session& session) {
  const bool draws = !a.files.png.empty() || !a.files.svg.empty() || !a.files.html.empty();
  AttentionChoice choice = a.choice;
  choice.at = site_of(a.at);
  choice.each = draws || session.json;
  const AttentionLook look = look_at(a.model, a.text, choice, session.thread_count());
  if (look.cropped && !session.quiet)
    tell("note: the text was cropped to what this model can read: its end is not looked at\n");
  LookFiles files = a.files;
  files.large = a.choice.layer >= 0 || a.choice.head >= 0;
  write_look(look, files);
  if (!session.quiet) note_drawings(look, files);
  if (session.json) return print(look_json(look) + "\n");
  if (draws) return;
  DrawOptions draw = a.draw;
  draw.width = a.width > 0 ? a.width : terminal_columns(STDOUT_FILENO);
  draw.colour = has_colours(STDOUT_FILENO);
  if (!session.quiet)
    tell("{} layer {} of {}, {}\n", words_of(look.at), look.layer, look.layers,
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
                                  "  attune look model 'A dog runs.' --html look.html --png look.png\n"
                                  "  attune look language-model 'To be, or not to be'");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option("TEXT", a->text, "what is translated, or read")->required();
  command->add_option("--target", a->choice.target, "the translation to explain (default: the model's own)")
      ->type_name("TEXT");
  command
      ->add_option("--at", a->at,
                   "cross: the translation looks at the text (default); encoder, decoder: each at itself")
      ->type_name("WHERE");
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
  command->add_option("--png", a->files.png, "a picture of all heads; with --layer or --head: of one, large")
      ->type_name("F");
  command->add_option("--svg", a->files.svg, "the same to any size, with the letters of every script")->type_name("F");
  command->add_option("--html", a->files.html, "a page: all heads, one of them large, which word belongs to which")
      ->type_name("F");
  set_work(command, session, [&session, a] { run_look(*a, session); });
}

}  // namespace attune::cli
