// attune bench gemm: the matrix products of training and decoding.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "attune/bench.h"
#include "attune/error.h"
#include "attune/machine.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

/// "4096x512x2048": m, n and k.
GemmShape parse_shape(const std::string& text) {
  int64_t d[3] = {};
  const char *at = text.data(), *end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto r = std::from_chars(at, end, d[i]);
    at = r.ptr;
    if (r.ec != std::errc{} || d[i] < 1 || (i < 2 ? at == end || *at++ != 'x' : at != end))
      throw Error(ErrorKind::usage, fmt::format("--shapes: '{}' is not a shape\n  fix: write MxNxK, for example "
                                                "4096x512x2048",
                                                text));
  }
  return {d[0], d[1], d[2]};
}

void run_bench_gemm(const std::vector<std::string>& shapes, double seconds, const Session& session) {
  GemmBench bench;
  for (const auto& s : shapes) bench.shapes.push_back(parse_shape(s));
  bench.threads = session.thread_count();
  bench.seconds = seconds;
  if (!session.quiet)
    tell("measuring matrix products, {} thread{}, {}\n", bench.threads, bench.threads == 1 ? "" : "s", chosen_isa());
  std::vector<std::vector<std::string>> rows;
  const std::vector<GemmFigure> figures = bench_gemm(bench);
  if (!session.quiet && !figures.empty()) note_busy(figures.front().load);
  for (const GemmFigure& f : figures) {
    if (session.json)
      print(to_json({{"m", f.m},
                     {"n", f.n},
                     {"k", f.k},
                     {"product", f.product},
                     {"gflops", rounded(f.gflops, 2)},
                     {"share_of_peak", rounded(f.share_of_peak, 4)},
                     {"busy", rounded(f.load.share(), 3)},
                     {"threads", bench.threads},
                     {"isa", chosen_isa()}}) +
            "\n");
    else
      rows.push_back({fmt::format("{}", f.m), fmt::format("{}", f.n), fmt::format("{}", f.k), f.product,
                      fmt::format("{:.1f}", f.gflops), fmt::format("{:.0f} %", 100 * f.share_of_peak)});
  }
  if (!session.json) print(table({"m", "n", "k", "product", "GFLOP/s", "of peak"}, rows));
}

}  // namespace

void add_bench_gemm(CLI::App& bench, Session& session) {
  struct Options {
    std::vector<std::string> shapes;
    double seconds = 0.2;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(bench, session, "gemm", "matrix products: a layer of K inputs and N outputs on M rows",
                  "  attune bench gemm --shapes 4096x512x512,5x512x512\n"
                  "  attune bench gemm --threads 1 --json");
  command->add_option("--shapes", options->shapes, "MxNxK, several by commas (default: a selection)")
      ->type_name("LIST")
      ->delimiter(',');
  command->add_option("--seconds", options->seconds, "time per product (default: 0.2)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 60.0));
  set_work(command, session, [&session, options] { run_bench_gemm(options->shapes, options->seconds, session); });
}

}  // namespace attune::cli
