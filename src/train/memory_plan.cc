#include "train/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "train/gradient_tree.h"
#include "train/guidance.h"
#include "train/target_inputs.h"

namespace attune {

Largest largest_of(const Corpus& corpus) {
  Largest l(corpus.longest());
  if (corpus.source_layout.empty()) return l;
  l.source_layout = corpus.source_layout;
  l.target_layout = corpus.target_layout;
  l.examples = corpus.size();
  ExampleBuffer buffer;
  for (int64_t i = 0; i < corpus.size(); ++i) {
    const Example e = corpus.example(i, buffer);
    if (i > 0 && l.source_layout.rows(e.source) < l.source_layout.longest) continue;
    l.source.assign(e.source.begin(), e.source.end());
    l.target.assign(e.target.begin(), e.target.end());
    if (l.source_layout.rows(e.source) == l.source_layout.longest) break;
  }
  return l;
}

namespace {

/// As many of it as `rows` may hold.
Batch many_of(const Largest& largest, int64_t rows) {
  Batch b;
  const int64_t count = std::clamp<int64_t>((rows + largest.rows - 1) / largest.rows, 1, largest.examples);
  for (int64_t i = 0; i < count; ++i) {
    largest.source_layout.unpack(largest.source, b.source);
    Wanted& t = b.target();
    if (!largest.target_layout.empty()) {
      largest.target_layout.unpack(largest.target, t.right, &t.weights);
      continue;
    }
    t.right.ids.append(largest.target);
    t.right.segments.add(std::ssize(largest.target));
  }
  return b;
}

}  // namespace

Rehearsed rehearse(Worker& w, const Model& model, const TrainOptions& o, const Largest& largest, Gradients* gradients) {
  const int64_t longest = largest.rows;
  // The cut is by tokens of both sides, to the nearest end of a sentence. The sentences of a language model are often
  // all of one length: then no more pieces can be made than there are sentences.
  const bool two_sides = reads_source(model.options().shape);
  int64_t pieces = o.shards * o.slices;
  while (pieces > 1 && (two_sides ? 2 * o.batch_tokens.tokens < pieces * kLeastShardTokens
                                  : o.batch_tokens.tokens < pieces * std::max(kLeastShardTokens, longest)))
    pieces /= 2;
  // A batch that is not quite full may be cut in half as many.
  const int64_t half = two_sides ? kLeastShardTokens : 2 * std::max(kLeastShardTokens, longest);
  const int64_t rows = std::max(o.batch_tokens.tokens / pieces, std::min(o.batch_tokens.tokens, half)) + longest;
  const std::vector<int32_t> ids(static_cast<size_t>(rows), 0);
  std::vector<int32_t> lengths(static_cast<size_t>(rows / longest), static_cast<int32_t>(longest));
  if (rows % longest) lengths.push_back(static_cast<int32_t>(rows % longest));
  if (model.head()) {  // one that is long, and many short ones: a word between two marks
    constexpr int32_t kShortest = 3;
    lengths.assign(1, static_cast<int32_t>(longest));
    for (int64_t left = rows - longest; left > 0; left -= kShortest)
      lengths.push_back(static_cast<int32_t>(std::min<int64_t>(left, kShortest)));
  }
  const auto some = [&](const Segments& segments) {
    return rows_of(std::span(ids).first(static_cast<size_t>(segments.rows())), segments);
  };
  Batch s;
  if (!largest.source_layout.empty()) {
    s = many_of(largest, rows);
  } else {
    s.source = some(Segments::of_lengths(lengths));
    s.target().right = model.head() ? some(model.head()->most_answers(s.source.segments)) : s.source;
  }
  if (model.decoder()) s.read = s.target().right;
  std::vector<int32_t> streams(w.memory->in_use() ? lengths.size() : 0);
  std::iota(streams.begin(), streams.end(), 0);
  s.read.streams = streams;
  w.memory->pretend_full(std::ssize(s.read.streams));
  Rehearsed r;
  r.to_sample = TargetInputs(model, o, *w.memory, 1).rehearse(s);
  const Guidance guidance(model, o.guide);
  const GuidedLayer guided = guidance.of(s, 0);
  // With dropout and all: where it is on, a step asks for other memory.
  w.arena.start_rehearsal();
  run_shard(w, model, s, gradients, {.smoothing = static_cast<float>(o.label_smoothing)},
            guidance.on() ? &guided : nullptr);
  w.memory->begin(0, true);
  r.worker = w.arena.finish_rehearsal();
  return r;
}

MemoryEstimate estimate_memory(const Model& model, const TrainOptions& o, const Rehearsed& plan,
                               const PlannedRun& run) {
  const int64_t numbers = model.parameters().size() * static_cast<int64_t>(sizeof(float));
  MemoryEstimate m;
  m.parameters = 3 * numbers;  // the weights, and their panels for both directions
  m.moments = run.remembered + (o.ema > 0 ? numbers : 0);
  m.gradients = GradientTree::most(run.threads, o.shards * o.accumulate) * model.parameters().changing() *
                static_cast<int64_t>(sizeof(float));
  m.activations = run.threads * (plan.worker.peak + plan.to_sample);
  m.streams = StreamMemory(model.memories()).bytes(o.batch_tokens.tokens / run.longest + 1);
  return m;
}

std::function<MemoryEstimate(TokenBudget)> memory_by_budget(Model& model, const TrainOptions& options,
                                                            const Largest& largest, int threads) {
  struct Rehearsal {
    explicit Rehearsal(const Model& model) : streams(model.memories()), gradients(model.parameters()) {}
    StreamMemory streams;
    Gradients gradients;
    Worker worker;
  };
  const auto r = std::make_shared<Rehearsal>(model);
  r->worker.learn(options, r->streams);
  const PlannedRun run{threads, largest.rows, make_optimizer(options, model.parameters())->bytes()};
  return [r, run, options, largest, &model](TokenBudget budget) {
    TrainOptions o = options;
    o.batch_tokens = budget;
    r->gradients.start();
    return estimate_memory(model, o, rehearse(r->worker, model, o, largest, &r->gradients), run);
  };
}

namespace {

std::string megabytes(int64_t bytes) { return thousands((bytes + (1 << 20) - 1) >> 20) + " MB"; }

}  // namespace

TokenBudget budget_in(const TrainOptions& o, int64_t least, const std::function<int64_t(TokenBudget)>& need) {
  const int64_t limit = o.memory.bytes;
  if (limit == 0) return o.batch_tokens;
  if (!o.batch_tokens.automatic() && need(o.batch_tokens) <= limit) return o.batch_tokens;
  const auto fits = [&](int64_t steps) { return need({steps * kTokenStep}) <= limit; };
  int64_t low = std::max<int64_t>((least + kTokenStep - 1) / kTokenStep, 1),
          high = std::max(kMostTokens / kTokenStep, low);
  if (!o.batch_tokens.automatic()) high = std::max(low, std::min(high, o.batch_tokens.tokens / kTokenStep));
  const char* others = o.recompute ? "train.slices = 2" : "train.recompute = true";
  if (!fits(low))
    fail(ErrorKind::memory,
         "train.memory = \"{}\": training needs {} even with batches of {} tokens\n  fix: raise train.memory, set {}, "
         "or "
         "make the model smaller",
         o.memory.text(), megabytes(need({low * kTokenStep})), thousands(low * kTokenStep), others);
  while (low < high) {  // what is needed grows with the budget, but for steps where a batch is cut in more shards
    const int64_t middle = (low + high + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  const int64_t tokens = low * kTokenStep;
  if (o.batch_tokens.automatic()) return {tokens};
  fail(ErrorKind::memory,
       "training with train.batch_tokens = {} needs {}, and train.memory = \"{}\" is {}\n  fix: set train.batch_tokens "
       "= "
       "{}, which fits, or {}, or raise train.memory",
       o.batch_tokens.tokens, megabytes(need(o.batch_tokens)), o.memory.text(), megabytes(limit), tokens, others);
}

}  // namespace attune
