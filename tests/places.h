// Where the tests find what they compare with. One source knows the paths, so that a cache of compiled files can serve
// several checkouts.
#pragma once
#include <string>

namespace attune::test {

/// The checkout that is tested.
const std::string& source_dir();
/// build/attune.
const std::string& program_path();

}  // namespace attune::test
