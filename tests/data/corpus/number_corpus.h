// A corpus in files whose words are numbers, and encoders that read them.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/files.h"

namespace attune::test {

using Strings = std::vector<std::string>;
using Ids = std::vector<int32_t>;

/// A word is the number it says.
inline Ids numbers(std::string_view text) {
  Ids ids;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) ids.push_back(std::atoi(std::string(text.substr(at, end - at)).c_str()));
    at = end + 1;
  }
  return ids;
}
inline const Encoders kNumbers{numbers, [](std::string_view text) {
                                 Ids ids = numbers(text);
                                 for (int32_t& i : ids) i = -i;
                                 return ids;
                               }};

inline Ids ids_of(std::span<const int32_t> s) { return {s.begin(), s.end()}; }

/// Line i is "i i+1 ...", 1 to 9 words on each side.
inline Strings write_corpus(const TempFolder& dir, const std::string& name, int lines) {
  std::string source, target;
  for (int i = 0; i < lines; ++i) {
    for (int j = 0; j <= i % 9; ++j) source += std::to_string(i + j) + " ";
    for (int j = 0; j <= i % 7; ++j) target += std::to_string(i + j) + " ";
    source += "\n";
    target += "\n";
  }
  return {put(dir / (name + ".en"), source), put(dir / (name + ".de"), target)};
}

inline bool operator==(const Corpus& a, const Corpus& b) {
  return a.source.ids == b.source.ids && a.source.start == b.source.start && a.target.ids == b.target.ids &&
         a.target.start == b.target.start;
}

}  // namespace attune::test
