// attune quantize: a smaller copy of a model, and what that costs.
#include "attune/quantize.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/text.h"
#include "cli/output.h"
#include "cli/search_options.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct QuantizeArguments {
  std::string model, out;
  QuantizeOptions options;
};

std::string as_json(const QuantizeArguments& a, const QuantizeReport& r) {
  Record record{{"out", a.out}, {"type", r.type}, {"bytes_before", r.bytes_before}, {"bytes_after", r.bytes_after}};
  if (r.measured) {
    const Record more{{"metric", r.metric},
                      {"score_before", r.score_before},
                      {"score_after", r.score_after},
                      {"loss", r.loss},
                      {"perplexity_before", r.perplexity_before},
                      {"perplexity_after", r.perplexity_after},
                      {"tokens_per_s_before", rounded(r.tokens_per_s_before, 1)},
                      {"tokens_per_s_after", rounded(r.tokens_per_s_after, 1)},
                      {"lines", r.lines},
                      {"tokens", r.tokens}};
    record.insert(record.end(), more.begin(), more.end());
    if (r.answers > 0)
      record.insert(record.end(),
                    {{"answers", r.answers}, {"changed_answers", r.changed_answers}, {"same_answers", r.same_best}});
    else if (r.compared)
      record.insert(record.end(), {{"kl", r.divergence}, {"top1", r.same_best}});
  }
  if (r.shortlist) {
    Record list{{"bytes", r.shortlist->bytes}};
    if (r.measured) {
      list.emplace_back("words", rounded(r.shortlist->words, 1));
      list.emplace_back("recall", r.shortlist->recall);
      list.emplace_back("score_without", r.shortlist->score_without);
      list.emplace_back("tokens_per_s_without", rounded(r.shortlist->tokens_per_s_without, 1));
    }
    record.emplace_back("shortlist", list);
  }
  record.emplace_back("notes", r.notes);
  return to_json(record) + "\n";
}

std::string as_text(const QuantizeReport& r) {
  const bool listed = r.shortlist.has_value() && r.measured;
  const auto ratio = [](double after, double before, int digits) {
    return fmt::format("x {:.{}f}", after / before, digits);
  };
  const auto size = static_cast<double>(r.bytes_after) / static_cast<double>(r.bytes_before);
  // Before, after, with the shortlist, and what that changes.
  std::vector<std::vector<std::string>> rows{{"file", human_bytes(r.bytes_before), human_bytes(r.bytes_after),
                                              listed ? "+ " + human_bytes(r.shortlist->bytes) : "", ratio(size, 1, 3)}};
  const auto add = [&](const std::string& name, double before, double without, double after) {
    const auto cell = [](double x) { return fmt::format("{:.4g}", x); };
    rows.push_back({name, cell(before), cell(without), cell(after), fmt::format("{:+.2g}", after - before)});
  };
  if (r.measured) {
    const double speed = r.tokens_per_s_after;
    add(r.metric, r.score_before, listed ? r.shortlist->score_without : r.score_after, r.score_after);
    if (r.metric != "perplexity") add("perplexity", r.perplexity_before, r.perplexity_after, r.perplexity_after);
    rows.push_back({"tokens/s", fmt::format("{:.0f}", r.tokens_per_s_before),
                    fmt::format("{:.0f}", listed ? r.shortlist->tokens_per_s_without : speed),
                    fmt::format("{:.0f}", speed), ratio(speed, r.tokens_per_s_before, 2)});
  }
  std::vector<std::string> titles{"", "before", r.type, "+ shortlist", "change"};
  if (!listed) {
    constexpr int kShortlistColumn = 3;
    titles.erase(titles.begin() + kShortlistColumn);
    for (auto& row : rows) row.erase(row.begin() + kShortlistColumn);
  }
  std::string text = table(titles, rows);
  if (r.answers > 0)
    text += fmt::format("of {} answers {} changed: {:.2f} % stayed the same\n", thousands(r.answers),
                        thousands(r.changed_answers), 100 * r.same_best);
  else if (r.compared)
    text +=
        fmt::format("made to say {} tokens of {} lines: KL divergence {:.3g} nats, the same best token at {:.2f} %\n",
                    thousands(r.tokens), thousands(r.lines), r.divergence, 100 * r.same_best);
  if (listed)
    text += fmt::format("shortlist: {:.0f} words a line, which has {:.2f} % of the tokens that were to be said\n",
                        r.shortlist->words, 100 * r.shortlist->recall);
  return text;
}

void run_quantize(const QuantizeArguments& a, const Session& session) {
  const QuantizeReport r = quantize(a.model, a.out, a.options, session.thread_count());
  print(session.json ? as_json(a, r) : as_text(r));
  if (session.quiet) return;
  for (const std::string& note : r.notes) tell("note: {}\n", note);
  tell("wrote {}\n", a.out);
}

}  // namespace

void add_quantize(CLI::App& app, Session& session) {
  auto a = std::make_shared<QuantizeArguments>();
  CLI::App* command = add_command(app, session, "quantize", "make a model smaller and faster: int8, or f16",
                                  "  attune quantize model --out model-int8\n"
                                  "  attune quantize model --out model-int8 --dev val.en val.de --max-loss 0.3\n"
                                  "  attune quantize model --out model-int8 --shortlist\n"
                                  "  attune quantize model --out model-f16 --type f16 --json");
  command->group("Making models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option("--out", a->out, "where to put the smaller model")->type_name("DIR")->required();
  command
      ->add_option("--type", a->options.type,
                   "int8: a quarter of the size, and faster; f16: half, for storage; f32: as it is, with a shortlist")
      ->check(CLI::IsMember({"int8", "f16", "f32"}))
      ->capture_default_str();
  command
      ->add_option("--dev", a->options.dev, "what to measure on: source and target (default: the recipe's data.valid)")
      ->type_name("FILE")
      ->expected(1, 2);
  command
      ->add_option("--max-loss", a->options.max_loss, "points of the metric that may be lost; more: nothing is written")
      ->type_name("X");
  CLI::Option* shortlist = command->add_flag(
      "--shortlist", a->options.shortlist,
      "add a shortlist, learned from the training data: for each line a few hundred words, so that it is faster");
  command
      ->add_option("--shortlist-data", a->options.shortlist_data,
                   "what to learn it from: source and target (default: the recipe's data.train)")
      ->type_name("FILE")
      ->expected(1, 2)
      ->needs(shortlist);
  command
      ->add_option("--shortlist-translations", a->options.shortlist_translations,
                   "of each word of a line, at most (default: 50)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20))
      ->needs(shortlist);
  command
      ->add_option("--shortlist-frequent", a->options.shortlist_frequent,
                   "words that may be said of any line (default: 100)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 24))
      ->needs(shortlist);
  command->add_flag("--force", a->options.replace, "replace a model that is there already");
  add_search_options(command, a->options.search);
  set_work(command, session, [&session, a] { run_quantize(*a, session); });
}

}  // namespace attune::cli
