// The same readers under libFuzzer: ATTUNE_FUZZ_FORMAT=csv build-fuzz/tests/attune_fuzz -max_total_time=60. A folder of
// whole files to begin with: --seeds FOLDER writes one.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "attune/error.h"
#include "fuzz/formats.h"
#include "places.h"
#include "run_program.h"

namespace {

using attune::test::FuzzFormat;

const FuzzFormat& chosen() {
  const char* name = std::getenv("ATTUNE_FUZZ_FORMAT");
  for (const FuzzFormat& f : attune::test::fuzz_formats())
    if (name && std::strcmp(f.name, name) == 0) return f;
  std::fprintf(stderr, "attune_fuzz: set ATTUNE_FUZZ_FORMAT to one of");
  for (const FuzzFormat& f : attune::test::fuzz_formats()) std::fprintf(stderr, " %s", f.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const FuzzFormat& format = chosen();
  if (*count == 3 && std::strcmp((*arguments)[1], "--seeds") == 0) {
    int number = 0;
    for (const std::string& s : format.seeds()) {
      const std::string path = std::string((*arguments)[2]) + "/" + format.name + std::to_string(number++);
      FILE* out = std::fopen(path.c_str(), "wb");
      if (!out || std::fwrite(s.data(), 1, s.size(), out) != s.size() || std::fclose(out) != 0) std::exit(1);
    }
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FuzzFormat& format = chosen();
  static const attune::test::TempFolder folder(attune::test::memory_folder());
  try {
    format.read({reinterpret_cast<const char*>(data), size}, folder.path());
  } catch (const attune::Error& e) {
    if (e.kind() == attune::ErrorKind::internal || e.kind() == attune::ErrorKind::usage) std::abort();
  }
  return 0;
}
