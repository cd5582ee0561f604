// What sums of log-probabilities say about a model, as people report it: for commands that score text.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace attune {

/// exp of the mean loss a token. `log_probability` is the sum of natural logarithms, 0 or less.
inline double perplexity(double log_probability, int64_t tokens) {
  return tokens > 0 ? std::exp(-log_probability / static_cast<double>(tokens)) : 1;
}

/// The mean code length in bits of a token, a character or a byte: whatever `units` counts. Bits a character can be
/// compared between tokenizers, bits a token can't.
inline double bits_per(double log_probability, int64_t units) {
  return units > 0 ? -log_probability / (std::numbers::ln2 * static_cast<double>(units)) : 0;
}

}  // namespace attune
