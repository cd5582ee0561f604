// Which instruction set the kernels run on: the best this CPU has, unless one is forced.
#pragma once
#include <string>
#include <vector>

namespace attune {

/// The sets this program has kernels for and this CPU can run, best first: "avx512", "avx2", "baseline".
std::vector<std::string> available_isas();
/// The one in use.
std::string chosen_isa();
/// Uses that one from now on ("" or "auto": the best). Throws a usage error for a name that is unknown or can't run
/// here.
void force_isa(const std::string& name);
/// Whether a set has fused multiply-add: sets that have it give the same bits.
bool isa_has_fma(const std::string& name);

}  // namespace attune
