// Translation timed as people use it: whole files, and single lines.
#include <algorithm>
#include <cmath>
#include <map>

#include "attune/bench.h"
#include "attune/lines.h"
#include "attune/translator.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/function_ref.h"
#include "base/limits.h"
#include "base/load.h"
#include "inference/decode_work.h"

namespace attune {

namespace {

constexpr double kMega = 1 << 20;

/// Seconds that a call takes. Of one thread its processor time counts, of more the time that passes.
double time_of(int threads, FunctionRef<void()> call) {
  const auto now = threads == 1 ? thread_seconds : now_seconds;
  const double start = now();
  call();
  return now() - start;
}

/// The value below which a share of them lies (nearest rank).
double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::max(0.0, std::ceil(share * static_cast<double>(values.size())) - 1));
  return values[std::min(rank, values.size() - 1)];
}

/// One combination of the settings, and what was measured of it.
struct Setting {
  DecodeFigure figure;
  TranslateOptions options;
  std::vector<double> seconds, peaks;   // of each round
  std::vector<DecodedLine> said;        // of each line
  std::vector<double> line_ms, limits;  // of each single line: its time, the limit's share of it

  int threads() const { return figure.threads; }
};

class Bench {
 public:
  explicit Bench(const DecodeBench& bench) : bench_(bench) {
    TextLines reader({bench.file});
    for (std::string line; (bench.lines == 0 || std::ssize(lines_) < bench.lines) && reader.next(line);)
      lines_.push_back(std::move(line));
    for (const int threads : bench.threads)
      for (const int beam : bench.beams)
        for (const int64_t tokens : bench.batch_tokens) {
          Setting s;
          s.figure.beam = s.options.beam = beam;
          s.figure.threads = threads;
          s.figure.batch_tokens = s.options.batch_tokens = tokens;
          s.options.length_penalty = bench.length_penalty;
          s.options.max_length = bench.max_length;
          s.options.shortlist = bench.shortlist;
          settings_.push_back(std::move(s));
        }
  }

  std::vector<DecodeFigure> run() {
    for (Setting& s : settings_) warm_up(s);
    for (const int threads : bench_.threads) translators_.try_emplace(threads, bench_.model, threads);
    DecodeWork work(bench_.model);
    if (bench_.shortlist) work.use_shortlist(lines_);
    for (Setting& s : settings_) count(s, work);
    const LoadMeter meter;
    for (int round = 0; round < bench_.rounds; ++round)
      for (Setting& s : settings_) time_file(s);
    time_lines(work);
    const Load load = meter.load();
    std::vector<DecodeFigure> figures;
    for (Setting& s : settings_) {
      finish(s, work);
      s.figure.load = load;
      figures.push_back(s.figure);
    }
    return figures;
  }

 private:
  /// Alone in the process, so that its memory can be told.
  void warm_up(Setting& s) const {
    forget_freed_memory();
    forget_peak();
    const Translator translator(bench_.model, s.threads());
    const int64_t loaded = resident_bytes();
    for (const Translation& t : translator.translate(lines_, s.options)) {
      s.said.push_back({0, static_cast<int32_t>(t.tokens.size())});
      s.figure.tokens += std::ssize(t.tokens);
    }
    s.figure.lines = std::ssize(lines_);
    s.figure.peak_rss_mb = static_cast<double>(peak_resident_bytes()) / kMega;
    s.figure.working_mb = std::max(0.0, s.figure.peak_rss_mb - static_cast<double>(loaded) / kMega);
    if (s.figure.tokens == 0)
      fail(ErrorKind::data, "{}: nothing is said of its {} lines\n  fix: name a file of sentences to translate",
           bench_.file, lines_.size());
  }

