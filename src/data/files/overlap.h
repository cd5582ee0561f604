// Examples to judge a model by that it was trained on, too: `attune new` and `attune train` tell of them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/files/data_files.h"

namespace attune {

/// Of some files that are not for training.
struct Overlap {
  int64_t examples = 0;  // looked at: up to kMost; of lines, those that are long enough to be no accident
  int64_t in_train = 0;  // of them: what is read of them stands in the training files, letter by letter, pixel by pixel
  const char* unit = "texts";

  static constexpr int64_t kMost = 1'000'000;
  /// A sentence with what to do; "" where there is nothing to tell. `what`: "validation" or "test".
  std::string sentence(const std::string& what) const;
};
struct Overlaps {
  Overlap valid, test;
  std::vector<std::string> sentences() const;
};

/// Reads valid and test, which may be none, then train; memory goes by the examples of the former.
Overlaps count_overlaps(const DataSettings& data, Sides sides);

}  // namespace attune
