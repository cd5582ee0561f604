// What a finished model can be judged on again: data.valid, or what its run held out of the training data.
#pragma once
#include "data/corpus/training_data.h"
#include "data/tokenizers.h"
#include "recipe/settings.h"

namespace attune {

/// Why there is none, "" where there is: the files are gone, or so large that reading them again takes long.
std::string why_no_validation_data(const Recipe& recipe);

/// Its training text is read too where nothing is named, and left behind. ErrorKind::data or io where that fails.
TrainingData validation_data(const Recipe& recipe, const Tokenizers& tokenizers, ThreadPool& pool);

}  // namespace attune
