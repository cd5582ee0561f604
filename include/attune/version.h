// The version of attune: the one place it is written down (the build reads it from here).
#pragma once

#define ATTUNE_VERSION "0.1.0"

namespace attune {

/// The version of the library that is linked, which may differ from the header's.
const char* version();

}  // namespace attune
