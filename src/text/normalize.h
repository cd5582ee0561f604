// One spelling for texts that mean the same: Unicode's NFKC (full-width and ligature forms become plain ones, letters
// and their accents become one character), lower case if wanted, and white space as single spaces, none at the ends.
//
// White space is what Unicode calls so, line ends and tabs included, and U+200B and U+2581 ("▁", which stands for the
// space in pieces). Control characters, soft hyphens, byte order and direction marks are left out. Broken UTF-8
// becomes U+FFFD, which stays. Normalizing twice changes nothing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune::text {

/// Characters [begin, end) of a line, counted from 0.
struct Span {
  int32_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
};

/// With `spans`, tells for each byte of the result which characters of `line` it was made of.
std::string normalize(std::string_view line, bool lowercase = false, std::vector<Span>* spans = nullptr);

}  // namespace attune::text
