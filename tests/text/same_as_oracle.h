// That a tokenizer does what SentencePiece does.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/oracle.h"

namespace attune::text::test {

inline void expect_same(const Oracle& oracle, const Tokenizer& ours, const std::vector<std::string>& lines) {
  for (const std::string& raw : lines) {
    const std::string line = normalize(raw);
    const std::vector<int> ids = oracle.EncodeAsIds(line);
    ASSERT_EQ(ours.encode(raw), ids) << line;
    ASSERT_EQ(ours.decode(ids), oracle.DecodeIds(ids)) << line;
  }
}

}  // namespace attune::text::test
