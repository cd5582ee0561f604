// attune score: how probable a model finds what is there already.
#include "attune/scorer.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "attune/error.h"
#include "attune/text.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct ScoreArguments {
  std::string model, source = "-", target;
  ScoreOptions options;
  std::string format = "auto";
  bool total = false;
};

/// Lines, or pairs of them: of two files, or of one with a tab between the two.
class Reader {
 public:
  Reader(const ScoreArguments& a, bool pairs, const Session& session)
      : a_(a), pairs_(pairs), first_(open_input({a.model, a.source, a.format, pairs && a.target.empty()}, session)) {
    if (!pairs && !a.target.empty())
      throw Error(ErrorKind::usage,
                  fmt::format("{} is a language model: it scores lines, not translations\n  fix: leave out {}", a.model,
                              a.target));
    if (a.source == "-" && a.target == "-")
      throw Error(ErrorKind::usage,
                  "the standard input (-) can be read only once\n  fix: put one of the texts into a file");
    if (!a.target.empty()) second_.emplace(open_input({a.model, a.target, "lines"}, session));
  }

  bool ready() const { return first_.ready() && (!second_ || second_->ready()); }
  bool next(std::string& source, std::string& target) {
    if (!pairs_) return first_.next(target);
    if (!second_) return next_of_one(source, target);
    const bool has_source = first_.next(source), has_target = second_->next(target);
    if (has_source != has_target)
      throw Error(ErrorKind::data, fmt::format("{} ends before {}, after {} lines\n  fix: a line must stand for a line",
                                               has_source ? a_.target : a_.source, has_source ? a_.source : a_.target,
                                               thousands(has_source ? second_->count() : first_.count())));
    return has_source;
  }
  void tell(const Session& session) const {
    tell_notes(first_, session);
    if (second_) tell_notes(*second_, session);
  }

 private:
  bool next_of_one(std::string& source, std::string& target) {
    if (!first_.next(source)) return false;
    const size_t tab = source.find('\t');
    if (tab == std::string::npos && !source.empty())
      throw Error(ErrorKind::data,
                  fmt::format("{} has no tab\n  fix: a line and its translation with a tab between them, or a file for "
                              "each: attune score {} SOURCE TARGET",
                              first_.place(), a_.model));
    target = tab == std::string::npos ? "" : source.substr(tab + 1);
    source.resize(std::min(tab, source.size()));
    return true;
  }

  const ScoreArguments& a_;
  bool pairs_;
  InputTexts first_;
  std::optional<InputTexts> second_;
};

std::string json_line(const LineScore& s) {
  List scores;
  for (const double x : s.token_scores) scores.push_back(x);
  Record r{{"log_prob", s.log_prob}, {"score", s.score}, {"tokens", s.tokens}, {"token_scores", scores}};
  if (s.cropped) r.emplace_back("cropped", true);
  if (s.beyond) r.emplace_back("beyond", true);
  return to_json(r) + "\n";
}

void print_totals(const ScoreTotals& t, const Session& session) {
  if (session.json)
    print(to_json({{"lines", t.lines},
                   {"tokens", t.tokens},
                   {"characters", t.characters},
                   {"log_prob", -t.nats},
                   {"perplexity", t.perplexity()},
                   {"bits_per_token", t.bits_per_token()},
                   {"bits_per_character", t.bits_per_character()}}) +
          "\n");
  else
    print(fmt::format("log p = {:.9g}\nperplexity = {:.9g}\nbits_per_token = {:.9g}\nbits_per_character = {:.9g}\n",
                      -t.nats, t.perplexity(), t.bits_per_token(), t.bits_per_character()));
}

void run_score(const ScoreArguments& a, const Session& session) {
  const Scorer scorer(a.model, session.thread_count());
  const bool pairs = scorer.wants_sources();
  Reader reader(a, pairs, session);
  ScoreTotals totals;
  int64_t cropped = 0, beyond = 0;
  std::vector<std::string> sources, targets;
  for (std::string source, target; reader.next(source, target);) {
    sources.clear();
    targets.clear();
    size_t bytes = 0;
    do {
      bytes += source.size() + target.size();
      if (pairs) sources.push_back(std::move(source));
      targets.push_back(std::move(target));
    } while (targets.size() < kChunkLines && bytes < kChunkBytes && reader.ready() && reader.next(source, target));
    for (const LineScore& s :
         pairs ? scorer.score(sources, targets, a.options) : scorer.score_lines(targets, a.options)) {
      if (!a.total) print(session.json ? json_line(s) : fmt::format("{:.9g}\n", s.score));
      totals.add(s);
      cropped += s.cropped;
      beyond += s.beyond && !s.cropped;
    }
    finish_output();  // whoever waits for it gets it
  }
  if (a.total) print_totals(totals, session);
  if (session.quiet) return;
  note_cropped(cropped, scorer.longest());
  note_beyond(beyond, scorer.learned());
  tell("{} line{}, {} tokens: perplexity {:.4f}, {:.4f} bits a token, {:.4f} bits a character\n",
       thousands(totals.lines), totals.lines == 1 ? "" : "s", thousands(totals.tokens), totals.perplexity(),
       totals.bits_per_token(), totals.bits_per_character());
  reader.tell(session);
}

}  // namespace

void add_score(CLI::App& app, Session& session) {
  auto a = std::make_shared<ScoreArguments>();
  CLI::App* command =
      add_command(app, session, "score", "tell how probable a model finds lines or translations",
                  "  attune score model test.en test.de > log-probabilities\n"
                  "  paste test.en test.de | attune score model --json\n"
                  "  attune score language-model text.txt --total\n"
                  "  attune score model test.en test.de --length-penalty 0.6      # as translate --scores");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder; several, separated by commas, are an ensemble")->required();
  command->add_option("SOURCE", a->source,
                      "lines, plain or .gz; without TARGET each has its translation behind a tab; of a language model "
                      "the lines to score; - is stdin, and the default; or rows as the recipe reads them, or the text "
                      "itself");
  add_input_format(command, a->format);
  command->add_option("TARGET", a->target, "the translations, a line for each");
  command
      ->add_option("--length-penalty", a->options.length_penalty,
                   "score = log p / ((5 + length) / 6)^this (default: 0, log p itself)")
      ->type_name("A")
      ->check(CLI::Range(-10.0, 10.0));
  command
      ->add_option("--batch-tokens", a->options.batch_tokens, "tokens that are read at the same time (default: 4096)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24));
  command->add_flag("--total", a->total, "nothing for each line, but the figures of all of them");
  set_work(command, session, [&session, a] { run_score(*a, session); });
}

}  // namespace attune::cli
