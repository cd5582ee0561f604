// The alignment error rate (Och and Ney 2003, "A systematic comparison of various statistical alignment models",
// section 6): how far links of words are from those that people made, some of them sure, some possible.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

struct AlignmentError {
  double score = 0;                  // in percent: 100 (1 - (|A and S| + |A and P|) / (|A| + |S|)); 0 without any links
  double precision = 0, recall = 0;  // in percent: |A and P| / |A|, |A and S| / |S|
  int64_t links = 0;                 // |A|
  std::string signature;
};

/// Lines of links (text/links.h). In the reference "1-2" is sure, and possible too, "1p2" is possible; of what is
/// scored all are links. ErrorKind::data, with the line, for what is no link.
AlignmentError alignment_error(const std::vector<std::string>& hypotheses, const std::vector<std::string>& reference);

}  // namespace attune
