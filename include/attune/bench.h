// Speed on this machine, as a share of what it can do at most. "Peak" is a loop of fused multiply-adds in registers
// alone, timed in the same run, between the timings it is compared with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attune/machine.h"

namespace attune {

/// A layer of k inputs and n outputs, applied to m rows.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
};

struct GemmBench {
  std::vector<GemmShape> shapes;  // empty: a selection of shapes from training and decoding
  int threads = 1;
  double seconds = 0.2;  // per product
};

/// One of the three products of training. Each takes 2 m n k floating point operations.
struct GemmFigure {
  int64_t m = 0, n = 0, k = 0;
  std::string product;  // "x W" (forward), "dy W^T" (gradient of the input), "dy^T x" (gradient of the weights)
  double gflops = 0, share_of_peak = 0;
  Load load = {};  // what other work took while all of them were measured: as of the figures below
};

struct AttentionBench {
  std::vector<int64_t> lengths = {64, 512, 4096, 16384};
  int heads = 8;
  int dim = 64;  // per head
  bool causal = false;
  int64_t band = 0;                     // 0: everything; w: the last w positions (causal), or w/2 on each side
  std::vector<std::string> mechanisms;  // "softmax", "band:W", "linear", or as a layer's choice: "routing",
                                        // "bigbird(block=64;random=3)"; none: the band, or softmax
  int64_t rows = 0;                     // in all; 0: one sequence of the given length, else as many as fit
  int64_t sentences = 0;  // one figure more, of so many packed sentences of 8 to 30 tokens (its length is 0)
  double dropout = 0;
  int threads = 1;
  double seconds = 0.2;  // per figure
};

/// Operations are counted for the pairs of positions that see each other: 4 dim forward, 10 dim backward. Linear
/// attention counts as if each position saw `dim` others, which is what reading its sums takes. Routing has about the
/// root of the length as clusters, their windows as long. It and others that are named as a layer's choice are timed as
/// training runs them, what they look for included.
struct AttentionFigure {
  std::string mechanism;
  int64_t band = 0;
  int64_t length = 0, rows = 0;
  bool causal = false;
  double pair_share = 0;  // of all pairs that softmax would look at, those that it looks at
  double forward_ms = 0, backward_ms = 0;
  double forward_gflops = 0, forward_share_of_peak = 0;
  double backward_gflops = 0, backward_share_of_peak = 0;
  double peak_mb = 0;  // all that is held: inputs, results, gradients and the kernels' scratch
  Load load = {};
};

/// What the figures of one mechanism say together.
struct AttentionGrowth {
  std::string mechanism;
  int64_t band = 0;
  double exponent = 0;  // its time grows as length^this between the lengths below; 0 where there are not two of them
  int64_t from = 0, to = 0;
  int64_t faster_from =
      0;  // the first length from which on it was faster than softmax at all; 0: none, or just one measured
};
/// Exponents are fitted to lengths of at least `from`: in shorter ones the caches have a say.
std::vector<AttentionGrowth> attention_growth(const std::vector<AttentionFigure>& figures, int64_t from = 4096);

/// One more position of one sequence, when so many came before.
struct StepFigure {
  std::string mechanism;
  int64_t band = 0;
  int64_t length = 0;
  double us_per_token = 0;
  int64_t state_bytes = 0;  // what one layer remembers between two of them
  Load load = {};
};

/// Training as it is: real batches, forward, backward, optimiser. Nothing is saved.
struct TrainBench {
  std::string recipe;
  std::vector<std::string> sets;  // "key=value" on top of the recipe
  int threads = 1;
  int64_t updates = 20, warm = 3;  // measured, and before that
};

struct TrainFigure {
  double target_tokens_per_s = 0, source_tokens_per_s = 0;
  double ms_per_update = 0;       // the median
  double gflops = 0;              // of the model's products and attention; repeated work does not count
  double share_of_gemm_peak = 0;  // against a register-only loop before and after
  double peak_rss_mb = 0;         // of the whole process so far
  double estimated_mb = 0;        // what was told before the first update
  double loss = 0;                // of the last update
  int64_t parameters = 0, vocabulary = 0, updates = 0;
  Load load = {};  // while the updates were measured
};

/// Translation as it is, for all combinations of `beams`, `threads` and `batch_tokens`. They take turns, round by round
/// and, for the latency, line by line: what slows the machine for a while slows all of them. Of one thread the
/// processor time counts, of more the time that passes.
struct DecodeBench {
  std::string model, file;
  std::vector<int> beams = {5}, threads = {1};
  std::vector<int64_t> batch_tokens = {4096};
  double length_penalty = 0.6;
  int64_t max_length = 0;       // as of a translation
  int64_t lines = 0;            // of the file, the first so many; 0: all
  int64_t latency_lines = 200;  // one at a time, spread over those; 0: no latency
  int rounds = 3;               // through all lines, after one to warm up
  bool shortlist = true;        // as of a translation
};

/// Operations are those of the encoder and of a full beam until the best translation ends: products and attention. A
/// search that gives hypotheses up early, or says them longer, does others. The limit of a line's time is, of encoder
/// and decoder each, the longer of operations at peak and of reading the weights at every step: at the speed at which
/// as many threads read as many bytes over and over, from whichever memory they fit in.
struct DecodeFigure {
  int beam = 0, threads = 0;
  int64_t batch_tokens = 0;
  std::string type;                                  // of the weights: "f32", "f16", "int8"
  double tokens_per_s = 0, tokens_per_s_median = 0;  // of the best translations, without marks: best and median round
  double lines_per_s = 0;                            // of the best round
  double gflops = 0, share_of_peak = 0;              // the best round; the median over rounds
  double p50_ms = 0, p99_ms = 0;                     // of single lines; 0: not measured
  double latency_share_of_limit = 0;                 // the median over lines
  double weight_mb_per_step = 0, bandwidth_gb_s = 0;
  int64_t cache_bytes_per_line = 0;        // keys, values and states of a line of median length at its end, all beams
  double working_mb = 0, peak_rss_mb = 0;  // at most on top of the weights; of the whole process with just this setting
  int64_t lines = 0, tokens = 0;           // one round: read, said
  Load load = {};
};

TrainFigure bench_train(const TrainBench& bench);
std::vector<GemmFigure> bench_gemm(const GemmBench& bench);
std::vector<AttentionFigure> bench_attention(const AttentionBench& bench);
/// Of the same mechanisms but routing, causal, without dropout.
std::vector<StepFigure> bench_attention_steps(const AttentionBench& bench);
/// A figure for each of the settings, threads outermost. Reads the model once for each of them, and the file once.
std::vector<DecodeFigure> bench_decode(const DecodeBench& bench);
/// GFLOP/s of that many threads at once, in registers alone. Takes about 50 ms.
double peak_gflops(int threads);

}  // namespace attune
