#include "train/target_inputs.h"

#include <algorithm>
#include <numeric>

#include "autograd/operations/arrange.h"
#include "base/random.h"
#include "kernels/vocabulary/candidates.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

constexpr uint64_t kNoise = 0x6e6f697365, kSampling = 0x73616d706c65;  // labels of their random numbers
constexpr int64_t kLogits = int64_t{4} << 20;                          // numbers at a time

/// One uniform number for each row of a batch.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t label, uint64_t step) : random_(mix(mix(seed, label), step)) {}
  bool below(double rate, size_t row) const { return static_cast<double>(bits(2 * row) >> 11) * 0x1p-53 < rate; }
  /// Another one of the pieces, all of them being as probable.
  int32_t other_piece(int32_t piece, int32_t vocabulary, size_t row) const {
    const bool is_piece = piece >= text::kMarks;
    const auto count = static_cast<uint64_t>(vocabulary - text::kMarks - is_piece);
    const auto drawn = static_cast<uint64_t>((static_cast<unsigned __int128>(bits(2 * row + 1)) * count) >> 64);
    const int32_t id = text::kMarks + static_cast<int32_t>(drawn);
    return id + (is_piece && id >= piece);
  }

 private:
  uint64_t bits(size_t counter) const { return random_.at(counter); }
  Random random_;
};

}  // namespace

double sampling_share(const SamplingSettings& s, int64_t update) {
  if (update <= s.from) return 0;
  const double grown = s.over > 0 ? static_cast<double>(update - s.from) / static_cast<double>(s.over) : 1;
  return s.share * std::min(1.0, grown);
}

TargetInputs::TargetInputs(const Model& model, const TrainOptions& options, StreamMemory& memory, int workers)
    : model_(model), options_(options) {
  for (int i = 0; i < workers && options.sampling.share > 0; ++i)
    readers_.emplace_back(std::make_unique<Reader>())->worker.memory = &memory;
}

void TargetInputs::begin(const Batch& batch, uint64_t step, int64_t update) {
  Inputs& to = inputs_;
  const size_t rows = batch.read.ids.size();
  to.ids.assign(batch.read.ids.begin(), batch.read.ids.end());
  const auto vocabulary = static_cast<int32_t>(model_.sizes().target_vocabulary);
  if (options_.target_noise > 0 && vocabulary > text::kMarks + 1) {
    const Draws draws(options_.seed, kNoise, step);
    for (size_t i = 0; i < rows; ++i)
      if (to.ids[i] != text::kBegin && draws.below(options_.target_noise, i))
        to.ids[i] = draws.other_piece(to.ids[i], vocabulary, i);
  }
  to.any_sampled = false;
  const double share = sampling_share(options_.sampling, update);
  if (share == 0) return;
  const Draws draws(options_.seed, kSampling, step);
  to.sampled.assign(rows, false);
  for (size_t i = 0; i < rows; ++i)
    if (batch.read.ids[i] != text::kBegin && draws.below(share, i)) to.any_sampled = to.sampled[i] = true;
  // What is said before a window begins was said in a batch that is gone.
  for (int64_t s = 0; s < batch.read.segments.count(); ++s)
    to.sampled[static_cast<size_t>(batch.read.segments.begin(s))] = false;
}

void TargetInputs::replace(int worker, Batch& piece) {
  Inputs& to = inputs_;
  const auto first = static_cast<size_t>(piece.read.first_row), rows = piece.read.ids.size();
  const auto own = std::span(to.ids).subspan(first, rows);
  if (to.any_sampled) {
    Reader& r = *readers_[static_cast<size_t>(worker)];
    r.rows.clear();
    for (size_t i = 1; i < rows; ++i)
      if (to.sampled[first + i]) r.rows.push_back(static_cast<int32_t>(i - 1));
    if (!r.rows.empty()) say(r, piece);  // it reads what is right
    for (size_t i = 0; i < r.rows.size(); ++i)
      if (r.said[i] >= 0) own[static_cast<size_t>(r.rows[i]) + 1] = r.said[i];
  }
  piece.read.ids = Column<int32_t>::view(own);
}

void TargetInputs::say(Reader& r, const Batch& piece) {
  const auto count = std::ssize(r.rows), vocabulary = model_.sizes().target_vocabulary;
  r.said.resize(r.rows.size());
  r.worker.arena.begin_step();
  Ctx& ctx = r.worker.ctx;
  Pass pass{ctx, model_.parameters()};
  pass.memory = r.worker.memory;
  pass.remembers = false;
  const Var hidden = model_.decode(pass, piece.source, piece.read);
  // A search never goes on after an end mark, but a text does after the end of a line.
  static constexpr int32_t kNever[] = {text::kPad, text::kBegin, text::kUnknown, text::kEnd};
  const auto never = std::span(kNever).first(piece.read.streams.empty() ? 4 : 3);
  const int64_t chunk = std::clamp<int64_t>(kLogits / vocabulary, 16, 4096);
  for (int64_t from = 0; from < count; from += chunk) {
    const int64_t n = std::min(chunk, count - from);
    const Var rows = gather_rows(ctx, hidden, ctx.input(Tensor(r.rows.data() + from, Shape{n})));
    const Var logits = model_.logits(pass, rows), log_probs = ctx.make(Shape{n, 1}, DType::f32, {});
    ctx.run([&] {
      kernels::candidates(
          {logits.value(), {.hidden = never}, Tensor(r.said.data() + from, Shape{n, 1}), log_probs.value()}, nullptr);
    });
  }
}

int64_t TargetInputs::rehearse(const Batch& piece) {
  if (readers_.empty()) return 0;
  Reader& r = *readers_.front();
  r.rows.resize(piece.read.ids.size());
  std::iota(r.rows.begin(), r.rows.end(), 0);
  r.worker.arena.start_rehearsal();
  say(r, piece);
  return r.worker.arena.finish_rehearsal().peak;
}

}  // namespace attune
