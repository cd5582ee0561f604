#include "inference/decode_work.h"

#include <algorithm>
#include <atomic>

#include "base/aligned.h"
#include "base/clock.h"
#include "base/thread_pool.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/safetensors.h"
#include "model/cost.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

/// The kind that most numbers are of: small things, norms and biases, stay f32 in any file.
Stored most_stored(const std::string& path) {
  std::vector<std::pair<Stored, int64_t>> sizes;
  const SafetensorsFile file(path);
  for (const StoredTensor& t : file.tensors()) {
    auto known = std::find_if(sizes.begin(), sizes.end(), [&](const auto& s) { return s.first == t.type; });
    if (known == sizes.end()) known = sizes.insert(sizes.end(), {t.type, 0});
    known->second += t.size();
  }
  const auto most =
      std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sizes.end() ? Stored::f32 : most->first;
}

/// A word of each cache line, four lines at once, asking for those 4 KB ahead: twice as fast from memory as reading
/// every word and leaving it to the CPU to look ahead.
uint64_t read_words(const uint64_t* words, int64_t count) {
  constexpr int64_t kLine = 8, kLines = 4, kAhead = 512;
  uint64_t sum[kLines] = {};
  for (int64_t i = 0; i + kLines * kLine <= count; i += kLines * kLine)
    for (int64_t j = 0; j < kLines; ++j) {
      __builtin_prefetch(words + std::min(i + j * kLine + kAhead, count - 1));
      sum[j] += words[i + j * kLine];
    }
  return sum[0] + sum[1] + sum[2] + sum[3];
}

}  // namespace

DecodeWork::DecodeWork(const std::string& model) : opened_(open_model_files(model)) {
  switch (most_stored(model + "/" + kModelName)) {
    case Stored::i8:
      type_ = "int8", weight_bytes_ = 1;
      break;
    case Stored::f16:
      type_ = "f16";
      break;  // storage only: computed in f32
    case Stored::bf16:
      type_ = "bf16";
      break;
    default:
      type_ = "f32";
  }
  const MultipliedWeights w = opened_.model->multiplied_weights();
  source_weights_ = w.source;
  target_weights_ = w.target;
}

void DecodeWork::use_shortlist(const std::vector<std::string>& lines) {
  if (!opened_.shortlist || lines.empty()) return;
  int64_t words = 0;
  for (const std::string& line : lines)
    words += std::ssize(opened_.shortlist->ids_of(opened_.tokenizers.source->encode(line)));
  const double mean = static_cast<double>(words) / static_cast<double>(lines.size());
  const Model& model = *opened_.model;
  target_weights_ -=
      (static_cast<double>(model.sizes().target_vocabulary) - mean) * static_cast<double>(model.options().d_model);
}

int32_t DecodeWork::source_tokens(const std::string& line) const {
  const int64_t n = std::ssize(opened_.tokenizers.source->encode(line));
  return n ? static_cast<int32_t>(std::min(n + 1, opened_.model->longest_source())) : 0;
}

DecodeWork::Flops DecodeWork::flops(const std::vector<DecodedLine>& lines, int beam) const {
  std::vector<int32_t> sources, targets;
  double rows = 0;
  for (const DecodedLine& l : lines) {
    if (l.source == 0) continue;
    sources.push_back(l.source);
    targets.push_back(l.target + 1);
    rows += 1 + static_cast<double>(beam) * l.target;
  }
  const Segments source = Segments::of_lengths(sources), target = Segments::of_lengths(targets),
                 nothing = Segments::of_lengths(std::vector<int32_t>(sources.size(), 0));
  const double reading = opened_.model->mixing_operations({&source, nothing});
  const double saying = opened_.model->mixing_operations({&source, target}) - reading;
  return {2 * source_weights_ * static_cast<double>(source.rows()) + reading,
          2 * target_weights_ * rows + saying * beam};
}

int64_t DecodeWork::cache_bytes(const DecodedLine& line, int beam) const {
  if (line.source == 0) return 0;
  const Model& model = *opened_.model;
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model.parameters()};
  const std::vector<int32_t> ids(static_cast<size_t>(line.source), text::kEnd);
  const Rows source = rows_of(ids, Segments::single(line.source));
  const int64_t steps = std::min<int64_t>(line.target + 1, model.longest_target());
  const std::unique_ptr<DecoderState> state = model.start(pass, source, steps);
  std::vector<int32_t> said{text::kBegin};
  for (int64_t i = 0; i < steps; ++i) {
    model.step(pass, *state, said);
    said.assign(static_cast<size_t>(beam), text::kEnd);
    if (i == 0) state->reorder(std::vector<int32_t>(static_cast<size_t>(beam), 0));
  }
  return state->bytes();
}

double read_bandwidth(double bytes, int threads) {
  constexpr double kSeconds = 0.05;
  constexpr int kSlices = 10;
  const int64_t words = std::max<int64_t>(1024, static_cast<int64_t>(bytes / sizeof(uint64_t)));
  const Aligned<uint64_t> memory(words);
  std::fill_n(memory.data(), words, 1);
  ThreadPool pool(threads);
  std::atomic<uint64_t> seen{0};  // what is read must be used
  const auto read_all = [&] {
    parallel_for(&pool, threads, [&](int64_t part, int) {
      const int64_t from = words * part / threads, to = words * (part + 1) / threads;
      seen += read_words(memory.data() + from, to - from);
    });
  };
  read_all();
  double best = 0;
  const auto now = threads == 1 ? thread_seconds : now_seconds;  // as translation is timed
  for (int slice = 0; slice < kSlices; ++slice) {
    const double start = now();
    double passed = 0;
    int64_t rounds = 0;
    do {
      read_all();
      ++rounds;
      passed = now() - start;
    } while (passed < kSeconds / kSlices);
    best = std::max(best, static_cast<double>(rounds * words) * sizeof(uint64_t) / passed);
  }
  return best * 1e-9;
}

}  // namespace attune
