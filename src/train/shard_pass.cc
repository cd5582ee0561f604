#include "train/shard_pass.h"

#include "autograd/operations/elementwise.h"

namespace attune {

void begin_batch(StreamMemory& memory, const Batch& batch) {
  if (!batch.read.streams.empty()) memory.begin(batch.read.streams.back() + 1, batch.first);
}

ShardLoss run_shard(Worker& w, const Model& model, const Batch& shard, Gradients* gradients, const LossOptions& options,
                    const GuidedLayer* guided) {
  w.arena.begin_step();
  Pass pass{w.ctx, model.parameters(), gradients};
  pass.memory = w.memory;
  pass.recompute = w.recompute;
  GuidedLayer layer = guided ? *guided : GuidedLayer();
  pass.guided = guided ? &layer : nullptr;
  ShardLoss values;
  const Var loss = model.loss(pass, shard, options);
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
