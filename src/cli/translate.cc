// attune translate: a line in, a line out.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>

#include "attune/error.h"
#include "attune/lines.h"
#include "attune/text.h"
#include "attune/translator.h"
#include "cli/output.h"
#include "cli/search_options.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

constexpr size_t kChunkLines = 4096;  // translated together at most: what is to be had without waiting
constexpr size_t kChunkBytes = 4 << 20;

struct Arguments {
  std::string model, file = "-";
  TranslateOptions options;
  bool scores = false;
};

std::string pharaoh(const Translation& t) {
  std::string out;
  for (const auto& [source, target] : t.alignment)
    out += fmt::format("{}{}-{}", out.empty() ? "" : " ", source, target);
  return out;
}

Record record_of(const Translation& t) {
  List alignment;
  for (const auto& [source, target] : t.alignment) alignment.push_back(List{source, target});
  return {{"text", t.text}, {"score", t.score}, {"tokens", t.tokens}, {"alignment", alignment}};
}

std::string json_line(const Translation& t) {
  Record r = record_of(t);
  if (!t.others.empty()) {
    List all{record_of(t)};
    for (const Translation& o : t.others) all.push_back(record_of(o));
    r.emplace_back("n_best", all);
  }
  if (t.cropped) r.emplace_back("cropped", true);
  return to_json(r) + "\n";
}

/// `0 ||| text ||| score` for n-best lists; otherwise the text and what else was asked for.
std::string plain_lines(const Translation& t, const Arguments& a, int64_t line) {
  const auto fields = [&](const Translation& x) {
    std::string out = a.options.n_best > 1 ? fmt::format("{} ||| {}", line, x.text) : x.text;
    if (a.options.n_best > 1 || a.scores) out += fmt::format(" ||| {:.6f}", x.score);
    if (a.options.alignment) out += " ||| " + pharaoh(x);
    return out + "\n";
  };
  std::string out = fields(t);
  for (const Translation& o : t.others) out += fields(o);
  return out;
}

void run(const Arguments& a, const Session& session) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(a.model, ignored) && std::filesystem::is_directory(a.file, ignored))
    throw Error(ErrorKind::usage, fmt::format("{} is no model, but {} is a folder\n  fix: attune translate {} {}",
                                              a.model, a.file, a.file, a.model));
  const Translator translator(a.model, session.thread_count());
  TranslateOptions options = a.options;
  options.alignment |= session.json;
  translator.translate(std::vector<std::string>{}, options);  // options that do not go together are told at once
  TextLines reader({a.file});
  int64_t done = 0, cropped = 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.clear();
    size_t bytes = 0;
    do {
      bytes += line.size();
      lines.push_back(std::move(line));
    } while (lines.size() < kChunkLines && bytes < kChunkBytes && reader.ready() && reader.next(line));
    for (const Translation& t : translator.translate(lines, options)) {
      print(session.json ? json_line(t) : plain_lines(t, a, done));
      cropped += t.cropped;
      ++done;
    }
    finish_output();  // whoever waits for it gets it
  }
  if (session.quiet) return;
  if (cropped > 0)
    fmt::print(stderr, "note: {} line{} cropped to {} tokens, the most this model can read\n", thousands(cropped),
               cropped == 1 ? " was" : "s were", thousands(translator.longest()));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print(stderr, "{} line{} in {:.1f} s\n", thousands(done), done == 1 ? "" : "s", seconds);
}

}  // namespace

void add_translate(CLI::App& app, Session& session) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, session, "translate", "translate lines with a trained model",
                                  "  attune translate model test.en > test.de\n"
                                  "  echo 'A dog runs.' | attune translate model --beam 10 --n-best 3\n"
                                  "  attune translate model test.en --alignment --scores --json");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option("FILE", a->file, "a sentence a line, plain or .gz; - is stdin, and the default");
  add_search_options(command, a->options);
  command->add_option("--n-best", a->options.n_best, "translations a line: NUMBER ||| text ||| score (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--alignment", a->options.alignment, "add which word came from which: ... ||| 0-0 1-2");
  command->add_flag("--scores", a->scores, "add the length-normalised log-probability: ... ||| -0.5");
  set_work(command, session, [&session, a] { run(*a, session); });
}

}  // namespace attune::cli
