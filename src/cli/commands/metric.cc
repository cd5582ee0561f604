// attune metric: scores of files.
#include "attune/metric.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

struct MetricArguments {
  std::string name;
  std::vector<std::string> systems, references;
  std::map<std::string, std::string> given;  // of the metric's own options
  std::map<std::string, bool> flags;
  MetricTests tests;
  bool by_line = false;
};

MetricOptions options_of(const MetricArguments& a, const Session& session) {
  MetricOptions options;
  options.threads = session.thread_count();
  for (const auto& [name, value] : a.given)
    if (!value.empty()) options.others.emplace_back(name, value);
  for (const auto& [name, on] : a.flags)
    if (on) options.others.emplace_back(name, "true");
  return options;
}

Record record_of(const MetricResult& r) {
  Record record{{"name", r.name}, {"score", r.score}, {"signature", r.signature}};
  for (const auto& [key, value] : r.details) record.emplace_back(key, value);
  if (r.confidence) {
    record.emplace_back("confidence_mean", r.confidence->mean);
    record.emplace_back("confidence_var", r.confidence->half);
  }
  if (r.p_value) record.emplace_back("p_value", *r.p_value);
  List labels;
  for (const LabelScore& l : r.labels)
    labels.push_back(Record{{"label", l.label},
                            {"precision", l.precision},
                            {"recall", l.recall},
                            {"f1", l.f1},
                            {"count", l.count},
                            {"found", l.found},
                            {"right", l.right}});
  if (!labels.empty()) record.emplace_back("labels", labels);
  return record;
}

std::string label_table(const std::vector<LabelScore>& labels) {
  std::vector<std::vector<std::string>> rows;
  const auto two = [](double x) { return fmt::format("{:.2f}", x); };
  for (const LabelScore& l : labels)
    rows.push_back({l.label, two(l.precision), two(l.recall), two(l.f1), fmt::format("{}", l.count),
                    fmt::format("{}", l.found), fmt::format("{}", l.right)});
  return table({"label", "precision", "recall", "f1", "count", "found", "right"}, rows);
}

void print_systems(const std::vector<MetricResult>& results, const MetricArguments& a, const Session& session) {
  if (session.json) {
    for (size_t i = 0; i < results.size(); ++i) {
      Record record = record_of(results[i]);
      if (results.size() > 1) record.emplace_back("system", a.systems[i]);
      print(to_json(record) + "\n");
    }
    return;
  }
  if (results.size() == 1) {
    const MetricResult& r = results[0];
    print(r.text + "\n" + (r.labels.empty() ? "" : label_table(r.labels)) + r.signature + "\n");
    return;
  }
  std::vector<std::string> head{"system", a.name};
  if (results[0].confidence) head.push_back("mean ± 95 %");
  if (!a.tests.paired.empty()) head.push_back("p");
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    const MetricResult& r = results[i];
    rows.push_back({a.systems[i], fmt::format("{:.2f}", r.score)});
    if (r.confidence) rows[i].push_back(fmt::format("{:.2f} ± {:.2f}", r.confidence->mean, r.confidence->half));
    if (!a.tests.paired.empty()) rows[i].push_back(r.p_value ? fmt::format("{:.4f}", *r.p_value) : "baseline");
  }
  print(table(head, rows) + results[0].signature + "\n");
}

void run_metric(MetricArguments a, const Session& session) {
  const MetricOptions options = options_of(a, session);
  check_metric(a.name, options);
  if (a.systems.empty()) a.systems.push_back("-");
  const MetricTexts texts = read_metric_files(a.systems, a.references);
  if (!a.by_line) {
    print_systems(measure_systems(a.name, texts.systems, texts.references, options, a.tests), a, session);
    return;
  }
  for (const auto& system : texts.systems)
    for (const MetricResult& r : measure_lines(a.name, system, texts.references, options))
      print(session.json ? to_json(record_of(r)) + "\n" : fmt::format("{:.4f}\n", r.score));
}

/// The metrics' own options, each once, with the names of those that have it.
void add_metric_options(CLI::App* command, MetricArguments& a) {
  struct Option {
    MetricOptionDescription description;
    std::string metrics;
  };
  std::vector<Option> options;
  for (const MetricDescription& m : describe_metrics())
    for (const MetricOptionDescription& o : m.options) {
      const auto known = std::find_if(options.begin(), options.end(),
                                      [&](const Option& other) { return other.description.name == o.name; });
      if (known == options.end())
        options.push_back({o, m.name});
      else
        known->metrics += ", " + m.name;
    }
  for (const auto& [o, metrics] : options) {
    std::string flag = "--" + o.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (o.is_flag) {
      command->add_flag(flag, a.flags[o.name], metrics + ": " + o.sentence);
      continue;
    }
    command
        ->add_option(flag, a.given[o.name],
                     fmt::format("{}: {} ({}; default {})", metrics, o.sentence, o.choices, o.value))
        ->type_name(o.choices.find('|') != std::string::npos ? "HOW" : "N");
  }
}

}  // namespace

void add_metric(CLI::App& app, Session& session) {
  auto a = std::make_shared<MetricArguments>();
  std::string names, sentences;
  for (const MetricDescription& m : describe_metrics()) {
    names += (names.empty() ? "" : ", ") + m.name;
    sentences += (sentences.empty() ? "one of\n" : "\n") + m.name + ": " + m.sentence;
  }
  CLI::App* command = add_command(app, session, "metric", "score files against references: " + names,
                                  "  attune metric bleu --ref test.de translated.de\n"
                                  "  attune translate model test.en | attune metric chrf --ref test.de --json\n"
                                  "  attune metric bleu --ref test.de base.de new.de --paired bootstrap\n"
                                  "  attune metric span-f1 --ref test.tags found.tags\n"
                                  "  attune metric aer --ref test.align found.align");
  command->group("Measuring");
  command->add_option("NAME", a->name, sentences)->required();
  command->add_option("HYP", a->systems, "what to score, plain or .gz (default: - for stdin); several: a line each");
  command->add_option("--ref", a->references, "what it should be; once more for each further reference")
      ->type_name("FILE")
      ->required()
      ->allow_extra_args(false);  // what follows the file is the hypothesis
  add_metric_options(command, *a);
  command->add_flag("--sentence-level", a->by_line, "a score for every line");
  command->add_flag("--confidence", a->tests.confidence, "a 95 % interval, by drawing lines anew (bootstrap)");
  command
      ->add_option("--paired", a->tests.paired,
                   "is the first of several systems really different? bootstrap or randomization")
      ->type_name("TEST");
  command->add_option("--samples", a->tests.samples, "draws of these tests (default 1,000; randomization 10,000)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_option("--seed", a->tests.seed, "where the draws start (default 12345, sacreBLEU's)")->type_name("N");
  set_work(command, session, [&session, a] { run_metric(*a, session); });
}

}  // namespace attune::cli
