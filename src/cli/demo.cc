// attune demo: the engine at work, in seconds.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "attune/demo.h"
#include "attune/show.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

/// The loss as a bar: full at the loss of guessing, empty at none.
std::string bar(double loss, double guessing) {
  constexpr int kWide = 40;
  const int full = static_cast<int>(std::lround(kWide * std::clamp(loss / guessing, 0.0, 1.0)));
  std::string s;
  for (int i = 0; i < kWide; ++i) s += i < full ? "█" : "·";
  return s;
}

/// A letter a label: what was written beside what was looked at.
AttentionPicture picture(const DemoResult& r) {
  AttentionPicture p;
  for (char c : r.examples.front().answer) p.rows.emplace_back(1, c);
  for (char c : r.examples.front().input) p.columns.emplace_back(1, c);
  p.weights = r.attention;
  return p;
}

void show(const DemoProgress& p, bool terminal) {
  const double guessing = std::log(26.0);
  const std::string line = fmt::format("  step {:>4}/{}  loss {:6.4f}  {}  {:>7.0f} tokens/s", p.step, p.steps, p.loss,
                                       bar(p.loss, guessing), p.tokens_per_s);
  if (terminal)
    fmt::print(stderr, "\r{}{}", line, p.step == p.steps ? "\n" : "");
  else if (p.step == 1 || p.step % 50 == 0)
    fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

void run(const DemoOptions& options, const Session& session) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!session.quiet)
    fmt::print(stderr,
               "A network with attention learns, from nothing, to read rows of letters backwards ({} threads).\n\n",
               options.threads);
  const DemoResult r = run_demo(options, [&](const DemoProgress& p) {
    if (!session.quiet) show(p, terminal);
  });
  if (session.json) {
    print(to_json({{"parameters", r.parameters},
                   {"memory_mb", rounded(r.memory_mb, 1)},
                   {"first_loss", r.first_loss},
                   {"last_loss", r.last_loss},
                   {"accuracy", r.accuracy},
                   {"seconds", rounded(r.seconds, 2)}}) +
          "\n");
    return;
  }
  std::string out = fmt::format(
      "\n{} parameters, {:.1f} MB of activations planned before the first step, {:.1f} s of training.\n"
      "Loss {:.3f} -> {:.4f}. Rows of letters it never saw, reversed without a fault: {:.1f} %\n\n",
      r.parameters, r.memory_mb, r.seconds, r.first_loss, r.last_loss, 100 * r.accuracy);
  for (const auto& e : r.examples)
    out += fmt::format("  {:<18} {} {:<18} {}\n", e.input, "->", e.answer, e.answer == e.expected ? "right" : "wrong");
  out += fmt::format("\nWhat layer {}, head {} attends to while it writes each letter of the first row:\n\n",
                     r.layer + 1, r.head + 1);
  print(out + draw_attention(picture(r), {.colour = isatty(STDOUT_FILENO) != 0}));
}

}  // namespace

void add_demo(CLI::App& app, Session& session) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = add_command(app, session, "demo", "train a small attention network, watch it learn",
                                  "  attune demo\n"
                                  "  attune demo --steps 100 --seed 7 --json");
  command->group("See it work");
  command->add_option("--steps", options->steps, "updates (default: 400)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", options->seed, "of the data and the first weights (default: 1)")->type_name("N");
  set_work(command, session, [&session, options] {
    options->threads = session.thread_count();
    run(*options, session);
  });
}

}  // namespace attune::cli
