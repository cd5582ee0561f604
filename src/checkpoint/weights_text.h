// What the weights of a model file are, as its metadata tells: the best ones of a run, a mean of some, a copy.
#pragma once
#include <string>

#include "checkpoint/safetensors.h"

namespace attune {

// Keys of the metadata.
constexpr const char* kWeights = "weights";       // one of kWeightsKinds
constexpr const char* kUpdate = "update";         // the update they are of; of a mean, the last
constexpr const char* kEnded = "ended";           // updates of the run that ended with them
constexpr const char* kScore = "score";           // "bleu 18.2", on the run's validation set
constexpr const char* kAverageOf = "average_of";  // the folders of a mean: "step-00001200 step-00001400"
constexpr const char* kQuantized = "quantized";   // the type of a copy

/// In the order of FinalWeights::Kind.
constexpr const char* kWeightsKinds[] = {"best", "last", "mean", "trained"};

/// "the best, update 1,900 of 2,000: bleu 18.2", "the mean of 5 checkpoints, updates 1,200 to 2,000", "int8 copy of
/// ..."; "" where the metadata does not tell.
std::string weights_text(const Metadata& metadata);
/// Whether weights_text tells what this key does.
bool tells_weights(const std::string& key);

}  // namespace attune
