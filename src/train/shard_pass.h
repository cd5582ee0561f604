// One shard through a model on one thread: forward, and backward where gradients are wanted.
#pragma once
#include "autograd/tape.h"
#include "data/shards.h"
#include "model/model.h"
#include "model/stream_memory.h"

namespace attune {

/// Before the shards of a batch: the streams it goes on. None where it has sentences.
void begin_batch(StreamMemory& memory, const Batch& batch);

/// A thread's own context. The tape is in use where ctx.tape says so.
struct Worker {
  Arena arena;
  Ctx ctx{arena};
  Tape tape;
  StreamMemory* memory = nullptr;  // of the streams that shards go on; shared with the other threads
  bool recompute = false;

  /// Makes it one that learns.
  void learn(const TrainOptions& options, StreamMemory& streams) {
    ctx.tape = &tape;
    ctx.training = true;
    ctx.seed = options.seed;
    recompute = options.recompute;
    memory = &streams;
  }
};

struct ShardLoss {
  double loss = 0;
  double guide = 0;  // what the guided layer added to it
};
/// The loss of a shard; with a tape, its gradients are added to `gradients`. Where a layer is guided, its loss is
/// learned from too.
ShardLoss run_shard(Worker& worker, const Model& model, const Batch& shard, Gradients* gradients,
                    const LossOptions& options, const GuidedLayer* guided = nullptr);

}  // namespace attune
