#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/isa.h"
#include "kernels/matrix/gemm.h"
#include "kernels/matrix/int8.h"
#include "laboratory.h"

namespace attune::laboratory {

Run copy_of(double bytes) {
  const auto half = static_cast<int64_t>(bytes / 2);
  const auto from = random(half / 4 + 1, 1), to = zeros(half / 4 + 1);
  return [from, to, half] {
    std::memcpy(to->data(), from->data(), static_cast<size_t>(half));
    asm volatile("" : : "r"(to->data()) : "memory");  // so that copies are not left out
  };
}

namespace {

constexpr double kBatchSeconds = 1e-3, kSlotSeconds = 15e-3;

struct Timing {
  double peak = 0;              // GFLOP/s
  std::vector<double> seconds;  // of one call, per contender
};

/// Seconds that passed, or with `own` those this thread ran: work on one thread is timed that way, so that a neighbour
/// who takes turns on the core does not count.
class Clock {
 public:
  explicit Clock(bool own) : id_(own ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC), start_(now()) {}
  double seconds() const { return now() - start_; }

 private:
  double now() const {
    timespec t{};
    clock_gettime(id_, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  clockid_t id_;
  double start_;
};

/// Every round gives each contender a slot in turn, with the peak measured before it; the best of each counts.
Timing time_in_turn(const std::vector<Run>& runs, int rounds, bool own) {
  Timing t;
  t.seconds.assign(runs.size(), std::numeric_limits<double>::infinity());
  std::vector<int64_t> calls(runs.size(), 1);  // per look at the clock
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i]();  // takes memory, makes code
    for (;; calls[i] *= 2) {
      const Clock watch(own);
      for (int64_t c = 0; c < calls[i]; ++c) runs[i]();
      if (watch.seconds() > kBatchSeconds) break;
    }
  }
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < runs.size(); ++i) {
      t.peak = std::max(t.peak, kernels::measure_peak_gflops(1e-3));
      const Clock slot(own);
      do {
        const Clock watch(own);
        for (int64_t c = 0; c < calls[i]; ++c) runs[i]();
        t.seconds[i] = std::min(t.seconds[i], watch.seconds() / static_cast<double>(calls[i]));
      } while (slot.seconds() < kSlotSeconds);
    }
  return t;
}

struct Worst {
  double ratio = std::numeric_limits<double>::infinity();
  std::string name;
  void see(double r, const std::string& n) {
    if (r < ratio) *this = {r, n};
  }
};

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::training:
      return "training";
    case Kind::decode:
      return "decode";
    case Kind::threads:
      return "threads";
    case Kind::peak:
      return "peak";
    case Kind::copy:
      return "copy";
    case Kind::int8:
      return "int8";
  }
  return "";
}

/// Ours against what the experiment is held to; above 1 is faster.
double ratio_of(const Experiment& e, const Timing& t) {
  const double ours = t.seconds[0];
  switch (e.kind) {
    case Kind::training:
      return std::min(t.seconds[1], t.seconds[2]) / ours;
    case Kind::decode:
    case Kind::int8:
      return t.seconds[1] / ours;
    case Kind::threads:
      return t.seconds[0] / t.seconds[1];
    case Kind::peak:
      return e.flops * 1e-9 / ours / t.peak;
    case Kind::copy: {
      const auto at = std::find(e.contenders.begin(), e.contenders.end(), "memcpy") - e.contenders.begin();
      return t.seconds[static_cast<size_t>(at)] / ours;
    }
  }
  return 0;
}

void print_json(const Experiment& e, const Timing& t, double ratio) {
  std::string seconds;
  for (size_t i = 0; i < e.contenders.size(); ++i)
    seconds += fmt::format("{}\"{}\": {:.4g}", i ? ", " : "", e.contenders[i], t.seconds[i]);
  fmt::print("{{\"name\": \"{}\", \"kind\": \"{}\", \"flops\": {:.6g}, \"bytes\": {:.6g}, \"peak_gflops\": {:.4g}, ",
             e.name, name_of(e.kind), e.flops, e.bytes, t.peak);
  fmt::print("\"seconds\": {{{}}}, \"ratio\": {:.4g}}}\n", seconds, ratio);
}

