// A look as JSON, for programs and for the scripts of its page.
#pragma once
#include <string>

#include "attune/look.h"

namespace attune::show {

/// One object in one line, safe within a script of a page; weights with so many digits behind the point.
std::string json_of(const AttentionLook& look, int digits);

}  // namespace attune::show
