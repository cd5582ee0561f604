// One shard through a model on one thread: forward, and backward where gradients are wanted.
#pragma once
#include "autograd/tape.h"
#include "data/shards.h"
#include "model/transformer.h"

namespace attune {

/// A thread's own context. The tape is in use where ctx.tape says so.
struct Worker {
  Arena arena;
  Ctx ctx{arena};
  Tape tape;
};

/// The loss of a shard; with a tape, its gradients are added to `gradients`.
double run_shard(Worker& worker, const Transformer& model, const Shard& shard, Gradients* gradients,
                 const LossOptions& options);

}  // namespace attune
