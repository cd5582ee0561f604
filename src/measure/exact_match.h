// The share of lines that equal a reference, for tasks with one right answer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

struct ExactMatch {
  double score = 0;  // 0 to 100
  int64_t right = 0, lines = 0;
  std::string signature;
};

/// references[k][i] belongs to hypotheses[i], which is right when it equals one of them to the byte (with `lowercase`,
/// in lower case). ErrorKind::data when the counts differ.
ExactMatch exact_match(const std::vector<std::string>& hypotheses,
                       const std::vector<std::vector<std::string>>& references, bool lowercase = false);

}  // namespace attune
