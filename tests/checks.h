// Small helpers that tests of every folder share.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/isa.h"

namespace attune {

/// Forces an instruction set for a scope.
class IsaScope {
 public:
  explicit IsaScope(const std::string& name) { force_isa(name); }
  ~IsaScope() { force_isa("auto"); }
  IsaScope(const IsaScope&) = delete;
  IsaScope& operator=(const IsaScope&) = delete;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// The message of the Error that f must throw, and of which kind.
template <class F>
std::string error_of(F&& f, std::optional<ErrorKind> kind = {}) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind.value_or(e.kind())) << e.what();
    return e.what();
  }
  return "no error";
}

/// What an error says is wrong, without the remedy.
inline std::string without_fix(const std::string& error) { return error.substr(0, error.find("\n  fix: ")); }

}  // namespace attune
