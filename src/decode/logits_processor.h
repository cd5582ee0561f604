// The seam of what changes the next token of a search beside the model: a list of these goes over the logits of each
// hypothesis, by what it has said so far. They look at one hypothesis at a time, so a sentence stays apart from its
// batch.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace attune {

class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  /// Changes the logits of a row. `said` are the different tokens of the hypothesis that have a column here, ascending,
  /// as the columns they have.
  virtual void weigh(std::span<const int32_t> /*said*/, float* /*logits*/) const {}
  virtual bool weighs() const { return false; }
  /// Appends tokens that may not come after `length` tokens, which are `said` where it looks back.
  virtual void ban(int64_t /*length*/, std::span<const int32_t> /*said*/, std::vector<int32_t>& /*to*/) const {}
  virtual bool looks_back() const { return false; }
};

/// In the order in which they apply.
using LogitsProcessors = std::vector<std::shared_ptr<const LogitsProcessor>>;

/// Lets all of them change the logits of a row, by tokens that were said in any order, which become different ones,
/// ascending.
void weigh_by(const LogitsProcessors& processors, std::vector<int32_t>& said, float* logits);

/// What people can ask for by numbers.
struct ProcessorOptions {
  int64_t shortest = 0;  // tokens before the end mark
  int32_t end = 2;       // the mark; -1: there is none
  double repetition_penalty = 1;
  int64_t no_repeat = 0;  // so many tokens in a row are not said twice; 0: they may be
};
/// Those that do something.
LogitsProcessors make_processors(const ProcessorOptions& options);

}  // namespace attune
