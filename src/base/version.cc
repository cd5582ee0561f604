#include "attune/version.h"

namespace attune {

const char* version() { return ATTUNE_VERSION; }

}  // namespace attune
