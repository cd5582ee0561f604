#include "train/shard_pass.h"

#include "autograd/elementwise.h"

namespace attune {

void begin_batch(StreamMemory& memory, const Batch& batch) {
  if (!batch.streams.empty()) memory.begin(batch.streams.back() + 1, batch.first);
}

Examples examples_of(const Shard& shard) {
  const auto tensor = [](std::span<const int32_t> ids) {
    return Tensor(ids.data(), Shape{static_cast<int64_t>(ids.size())});
  };
  return {{tensor(shard.source), &shard.source_segments, shard.source_first_row},
          {tensor(shard.target_in), &shard.target_segments, shard.target_first_row, shard.streams},
          tensor(shard.target_out),
          shard.weights.empty() ? Tensor() : Tensor(shard.weights.data(), Shape{std::ssize(shard.weights)}),
          {shard.link_start, shard.links}};
}

ShardLoss run_shard(Worker& w, const Transformer& model, const Shard& shard, Gradients* gradients,
                    const LossOptions& options, const GuidedLayer* guided) {
  w.arena.begin_step();
  Pass pass{w.ctx, model.parameters(), gradients};
  pass.memory = w.memory;
  pass.recompute = w.recompute;
  GuidedLayer layer = guided ? *guided : GuidedLayer();
  pass.guided = guided ? &layer : nullptr;
  ShardLoss values;
  const Var loss = model.loss(pass, examples_of(shard), options);
  w.ctx.run([&] {
    values.loss = static_cast<double>(*loss.value().as<float>());
    if (layer.loss) values.guide = static_cast<double>(*layer.loss.value().as<float>());
  });
  const Var all = layer.loss ? add(w.ctx, loss, layer.loss) : loss;
  // A batch that goes around every sublayer that is not frozen has nothing to teach.
  if (w.ctx.tape && all.needs_grad()) w.tape.backward(w.ctx, all);
  if (w.ctx.tape) w.tape.clear();
  return values;
}

}  // namespace attune
