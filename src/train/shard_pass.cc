#include "train/shard_pass.h"

namespace attune {

void begin_batch(StreamMemory& memory, const Batch& batch) {
  if (!batch.streams.empty()) memory.begin(batch.streams.back() + 1, batch.first);
}

double run_shard(Worker& w, const Transformer& model, const Shard& shard, Gradients* gradients,
                 const LossOptions& options) {
  const auto tensor = [](std::span<const int32_t> ids) {
    return Tensor(ids.data(), Shape{static_cast<int64_t>(ids.size())});
  };
  w.arena.begin_step();
  Pass pass{w.ctx, model.parameters(), gradients};
  pass.memory = w.memory;
  const Examples examples{
      {tensor(shard.source), &shard.source_segments, shard.source_first_row},
      {tensor(shard.target_in), &shard.target_segments, shard.target_first_row, shard.streams},
      tensor(shard.target_out),
      shard.weights.empty() ? Tensor() : Tensor(shard.weights.data(), Shape{std::ssize(shard.weights)})};
  double value = 0;
  const Var loss = model.loss(pass, examples, options);
  w.ctx.run([&] { value = static_cast<double>(*loss.value().as<float>()); });
  if (w.ctx.tape) w.tape.backward(w.ctx, loss);
  return value;
}

}  // namespace attune
