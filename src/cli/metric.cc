// attune metric: scores of files.
#include <CLI/CLI.hpp>

#include "attune/metric.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

struct Arguments {
  std::string name, hypotheses = "-";
  std::vector<std::string> references;
  MetricOptions options;
};

void run(const Arguments& a, const Session& session) {
  const MetricResult r = measure_files(a.name, a.hypotheses, a.references, a.options);
  if (!session.json) {
    print(r.text + "\n" + r.signature + "\n");
    return;
  }
  Record record{{"name", r.name}, {"score", r.score}, {"signature", r.signature}};
  for (const auto& [key, value] : r.details) record.emplace_back(key, value);
  print(to_json(record) + "\n");
}

}  // namespace

void add_metric(CLI::App& app, Session& session) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, session, "metric", "score a file against references: bleu, exact, aer",
                                  "  attune metric bleu --ref test.de translated.de\n"
                                  "  attune translate model test.en | attune metric bleu --ref test.de --json\n"
                                  "  attune metric exact --ref test.out answers.txt\n"
                                  "  attune metric aer --ref test.align found.align");
  command->group("Measuring");
  command
      ->add_option("NAME", a->name,
                   "bleu: corpus BLEU as sacreBLEU computes it; exact: share of lines that match; aer: alignment error "
                   "rate of lines like 0-0 1-2")
      ->required();
  command->add_option("HYP", a->hypotheses, "what to score, plain or .gz (default: - for stdin)");
  command->add_option("--ref", a->references, "what it should be; once more for each further reference")
      ->type_name("FILE")
      ->required()
      ->allow_extra_args(false);  // what follows the file is the hypothesis
  command->add_option("--tokenize", a->options.tokenize, "bleu: 13a (default) or none")->type_name("HOW");
  command->add_option("--smooth", a->options.smooth, "bleu: exp (default), floor or none")->type_name("HOW");
  command->add_flag("--lowercase", a->options.lowercase, "compare in lower case");
  set_work(command, session, [&session, a] { run(*a, session); });
}

}  // namespace attune::cli
