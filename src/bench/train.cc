// Training speed: the updates of a run, without its checkpoints and validations.
#include <algorithm>
#include <vector>

#include "attune/bench.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/load.h"
#include "data/corpus/training_data.h"
#include "data/prefetch.h"
#include "inference/model_files.h"
#include "inference/predictor.h"
#include "kernels/matrix/gemm.h"
#include "model/unused.h"
#include "model/usual_position.h"
#include "run/start_model.h"
#include "train/loop.h"

namespace attune {

namespace {

TrainFigure measured(const TrainBench& bench, const Recipe& recipe) {
  ThreadPool pool(bench.threads);
  if (recipe.train.batch_tokens.automatic())
    fail(ErrorKind::recipe,
         "train.batch_tokens = \"auto\" is chosen when a run begins\n  fix: add --set train.batch_tokens=4096");
  Tokenizers tokenizers = recipe.tokenizer_of_start ? StartModel(recipe).tokenizers() : learn_tokenizers(recipe);
  if (recipe.tokenizer_of_start) tokenizers.labels = learn_labels_of(recipe);
  TrainingData data = read_training_data(recipe.data, encoders_of(recipe, tokenizers), recipe.train.seed, &pool);
  let_pieces_drop(tokenizers, recipe.train, data.train);
  Model model(recipe.model, sizes_of(recipe, tokenizers), recipe.train.freeze);
  model.initialize(recipe.train.seed);
  Learner learner(model, recipe.train, largest_of(data.train), pool);
  Batches batches(data.train, batch_options(recipe.train));
  Prefetch prefetch(batches);

  TrainFigure figure;
  std::vector<double> times;
  double flops = 0, before = 0;
  int64_t sources = 0, targets = 0;
  Stopwatch all;
  LoadMeter meter;
  for (int64_t i = -bench.warm; i < bench.updates; ++i) {
    if (i == 0) {
      before = peak_gflops(bench.threads);
      all.restart();
      meter.restart();
    }
    const Stopwatch watch;
    const Batch* batch = &prefetch.next();
    const UpdateResult r = learner.update({&batch, 1}, {.last = static_cast<double>(bench.warm + bench.updates)});
    if (i < 0) continue;
    times.push_back(watch.seconds());
    flops += r.flops;
    sources += r.source_tokens;
    targets += r.target_tokens;
    figure.loss = r.loss;
  }
  figure.load = meter.load();
  const double seconds = all.seconds(), peak = (before + peak_gflops(bench.threads)) / 2;
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  figure.ms_per_update = 1000 * times[times.size() / 2];
  figure.target_tokens_per_s = static_cast<double>(targets) / seconds;
  figure.source_tokens_per_s = static_cast<double>(sources) / seconds;
  figure.gflops = flops / seconds / 1e9;
  figure.share_of_gemm_peak = figure.gflops / peak;
  figure.peak_rss_mb = static_cast<double>(peak_resident_bytes()) / (1 << 20);
  figure.estimated_mb = static_cast<double>(learner.memory().total()) / (1 << 20);
  figure.parameters = model.parameters().numbers();
  figure.vocabulary = model.sizes().target_vocabulary;
  figure.updates = bench.updates;
  return figure;
}

}  // namespace

TrainFigure bench_train(const TrainBench& bench) {
  check(bench.threads >= 1 && bench.updates >= 1 && bench.warm >= 0, "bench train", "{} threads, {} updates",
        bench.threads, bench.updates);
  Recipe recipe = load_recipe_for_run(bench.recipe, bench.sets);
  return with_places(recipe.places, [&] {
    settle_position(recipe);
    refuse_unused(recipe);
    return measured(bench, recipe);
  });
}

}  // namespace attune
