#include "run/validation_data.h"

#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace attune {

std::string why_no_validation_data(const Recipe& recipe) {
  constexpr uintmax_t kMostBytes = 256 << 20;  // of training text, to find what was held out
  const DataSettings& d = recipe.data;
  const bool named = !d.valid.empty();
  const std::vector<std::string> files = named ? d.valid : std::vector<std::string>(d.train.begin(), d.train.end());
  uintmax_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (error) return fmt::format("{} is not there", file);
    bytes += size;
  }
  if (!named && bytes > kMostBytes)
    return fmt::format(
        "the recipe names no validation data, and the training data, of which some was held out, are large");
  return "";
}

TrainingData validation_data(const Recipe& recipe, const Tokenizers& tokenizers, ThreadPool& pool) {
  TrainingData data;
  if (recipe.data.valid.empty()) {
    data = read_training_data(recipe.data, encoders_of(recipe, tokenizers), recipe.train.seed, &pool);
    data.train = {};
    return data;
  }
  check_files("data.valid", recipe.data.valid, recipe.data.encoding);
  LoadedCorpus loaded = read_corpus(recipe.data.valid, "data.valid", recipe.data, encoders_of(recipe, tokenizers),
                                    &pool, [&](std::string_view source, std::string_view target) {
                                      data.valid_source.emplace_back(source);
                                      data.valid_target.emplace_back(target);
                                    });
  data.valid = std::move(loaded.corpus);
  data.valid_report = std::move(loaded.report);
  return data;
}

}  // namespace attune
