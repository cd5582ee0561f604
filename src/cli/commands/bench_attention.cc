// attune bench attention: forward and backward, over lengths.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/bench.h"
#include "attune/machine.h"
#include "attune/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

template <class Figure>
std::string name_of(const Figure& f) {
  return f.band ? fmt::format("{} {}", f.mechanism, f.band) : f.mechanism;
}

double ms_of(const AttentionFigure& f) { return f.forward_ms + f.backward_ms; }

/// How many times as fast as softmax over everything, if that was measured at the same length; else 0.
double times_softmax(const AttentionFigure& f, const std::vector<AttentionFigure>& all) {
  for (const AttentionFigure& other : all)
    if (other.mechanism == "softmax" && other.length == f.length) return ms_of(other) / ms_of(f);
  return 0;
}

Record to_record(const AttentionFigure& f, const AttentionBench& bench, double speedup) {
  Record r{{"length", f.length},
           {"rows", f.rows},
           {"mechanism", f.mechanism},
           {"pair_share", rounded(f.pair_share, 6)},
           {"forward_ms", rounded(f.forward_ms, 4)},
           {"backward_ms", rounded(f.backward_ms, 4)},
           {"forward_gflops", rounded(f.forward_gflops, 2)},
           {"forward_share_of_peak", rounded(f.forward_share_of_peak, 4)},
           {"backward_gflops", rounded(f.backward_gflops, 2)},
           {"backward_share_of_peak", rounded(f.backward_share_of_peak, 4)},
           {"peak_mb", rounded(f.peak_mb, 3)},
           {"heads", bench.heads},
           {"dim", bench.dim},
           {"causal", bench.causal},
           {"band", f.band},
           {"dropout", bench.dropout},
           {"busy", rounded(f.load.share(), 3)},
           {"threads", bench.threads},
           {"isa", chosen_isa()}};
  if (speedup > 0) r.push_back({"times_softmax", rounded(speedup, 2)});
  return r;
}

/// How time grows with the length, and from which length on each is faster than softmax.
void print_growth(const std::vector<AttentionFigure>& figures, bool json) {
  std::vector<std::vector<std::string>> rows;
  for (const AttentionGrowth& g : attention_growth(figures)) {
    if (json) {
      Record r{{"mechanism", g.mechanism}, {"band", g.band}};
      if (g.exponent != 0) {
        r.push_back({"grows_as_length_to_the", rounded(g.exponent, 3)});
        r.push_back({"between", List{g.from, g.to}});
      }
      if (g.faster_from > 0) r.push_back({"faster_than_softmax_from", g.faster_from});
      print(to_json(r) + "\n");
    } else {
      rows.push_back({name_of(g), g.exponent != 0 ? fmt::format("n^{:.2f}", g.exponent) : "",
                      g.exponent != 0 ? fmt::format("{} to {}", thousands(g.from), thousands(g.to)) : "",
                      g.faster_from > 0 ? thousands(g.faster_from) : ""});
    }
  }
  if (!rows.empty()) print("\n" + table({"mechanism", "time grows as", "between", "faster than softmax from"}, rows));
}

void run_steps(const AttentionBench& bench, const Session& session) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<StepFigure> figures = bench_attention_steps(bench);
  if (!session.quiet && !figures.empty()) note_busy(figures.front().load);
  for (const StepFigure& f : figures) {
    if (session.json)
      print(to_json({{"length", f.length},
                     {"mechanism", f.mechanism},
                     {"band", f.band},
                     {"us_per_token", rounded(f.us_per_token, 3)},
                     {"state_bytes", f.state_bytes},
                     {"busy", rounded(f.load.share(), 3)},
                     {"heads", bench.heads},
                     {"dim", bench.dim},
                     {"threads", bench.threads},
                     {"isa", chosen_isa()}}) +
            "\n");
    else
      rows.push_back({name_of(f), thousands(f.length), fmt::format("{:.1f}", f.us_per_token),
                      fmt::format("{:.1f}", static_cast<double>(f.state_bytes) / 1024)});
  }
  if (!session.json) print(table({"mechanism", "after", "us per token", "state KB"}, rows));
}

