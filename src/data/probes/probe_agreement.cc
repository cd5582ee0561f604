// Agreement at a distance, in a language that was made up.
#include <algorithm>
#include <array>
#include <utility>

#include "data/probes/probe_lines.h"

namespace attune {

namespace {

/// What a noun does stands before it; the verb's voice names one of them.
constexpr struct { const char *prefix, *voice; } kRoles[] = {{"ka", "ma"}, {"po", "in"}, {"su", "an"}, {"ni", "ip"}};

/// Nouns of three genders, which nothing in their form tells: a model has to learn them by heart. The plural ends in n.
constexpr const char* kNouns[3][6] = {
    {"belu", "sumi", "tano", "riga", "mole", "zuri"},
    {"daki", "novu", "sela", "miro", "tepa", "gulo"},
    {"toru", "leni", "gami", "sova", "peru", "vote"},
};
constexpr const char* kAdjectives[] = {"tiro", "vasel", "kemi", "doran", "huli", "pastu", "grelo", "fimas"};
constexpr const char* kAdverbs[] = {"alta", "ibre", "osko", "unel", "esti", "arvo", "ilun", "okra"};
/// By gender, singular and plural.
constexpr const char* kEndings[3][2] = {{"as", "ast"}, {"es", "est"}, {"os", "ost"}};

template <class T, size_t N>
const T& one_of(const T (&words)[N], Random& random) {
  return words[random.below(N)];
}

std::array<size_t, 4> shuffled_roles(Random& random) {
  std::array<size_t, 4> order{0, 1, 2, 3};
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

ProbeLine draw_agreement(Random& random, const AgreementLines& o) {
  const auto up_to = [&](int64_t most) { return 1 + random.below(static_cast<uint64_t>(most)); };
  const size_t count = o.easier ? up_to(o.nouns) : static_cast<uint64_t>(o.nouns),
               verbs = std::min<size_t>(count, o.easier ? up_to(o.verbs) : static_cast<uint64_t>(o.verbs));
  std::array<size_t, 4> order = shuffled_roles(random);  // of the nouns: the first so many of them
  std::array<const char*, 4> ending{};                   // by role
  std::string nouns;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t gender = random.below(3), plural = random.below(2);
    ending[order[i]] = kEndings[gender][plural];
    nouns += std::string(" ") + kRoles[order[i]].prefix + one_of(kNouns[gender], random) + (plural ? "n" : "");
    for (uint64_t n = random.below(3); n > 0; --n) nouns += std::string(" ") + one_of(kAdjectives, random);
  }
  ProbeLine line;
  size_t left = verbs;
  for (const size_t role : shuffled_roles(random)) {
    if (left == 0 || !ending[role]) continue;
    const std::string verb = std::string(left-- == verbs ? "" : " ") + kRoles[role].voice;
    line.source += verb;
    line.target += verb + ending[role];
  }
  for (uint64_t n = draw_gap(random, o.gap, o.easier); n > 0; --n)
    line.source += std::string(" ") + one_of(kAdverbs, random);
  line.source += nouns;
  return line;
}

}  // namespace attune
