// Word alignments as text, a line for each pair of sentences: "0-0 1-2" (the format of Pharaoh, source word first,
// counted from 0). A link that is possible rather than sure is written with a p: "1p2".
#pragma once
#include <compare>
#include <string_view>
#include <vector>

namespace attune::text {

struct Link {
  int source = 0, target = 0;
  bool possible = false;
  auto operator<=>(const Link&) const = default;
};

/// Reads a line into `links`, in its order. Returns the first thing in it that is no link; "" when all are.
std::string_view read_links(std::string_view line, std::vector<Link>& links);

}  // namespace attune::text
