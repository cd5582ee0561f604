// attune translate: a line in, a line out.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <optional>

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
  std::string model, file = "-", align_to, prefix;
  TranslateOptions options;
  bool scores = false;
};

std::string pharaoh(const WordPairs& pairs) {
  std::string out;
  for (const auto& [source, target] : pairs) out += fmt::format("{}{}-{}", out.empty() ? "" : " ", source, target);
  return out;
}

List list_of(const WordPairs& pairs) {
  List list;
  for (const auto& [source, target] : pairs) list.push_back(List{source, target});
  return list;
}

Record record_of(const Translation& t) {
  List scores;
  for (const double x : t.token_scores) scores.push_back(x);
  return {{"text", t.text},
          {"score", t.score},
          {"tokens", t.tokens},
          {"token_scores", scores},
          {"alignment", list_of(t.alignment)}};
}

std::string json_line(const Translation& t) {
  Record r = record_of(t);
  if (!t.others.empty()) {
    List all{record_of(t)};
    for (const Translation& o : t.others) all.push_back(record_of(o));
    r.emplace_back("n_best", all);
  }
  if (t.cropped) r.emplace_back("cropped", true);
  if (t.cut_off) r.emplace_back("cut_off", true);
  return to_json(r) + "\n";
}

/// `0 ||| text ||| score` for n-best lists; otherwise the text and what else was asked for.
std::string plain_lines(const Translation& t, const Arguments& a, int64_t line) {
  const auto fields = [&](const Translation& x) {
    std::string out = a.options.n_best > 1 ? fmt::format("{} ||| {}", line, x.text) : x.text;
    if (a.options.n_best > 1 || a.scores) out += fmt::format(" ||| {:.6f}", x.score);
    if (a.options.alignment) out += " ||| " + pharaoh(x.alignment);
    return out + "\n";
  };
  std::string out = fields(t);
  for (const Translation& o : t.others) out += fields(o);
  return out;
}

[[noreturn]] void fail_twice() {
  throw Error(ErrorKind::usage,
              "the standard input (-) can be read only once\n  fix: put one of the texts into a file");
}

/// Alignments of translations that are there already.
void align(const Arguments& a, const Translator& translator, const Session& session) {
  if (a.file == "-" && a.align_to == "-") fail_twice();
  TextLines sources({a.file}), targets({a.align_to});
  std::vector<std::string> lines, translations;
  for (bool more = true; more;) {
    lines.clear();
    translations.clear();
    for (std::string source, target; lines.size() < kChunkLines;) {
      const bool has_source = sources.next(source), has_target = targets.next(target);
      more = has_source && has_target;
      if (has_source != has_target)
        throw Error(ErrorKind::data, fmt::format("{} ends before {}\n  fix: a line must stand for a line",
                                                 has_source ? a.align_to : a.file, has_source ? a.file : a.align_to));
      if (!more) break;
      lines.push_back(source);
      translations.push_back(target);
    }
    const std::vector<WordPairs> all = translator.align(lines, translations);
    for (size_t i = 0; i < all.size(); ++i)
      print(session.json ? to_json({{"text", translations[i]}, {"alignment", list_of(all[i])}}) + "\n"
                         : pharaoh(all[i]) + "\n");
  }
}

void run(const Arguments& a, const Session& session) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(a.model, ignored) && std::filesystem::is_directory(a.file, ignored))
    throw Error(ErrorKind::usage, fmt::format("{} is no model, but {} is a folder\n  fix: attune translate {} {}",
                                              a.model, a.file, a.file, a.model));
  const Translator translator(a.model, session.thread_count());
  if (!a.align_to.empty()) return align(a, translator, session);
  TranslateOptions options = a.options;
  options.alignment |= session.json;
  translator.translate(std::vector<std::string>{}, options);  // options that do not go together are told at once
  if (a.file == "-" && a.prefix == "-") fail_twice();
  TextLines reader({a.file});
  std::optional<TextLines> prefixes;
  if (!a.prefix.empty()) prefixes.emplace(std::vector<std::string>{a.prefix});
  int64_t done = 0, cropped = 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.clear();
    options.prefixes.clear();
    options.first_line = static_cast<uint64_t>(done);
    size_t bytes = 0;
    do {
      bytes += line.size();
      lines.push_back(std::move(line));
      if (!prefixes) continue;
      if (std::string prefix; prefixes->next(prefix))
        options.prefixes.push_back(std::move(prefix));
      else
        throw Error(ErrorKind::data, fmt::format("{} ends before {}\n  fix: a line for each, empty where a translation "
                                                 "may begin as it likes",
                                                 a.prefix, a.file));
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
  CLI::App* command =
      add_command(app, session, "translate", "translate lines with a trained model",
                  "  attune translate model test.en > test.de\n"
                  "  echo 'A dog runs.' | attune translate model --beam 10 --n-best 3\n"
                  "  attune translate model test.en --alignment --scores --json\n"
                  "  attune translate model,other test.en --sample --top-p 0.9 --n-best 3\n"
                  "  attune translate model test.en --align-to test.de | attune metric aer --ref test.align");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder; several, separated by commas, are an ensemble")->required();
  command->add_option("FILE", a->file, "a sentence a line, plain or .gz; - is stdin, and the default");
  add_search_options(command, a->options);
  command->add_option("--n-best", a->options.n_best, "translations a line: NUMBER ||| text ||| score (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--prefix", a->prefix, "how the translations begin, a line for each")->type_name("FILE");
  command->add_flag("--alignment", a->options.alignment, "add which word came from which: ... ||| 0-0 1-2");
  CLI::Option* align_to =
      command
          ->add_option("--align-to", a->align_to,
                       "translate nothing: which words of these translations came from which, a line for each")
          ->type_name("FILE");
  for (const char* other : {"--n-best", "--beam", "--length-penalty", "--alignment", "--prefix", "--sample"})
    align_to->excludes(command->get_option(other));
  command->add_flag("--scores", a->scores, "add the length-normalised log-probability: ... ||| -0.5");
  set_work(command, session, [&session, a] { run(*a, session); });
}

}  // namespace attune::cli
