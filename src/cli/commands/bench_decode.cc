// attune bench decode: how fast a model translates on this machine.
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

Record to_record(const DecodeFigure& f, const DecodeBench& bench) {
  return {{"tokens_per_s", rounded(f.tokens_per_s, 1)},
          {"tokens_per_s_median", rounded(f.tokens_per_s_median, 1)},
          {"lines_per_s", rounded(f.lines_per_s, 2)},
          {"share_of_peak", rounded(f.share_of_peak, 4)},
          {"gflops", rounded(f.gflops, 2)},
          {"p50_ms", rounded(f.p50_ms, 3)},
          {"p99_ms", rounded(f.p99_ms, 3)},
          {"latency_share_of_limit", rounded(f.latency_share_of_limit, 4)},
          {"weight_mb_per_step", rounded(f.weight_mb_per_step, 2)},
          {"bandwidth_gb_s", rounded(f.bandwidth_gb_s, 1)},
          {"cache_bytes_per_line", f.cache_bytes_per_line},
          {"working_mb", rounded(f.working_mb, 1)},
          {"peak_rss_mb", rounded(f.peak_rss_mb, 1)},
          {"type", f.type},
          {"beam", f.beam},
          {"threads", f.threads},
          {"batch_tokens", f.batch_tokens},
          {"lines", f.lines},
          {"tokens", f.tokens},
          {"rounds", bench.rounds},
          {"busy", rounded(f.load.share(), 3)},
          {"isa", chosen_isa()}};
}

void run_bench_decode(DecodeBench bench, const Session& session) {
  if (bench.threads.empty()) bench.threads = {default_threads()};
  const size_t settings = bench.beams.size() * bench.threads.size() * bench.batch_tokens.size();
  if (!session.quiet)
    tell("measuring {} round{} after one to warm up, {} setting{} by turns, {}\n", bench.rounds,
         bench.rounds == 1 ? "" : "s", settings, settings == 1 ? "" : "s", chosen_isa());
  const std::vector<DecodeFigure> figures = bench_decode(bench);
  if (!session.quiet) note_busy(figures.front().load);
  std::vector<std::vector<std::string>> rows;
  for (const DecodeFigure& f : figures) {
    if (session.json)
      print(to_json(to_record(f, bench)) + "\n");
    else
      rows.push_back({f.type, fmt::format("{}", f.beam), fmt::format("{}", f.threads), thousands(f.batch_tokens),
                      thousands(static_cast<int64_t>(f.tokens_per_s)),
                      thousands(static_cast<int64_t>(f.tokens_per_s_median)),
                      fmt::format("{:.0f} %", 100 * f.share_of_peak), fmt::format("{:.2f}", f.p50_ms),
                      fmt::format("{:.2f}", f.p99_ms), fmt::format("{:.0f} %", 100 * f.latency_share_of_limit),
                      fmt::format("{:.0f}", static_cast<double>(f.cache_bytes_per_line) / 1024),
                      fmt::format("{:.0f}", f.peak_rss_mb)});
  }
  if (session.json) return;
  print(table({"type", "beam", "threads", "batch tokens", "tokens/s", "median", "of peak", "p50 ms", "p99 ms",
               "of limit", "cache KB/line", "peak MB"},
              rows));
  const DecodeFigure& f = figures.front();
  if (!session.quiet)
    tell("{} lines, {} tokens said; a step reads {:.1f} MB of weights, at {:.0f} GB/s\n", thousands(f.lines),
         thousands(f.tokens), f.weight_mb_per_step, f.bandwidth_gb_s);
}

}  // namespace

void add_bench_decode(CLI::App& bench, Session& session) {
  auto b = std::make_shared<DecodeBench>();
  b->threads.clear();
  CLI::App* command =
      add_command(bench, session, "decode", "translation: throughput of a file, time and memory of single lines",
                  "  attune bench decode model test.en\n"
                  "  attune bench decode model test.en --beam 1,5 --threads 1,2 --batch-tokens 1,4096 --json\n"
                  "  attune bench decode model test.en --lines 200 --max-length 20 --rounds 5");
  command->add_option("MODEL", b->model, "a model folder")->required();
  command->add_option("FILE", b->file, "sentences to translate, plain or .gz; - is stdin")->required();
  command->add_option("--beam", b->beams, "hypotheses kept at each step, several by commas (default: 5)")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  command->remove_option(command->get_option("--threads"));  // a list here
  command->add_option("--threads", b->threads, "how many threads, several by commas (default: all cores)")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--batch-tokens", b->batch_tokens,
                   "tokens translated at the same time, times the beam, several by commas (default: 4096)")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  command->add_option("--length-penalty", b->length_penalty, "as of translate (default: 0.6)")
      ->type_name("A")
      ->check(CLI::Range(-10.0, 10.0));
  command->add_option("--max-length", b->max_length, "as of translate (default: twice those of the line, plus 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--lines", b->lines, "the first N lines of the file (default: all)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--latency-lines", b->latency_lines, "lines timed one at a time, spread evenly (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--rounds", b->rounds, "rounds through the lines, after one to warm up (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("!--no-shortlist", b->shortlist, "look at all words, where the model has a shortlist");
  set_work(command, session, [&session, b] { run_bench_decode(*b, session); });
}

}  // namespace attune::cli
