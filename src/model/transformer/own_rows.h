// What a stack does for attention that has rows of its own (model/own_rows.h): puts them in front of the sequences that
// enter, and takes them away from what leaves.
#pragma once
#include <memory>
#include <vector>

#include "model/encoder.h"
#include "model/own_rows.h"
#include "model/transformer/block.h"

namespace attune {

class StackOwnRows {
 public:
  /// Null where no block has any. ErrorKind::recipe where blocks have different ones.
  static std::unique_ptr<StackOwnRows> of(const std::vector<Block>& blocks, const Blueprint& stack, int64_t d_model);

  Encoded with(const Pass& pass, const Encoded& rows) const;
  /// Those of the sequences alone, so many in all, of `all` that with() made.
  Var without(const Pass& pass, const Var& x, const Segments& all, int64_t words) const;
  /// What such a sequence's rows attended to, of a look at all of them.
  void without(AttentionTap& tap) const;
  Segments with(const Segments& sequences) const;

 private:
  std::shared_ptr<const Segments> rehearsed_most(Ctx& ctx, const Segments& at_hand) const;
  StackOwnRows(const OwnRows& rows, const Blueprint& stack, int64_t d_model);

  const OwnRows& rows_;
  int begin_;
  int64_t most_below_;  // of lengths up to kShort, the one that has most of them for its length
};

}  // namespace attune
