// What people ask first when they have an accuracy: which labels are found, and which are taken for which.
#pragma once
#include <string>
#include <vector>

#include "attune/test.h"

namespace attune {

/// What confusions call no label, or no span; and behind a type, a span of it that has not the same words.
inline constexpr const char* kNoLabel = "(none)";
inline constexpr const char* kOtherWords = ", other words";

/// What was read, what is right and what was said, a line each. Of words and spans a line has a label for each word.
struct AnsweredLines {
  const std::vector<std::string>&sources, &right, &said;
};

/// Labels, sets of them and words are counted as f1 counts them, spans as span-f1 does. A set confuses two labels where
/// one is missing and another is there instead; a span where another type, or none, stands on its words.
LabelReport label_report(LabelReport::Of of, const AnsweredLines& lines);

}  // namespace attune