void print_product(const Experiment& e, const Timing& t, double ratio) {
  const double work = e.flops * 1e-9;
  fmt::print("{:<34} {:8.1f} {:6.0f} {:8.1f} {:8.1f} {:8.2f}\n", e.name, work / t.seconds[0],
             100 * work / t.seconds[0] / t.peak, work / t.seconds[1], work / t.seconds[2], ratio);
}

void print_int8(const Experiment& e, const Timing& t) {
  const double work = e.flops * 1e-9;
  fmt::print("{:<24} {:8.1f} {:8.1f} {:8.1f} {:8.2f} {:8.2f} {:8.1f}\n", e.name, work / t.seconds[0],
             work / t.seconds[1], work / t.seconds[2], t.seconds[1] / t.seconds[0], t.seconds[2] / t.seconds[0],
             e.bytes * 1e-9 / t.seconds[0]);
}

void print_other(const Experiment& e, const Timing& t, double ratio) {
  std::string others;
  for (size_t i = e.kind == Kind::threads ? 0 : 1; i < e.contenders.size(); ++i)
    others += fmt::format("  {} {:.4g} ms", e.contenders[i], 1e3 * t.seconds[i]);
  if (e.kind == Kind::threads)
    fmt::print("{:<46} {:.2f} times as fast{}\n", e.name, ratio, others);
  else
    fmt::print("{:<46} {:>5.0f} % of {:<7} {:10.4g} ms {}\n", e.name, 100 * ratio,
               e.kind == Kind::peak ? "peak" : "memcpy", 1e3 * t.seconds[0], others);
}

}  // namespace

void compare(const Experiments& experiments, const Compare& how) {
  Worst training, decode, one_row, threads;
  bool products = false, int8 = false, others = false;
  if (!how.json)
    fmt::print("one thread, instruction set {}, {}; best of {} rounds in turn\n\n", chosen_isa(), libraries(),
               how.rounds);
  for (const Experiment& e : experiments) {
    if (e.name.find(how.filter) == std::string::npos) continue;
    const Timing t = time_in_turn(e.make(), e.rounds ? e.rounds : how.rounds, e.kind != Kind::threads);
    const double ratio = ratio_of(e, t);
    if (e.kind == Kind::training) training.see(ratio, e.name);
    if (e.kind == Kind::decode) (e.name.find("/1x") != std::string::npos ? one_row : decode).see(ratio, e.name);
    if (e.kind == Kind::threads) threads.see(ratio, e.name);
    if (how.json) {
      print_json(e, t, ratio);
    } else if (e.kind == Kind::training || e.kind == Kind::decode) {
      if (!products)
        fmt::print("{:<34} {:>8} {:>6} {:>8} {:>8} {:>8}\n", "GFLOP/s", "ours", "% peak", "oneDNN", "OpenBLAS",
                   "ratio");
      products = true;
      print_product(e, t, ratio);
    } else if (e.kind == Kind::int8) {
      if (!int8)
        fmt::print("\n{:<24} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "GOP/s", kernels::chosen_int8_kernel(), "f32",
                   "oneDNN", "to f32", "to DNN", "GB/s");
      int8 = true;
      print_int8(e, t);
    } else {
      if (!others) fmt::print("\n");
      others = true;
      print_other(e, t, ratio);
    }
    std::fflush(stdout);
  }
  if (how.json) return;
  fmt::print("\n");
  const auto last = [](const char* what, const Worst& w) {
    if (!w.name.empty()) fmt::print("worst, {}: {:.2f} ({})\n", what, w.ratio, w.name);
  };
  last("training shapes against the better library", training);
  last("decode shapes against oneDNN", decode);
  last("decode shapes of one row against oneDNN", one_row);
  last("two threads against one", threads);
}

}  // namespace attune::laboratory
