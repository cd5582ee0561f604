// How alike two models are that should be: both are made to say the same targets, and what each finds probable at every
// position is compared. For a model and its quantized copy.
#pragma once
#include "train/shard_pass.h"

namespace attune {

struct Agreement {
  int64_t tokens = 0;
  double divergence = 0;                   // KL(first || second) of the next token, nats, mean over all positions
  double same_best = 0;                    // share of positions where both find the same token most probable
  double first_loss = 0, second_loss = 0;  // negative log-likelihood of the targets, nats a token
};

/// Over all targets of a corpus, in order, in batches of the recipe's budget. Both models have the same vocabularies.
/// The result does not depend on the pool's threads.
Agreement agreement(const Model& first, const Model& second, const Corpus& corpus, const TrainOptions& options,
                    ThreadPool& pool);

}  // namespace attune