void run_bench_attention(AttentionBench bench, bool decode, const Session& session) {
  bench.threads = session.thread_count();
  if (!session.quiet)
    tell("measuring attention, {} heads of {}{}, {} thread{}, {}\n", bench.heads, bench.dim,
         bench.causal ? ", causal" : "", bench.threads, bench.threads == 1 ? "" : "s", chosen_isa());
  if (decode) return run_steps(bench, session);
  const std::vector<AttentionFigure> figures = bench_attention(bench);
  if (!session.quiet && !figures.empty()) note_busy(figures.front().load);
  std::vector<std::vector<std::string>> rows;
  for (const AttentionFigure& f : figures) {
    const double speedup = times_softmax(f, figures);
    if (session.json)
      print(to_json(to_record(f, bench, speedup)) + "\n");
    else
      rows.push_back({f.length ? thousands(f.length) : "8-30", name_of(f), thousands(f.rows),
                      fmt::format("{:.3g}", ms_of(f)), speedup > 0 ? fmt::format("{:.1f}", speedup) : "",
                      fmt::format("{:.1f}", f.forward_gflops), fmt::format("{:.0f} %", 100 * f.forward_share_of_peak),
                      fmt::format("{:.1f}", f.backward_gflops), fmt::format("{:.0f} %", 100 * f.backward_share_of_peak),
                      fmt::format("{:.1f}", f.peak_mb)});
  }
  if (!session.json)
    print(table({"length", "mechanism", "rows", "ms", "x softmax", "forward GFLOP/s", "of peak", "backward GFLOP/s",
                 "of peak", "peak MB"},
                rows));
  print_growth(figures, session.json);
}

}  // namespace

void add_bench_attention(CLI::App& bench, Session& session) {
  auto options = std::make_shared<AttentionBench>();
  auto decode = std::make_shared<bool>(false);
  CLI::App* command =
      add_command(bench, session, "attention", "attention, forward and backward, over lengths",
                  "  attune bench attention --length 64,512,4096,16384\n"
                  "  attune bench attention --length 16384 --causal --mechanism softmax,band:128,linear "
                  "--threads 1\n"
                  "  attune bench attention --length 1024,16384 --decode --mechanism softmax,band:128,linear");
  command->add_option("--length", options->lengths, "positions, several by commas (default: 64,512,4096,16384)")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  command->add_option("--heads", options->heads, "heads (default: 8)")->type_name("N")->check(CLI::Range(1, 1024));
  command->add_option("--dim", options->dim, "columns of a head (default: 64)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--causal", options->causal, "no position sees a later one");
  CLI::Option* band = command->add_option("--band", options->band, "the last W positions (causal), or W/2 on each side")
                          ->type_name("W")
                          ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  command
      ->add_option("--mechanism", options->mechanisms,
                   "softmax, band:W, linear, or one of `attune info mechanisms` with its options, such as "
                   "bigbird(block=64;random=3); several by commas (default: softmax)")
      ->type_name("LIST")
      ->delimiter(',')
      ->excludes(band);
  command->add_option("--rows", options->rows, "as many sequences of each length as fill so many rows (default: one)")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  command->add_option("--sentences", options->sentences, "a figure more: N packed sentences of 8 to 30 tokens")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  command->add_option("--dropout", options->dropout, "rate of dropout on the weights (default: 0)")
      ->type_name("RATE")
      ->check(CLI::Range(0.0, 0.9));
  command->add_option("--seconds", options->seconds, "time per figure (default: 0.2)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 60.0));
  command->add_flag("--decode", *decode, "instead: one more position after so many, and what is remembered of them");
  set_work(command, session, [&session, options, decode] { run_bench_attention(*options, *decode, session); });
}

}  // namespace attune::cli
