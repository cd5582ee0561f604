// laboratory: Google Benchmark over every experiment (--benchmark_filter=gemm/4096 chooses), or
// laboratory --compare [--json] [--isa NAME] [--rounds N] [--filter TEXT]: all contenders in turn, one table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "kernels/isa.h"
#include "laboratory.h"

using namespace attune::laboratory;

namespace {

/// The contenders of the experiment that runs; those of the one before are gone, for some are large.
std::vector<Run>& contenders_of(const Experiment& e) {
  static const Experiment* current = nullptr;
  static std::vector<Run> runs;
  if (current != &e) {
    runs.clear();
    runs = e.make();
    current = &e;
  }
  return runs;
}

void register_all(const Experiments& experiments) {
  for (const Experiment& e : experiments)
    for (size_t i = 0; i < e.contenders.size(); ++i)
      benchmark::RegisterBenchmark((e.name + "/" + e.contenders[i]).c_str(), [&e, i](benchmark::State& state) {
        const Run& run = contenders_of(e)[i];
        for (auto _ : state) run();
        const auto rate = benchmark::Counter::kIsIterationInvariantRate;
        if (e.flops > 0) state.counters["FLOP/s"] = benchmark::Counter(e.flops, rate);
        if (e.bytes > 0) state.counters["B/s"] = benchmark::Counter(e.bytes, rate);
      })->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  bool forced = false;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--isa") == 0) {
      attune::force_isa(argv[i + 1]);
      forced = true;
    }
  choose_kernels(forced, argv);
  single_thread();
  Experiments experiments;
  add_gemm(experiments);
  add_int8(experiments);
  add_convolution(experiments);
  add_attention(experiments);
  add_scores(experiments);
  add_softmax(experiments);
  add_norm(experiments);
  add_activation(experiments);
  add_embed(experiments);
  add_adam(experiments);
  add_pack(experiments);

  bool comparing = false;
  Compare how;
  for (int i = 1; i < argc; ++i) comparing = comparing || std::strcmp(argv[i], "--compare") == 0;
  if (comparing) {
    for (int i = 1; i < argc; ++i) {
      const std::string option = argv[i];
      if (option == "--compare") continue;
      if (option == "--isa" && i + 1 < argc) {
        ++i;  // done
      } else if (option == "--json") {
        how.json = true;
      } else if (option == "--rounds" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
        how.rounds = std::atoi(argv[++i]);
      } else if (option == "--filter" && i + 1 < argc) {
        how.filter = argv[++i];
      } else {
        fmt::print(stderr, "laboratory --compare [--json] [--isa NAME] [--rounds N] [--filter TEXT]: what is '{}'?\n",
                   option);
        return 2;
      }
    }
    compare(experiments, how);
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  register_all(experiments);
  benchmark::RunSpecifiedBenchmarks();
}
