// Everything that reads what others wrote, as functions of bytes: for the mutator of the tests (fuzz_test.cc) and for
// libFuzzer (libfuzzer.cc) alike. Whatever the bytes are, a reader takes them or throws an Error.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attune::test {

struct FuzzFormat {
  const char* name;
  /// Whole ones, to begin with.
  std::vector<std::string> (*seeds)();
  /// Reads all of it; `folder` is one to write files to.
  void (*read)(std::string_view bytes, const std::string& folder);
};
const std::vector<FuzzFormat>& fuzz_formats();

}  // namespace attune::test
