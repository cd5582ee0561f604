// Global rows that are no words: they stand in front of each sequence, see all and are seen by all ("external" in Lin
// et al. 2021, section 4.1.1).
#pragma once
#include <algorithm>

#include "model/own_rows.h"
#include "tensor/pattern.h"

namespace attune {

/// As many as are asked for, of a short sequence no more than it has rows.
class ExternalRows : public OwnRows {
 public:
  explicit ExternalRows(int64_t count) : count_(count) {}
  int64_t of(int64_t length) const override { return std::min(count_, length); }
  int64_t kinds() const override { return count_; }
  int64_t kind(int64_t, int64_t i) const override { return i; }

  /// Their pairs, of sequences that have them in front.
  std::shared_ptr<const Atom> atom() const {
    struct External : Atom {
      explicit External(int64_t most) : most_(most) {}
      void keys(int64_t i, const PatternRows& rows, std::vector<KeyRun>& out) const override {
        const int64_t external = std::min(most_, (rows.length + 1) / 2);
        out.push_back({0, i < external ? Atom::kFar : external});
      }
      int64_t most_;
    };
    return std::make_shared<External>(count_);
  }

 private:
  int64_t count_;
};

}  // namespace attune
