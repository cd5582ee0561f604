// The text of the error that something throws, which must be of the given kind.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "attune/error.h"

namespace attune::test {

template <class F>
std::string error_of(F f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace attune::test
