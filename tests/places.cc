#include "places.h"

namespace attune::test {

const std::string& source_dir() {
  static const std::string path = ATTUNE_SOURCE_DIR;
  return path;
}

const std::string& program_path() {
  static const std::string path = ATTUNE_PROGRAM;
  return path;
}

}  // namespace attune::test
