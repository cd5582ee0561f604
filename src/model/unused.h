// Settings that would change nothing: refused when a run begins, so that nobody waits for what can't come.
#pragma once
#include "recipe/settings.h"

namespace attune {

/// ErrorKind::recipe for a key whose value the model, its shape or the task has no use for. Those that have their usual
/// value pass, for a recipe that was written out has them all; so does what the file says where the command line chose
/// another family, shape or task than it was written for.
void refuse_unused(const Recipe& recipe);

}  // namespace attune
