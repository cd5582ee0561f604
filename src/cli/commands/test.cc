// attune test: the task's own metrics on a test set.
#include "attune/test.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/text.h"
#include "cli/output.h"
#include "cli/search_options.h"
#include "cli/session.h"
#include "cli/tell.h"
#include "cli/test_report.h"

namespace attune::cli {

namespace {

struct TestArguments {
  std::string model, report;
  std::vector<std::string> sets;
  TranslateOptions options;
};

void run_test(const TestArguments& a, const Session& session) {
  const TestReport r = test_model(a.model, a.sets, a.options, session.thread_count());
  if (!a.report.empty()) write_test_page(r, a.report);
  if (!session.quiet) {
    for (const std::string& note : r.notes) tell("note: {}\n", note);
    if (r.tokens > 0)
      tell("{} tokens of {} lines scored in {:.1f} s\n", thousands(r.tokens), thousands(r.lines), r.seconds);
    else
      tell("{} line{} in {:.1f} s\n", thousands(r.lines), r.lines == 1 ? "" : "s", r.seconds);
    if (!a.report.empty()) tell("wrote {}\n", a.report);
  }
  if (!session.json) {
    for (size_t i = 0; i < r.scores.size(); ++i) {  // what is measured in one way is signed once
      const bool last = i + 1 == r.scores.size() || r.scores[i + 1].signature != r.scores[i].signature;
      print(r.scores[i].text + "\n" + (last ? r.scores[i].signature + "\n" : ""));
    }
    print(report_text(r));
    return;
  }
  Record record, signatures;
  for (const MetricResult& m : r.scores) {
    record.emplace_back(m.name, m.score);
    signatures.emplace_back(m.name, m.signature);
  }
  record.emplace_back("lines", r.lines);
  if (r.tokens > 0) record.emplace_back("tokens", r.tokens);
  record.emplace_back("seconds", rounded(r.seconds, 3));
  record.emplace_back("signatures", signatures);
  for (auto& field : report_record(r)) record.push_back(std::move(field));
  print(to_json(record) + "\n");
}

}  // namespace

void add_test(CLI::App& app, Session& session) {
  auto a = std::make_shared<TestArguments>();
  CLI::App* command = add_command(app, session, "test", "score a model on a test set",
                                  "  attune test model\n"
                                  "  attune test model --set 'data.test=[\"test.en\", \"test.de\"]' --beam 10 --json\n"
                                  "  attune test model --report report.html\n"
                                  "  attune test model --set train.metric_options.tokenize=none\n"
                                  "  attune test language-model --set 'data.test=[\"text.txt\"]'");
  command->group("Measuring");
  command->add_option("MODEL", a->model, "a model folder; its recipe names the test set")->required();
  command->add_option("--set", a->sets, "a key of the recipe to change, such as data.test; the value is TOML")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--report", a->report, "the same and more as a page of HTML that needs nothing else")
      ->type_name("FILE.html");
  add_search_options(command, a->options);
  set_work(command, session, [&session, a] { run_test(*a, session); });
}

}  // namespace attune::cli
