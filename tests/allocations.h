// Counts calls of operator new, so that a test can tell that a step allocates nothing.
#pragma once
#include <cstdint>

namespace attune {

/// Calls of operator new in this process so far.
int64_t allocation_count();

}  // namespace attune
