#include "kernels/isa.h"

#include <hwy/targets.h>

#include <algorithm>

#include "base/error.h"

namespace attune {

namespace {
struct Isa {
  const char* name;
  int64_t target;
  bool fma;
};
#if HWY_ARCH_X86
constexpr Isa kIsas[] = {{"avx512", HWY_AVX3, true}, {"avx2", HWY_AVX2, true}, {"baseline", HWY_STATIC_TARGET, false}};
#elif HWY_ARCH_ARM
constexpr Isa kIsas[] = {{"neon", HWY_STATIC_TARGET, true}};
#else
constexpr Isa kIsas[] = {{"baseline", HWY_STATIC_TARGET, false}};
#endif
std::string g_chosen;

bool runs_here(const Isa& isa) {
  return isa.target == HWY_STATIC_TARGET || (hwy::SupportedTargets() & isa.target) != 0;
}
}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Isa& isa : kIsas)
    if (runs_here(isa)) names.emplace_back(isa.name);
  return names;
}

std::string chosen_isa() { return g_chosen.empty() ? available_isas().front() : g_chosen; }

bool isa_has_fma(const std::string& name) {
  return std::any_of(std::begin(kIsas), std::end(kIsas), [&](const Isa& i) { return name == i.name && i.fma; });
}

void force_isa(const std::string& name) {
  if (name.empty() || name == "auto") {
    g_chosen.clear();
    hwy::GetChosenTarget().DeInit();
    return;
  }
  std::string known;
  for (const Isa& isa : kIsas) {
    if (!runs_here(isa)) continue;
    known += (known.empty() ? "" : ", ") + std::string(isa.name);
    if (name != isa.name) continue;
    g_chosen = name;
    hwy::GetChosenTarget().Update(isa.target);
    return;
  }
  fail(ErrorKind::usage, "this CPU has no instruction set '{}' that attune knows\n  fix: one of {}, auto", name, known);
}

}  // namespace attune
