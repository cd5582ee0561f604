// A text while it comes into being: what Translator and Generator hand to whoever wants to watch.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace attune {

struct StreamedToken {
  size_t line = 0;    // of those that were given
  int number = 0;     // which of its samples; of a beam always 0
  std::string token;  // a piece
  /// What the text becomes longer by. Sometimes nothing yet: bytes of a letter that is not complete.
  std::string text;
};

/// Called as soon as a token is certain: greedy and samples, when it is chosen; of a beam what all begin with that may
/// still win, and at its end the rest. One call at a time, whatever the threads. False: that line says no more.
using OnToken = std::function<bool(const StreamedToken&)>;

}  // namespace attune