  void count(Setting& s, const DecodeWork& work) const {
    for (size_t i = 0; i < lines_.size(); ++i) s.said[i].source = work.source_tokens(lines_[i]);
    std::vector<DecodedLine> sorted = s.said;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end(), [](const DecodedLine& a, const DecodedLine& b) {
      return std::pair(a.target, a.source) < std::pair(b.target, b.source);
    });
    s.figure.cache_bytes_per_line = work.cache_bytes(*middle, s.figure.beam);
    s.figure.type = work.type();
    s.figure.weight_mb_per_step = work.step_bytes() / kMega;
    s.figure.bandwidth_gb_s = read_bandwidth(work.step_bytes(), s.threads());
  }

  void time_file(Setting& s) const {
    const Translator& translator = translators_.at(s.threads());
    const double before = peak_gflops(s.threads());
    s.seconds.push_back(time_of(s.threads(), [&] { translator.translate(lines_, s.options); }));
    s.peaks.push_back((before + peak_gflops(s.threads())) / 2);
  }

  /// Settings that differ in the size of batches alone have the same latency.
  void time_lines(const DecodeWork& work) {
    if (bench_.latency_lines == 0) return;
    const auto all = std::ssize(lines_), some = std::min<int64_t>(all, bench_.latency_lines);
    for (int64_t n = 0; n < some; ++n) {
      const auto i = static_cast<size_t>(all * n / some);
      for (Setting& s : settings_) {
        if (s.said[i].source == 0 || s.figure.batch_tokens != bench_.batch_tokens.front()) continue;
        const Translator& translator = translators_.at(s.threads());
        if (s.line_ms.empty()) translator.translate(lines_[i], s.options);
        const double seconds = time_of(s.threads(), [&] { translator.translate(lines_[i], s.options); });
        s.line_ms.push_back(1000 * seconds);
        s.limits.push_back(limit_ms(s, s.said[i], work) / s.line_ms.back());
      }
    }
  }

  static double limit_ms(const Setting& s, const DecodedLine& line, const DecodeWork& work) {
    const double peak = *std::max_element(s.peaks.begin(), s.peaks.end());  // GFLOP/s are FLOP/ns
    const double bandwidth = s.figure.bandwidth_gb_s;
    const DecodeWork::Flops f = work.flops({line}, s.figure.beam);
    return 1e-6 * (std::max(f.encoder / peak, work.encoder_bytes() / bandwidth) +
                   std::max(f.decoder / peak, work.step_bytes() * (line.target + 1) / bandwidth));
  }

  void finish(Setting& s, const DecodeWork& work) const {
    const DecodeWork::Flops flops = work.flops(s.said, s.figure.beam);
    const double gflop = 1e-9 * (flops.encoder + flops.decoder), best = percentile(s.seconds, 0);
    DecodeFigure& f = s.figure;
    f.tokens_per_s = static_cast<double>(f.tokens) / best;
    f.tokens_per_s_median = static_cast<double>(f.tokens) / percentile(s.seconds, 0.5);
    f.lines_per_s = static_cast<double>(f.lines) / best;
    f.gflops = gflop / best;
    std::vector<double> shares;
    for (size_t i = 0; i < s.seconds.size(); ++i) shares.push_back(gflop / s.seconds[i] / s.peaks[i]);
    f.share_of_peak = percentile(shares, 0.5);
    const Setting* timed = &s;
    for (const Setting& other : settings_)
      if (!other.line_ms.empty() && other.figure.beam == f.beam && other.threads() == f.threads) timed = &other;
    f.p50_ms = percentile(timed->line_ms, 0.5);
    f.p99_ms = percentile(timed->line_ms, 0.99);
    f.latency_share_of_limit = percentile(timed->limits, 0.5);
  }

  const DecodeBench& bench_;
  std::vector<std::string> lines_;
  std::vector<Setting> settings_;
  std::map<int, Translator> translators_;  // by threads
};

}  // namespace

std::vector<DecodeFigure> bench_decode(const DecodeBench& bench) {
  check(bench.rounds >= 1, "bench decode", "{} rounds", bench.rounds);
  check(!bench.beams.empty() && !bench.threads.empty() && !bench.batch_tokens.empty(), "bench decode", "no setting");
  for (const int threads : bench.threads) check(threads >= 1, "bench decode", "{} threads", threads);
  return Bench(bench).run();
}

}  // namespace attune
