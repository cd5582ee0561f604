#include "decode/search.h"

#include <algorithm>

#include "base/error.h"
#include "decode/beam.h"
#include "kernels/candidates.h"

namespace attune {

namespace {

constexpr int64_t kRowsAtOnce = 256;  // rows whose logits exist at the same time

class Search {
 public:
  Search(const Transformer& model, const Tokens& sources, const SearchOptions& options, Ctx& ctx)
      : model_(model), options_(options), pass_{ctx, model.parameters()} {
    std::vector<int32_t> source_of;
    for (int64_t s = 0; s < sources.segments->count(); ++s) {
      const int64_t longest = options.longest ? options.longest : 2 * sources.segments->length(s) + 10;
      beams_.emplace_back(options, std::min(longest, model.longest_target()));
      source_of.push_back(static_cast<int32_t>(s));
      longest_ = std::max(longest_, longest);
    }
    const Var encoded = model.encode(pass_, sources);
    active_ = source_of;
    state_ = model.start(pass_, encoded, *sources.segments, std::move(source_of), longest_);
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (!active_.empty()) step();
    std::vector<std::vector<Hypothesis>> all;
    for (const Beam& b : beams_) all.push_back(b.result());
    return all;
  }

 private:
  void step() {
    said_.clear();
    for (const int32_t s : active_)
      for (int64_t i = 0; i < beams_[static_cast<size_t>(s)].living(); ++i)
        said_.push_back(beams_[static_cast<size_t>(s)].last(i));
    find_candidates(model_.step(pass_, state_, said_));

    // Rows of the next step, sentence by sentence. Sentences that are done have none.
    parents_.clear();
    int64_t row = 0;
    size_t kept = 0;
    for (const int32_t s : active_) {
      Beam& beam = beams_[static_cast<size_t>(s)];
      const int64_t first = row, rows = beam.living();
      row += rows;
      gather(beam, first);
      beam.advance(ways_);
      if (beam.done()) continue;
      for (int64_t i = 0; i < beam.living(); ++i) parents_.push_back(static_cast<int32_t>(first) + beam.parent(i));
      active_[kept++] = s;
    }
    active_.resize(kept);
    state_.reorder(parents_);
  }

  /// The best tokens of every row.
  void find_candidates(const Var& hidden) {
    const int64_t rows = hidden.rows(), k = options_.beam + 1;
    ids_.resize(static_cast<size_t>(rows * k));
    log_probs_.resize(ids_.size());
    for (int64_t from = 0; from < rows; from += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, rows - from);
      const Var some = pass_.ctx.input(hidden.value().row_range(from, count));
      const Var logits = model_.logits(pass_, some);  // [count, V]
      kernels::candidates({logits.value(), options_.hidden, Tensor(ids_.data() + from * k, Shape{count, k}),
                           Tensor(log_probs_.data() + from * k, Shape{count, k})},
                          pass_.ctx.pool);
    }
  }

  /// How the hypotheses of a sentence, whose first row is `first`, can go on.
  void gather(const Beam& beam, int64_t first) {
    const int64_t k = options_.beam + 1;
    ways_.clear();
    for (int64_t i = 0; i < beam.living(); ++i)
      for (int64_t j = (first + i) * k; j < (first + i + 1) * k; ++j)
        if (const int32_t token = ids_[static_cast<size_t>(j)]; token >= 0)
          ways_.push_back({beam.log_prob(i) + static_cast<double>(log_probs_[static_cast<size_t>(j)]),
                           static_cast<int32_t>(i), token});
  }

  const Transformer& model_;
  const SearchOptions& options_;
  Pass pass_;
  std::vector<Beam> beams_;      // of each sentence
  std::vector<int32_t> active_;  // sentences that are not done, in order
  int64_t longest_ = 0;
  DecoderState state_;
  std::vector<int32_t> said_, parents_, ids_;
  std::vector<float> log_probs_;
  std::vector<Continuation> ways_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(const Transformer& model, const Tokens& sources,
                                            const SearchOptions& options, ThreadPool* pool, Arena& arena) {
  check(options.beam >= 1, "search", "a beam of {}", options.beam);
  check(options.n_best >= 1 && options.n_best <= options.beam, "search", "the {} best of a beam of {}", options.n_best,
        options.beam);
  for (const int32_t id : options.hidden)
    check(id >= 0 && id < model.sizes().target_vocabulary, "search", "token {} can't be hidden: there are {}", id,
          model.sizes().target_vocabulary);
  Ctx ctx(arena);
  ctx.pool = pool;
  return Search(model, sources, options, ctx).run();
}

}  // namespace attune
