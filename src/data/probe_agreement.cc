// Agreement at a distance, in a language that was made up.
#include <array>
#include <utility>

#include "data/probe_lines.h"

namespace attune {

namespace {

/// A particle says what a noun does; the verb's voice names one of them.
constexpr struct { const char *particle, *voice; } kRoles[] = {{"ka", "ma"}, {"po", "in"}, {"su", "an"}, {"ni", "ip"}};

/// Nouns of three genders, which nothing in their form tells: a model has to learn them by heart. The plural ends in n.
constexpr const char* kNouns[3][12] = {
    {"belu", "sumi", "tano", "riga", "mole", "kari", "feno", "duva", "lisa", "pemo", "zuri", "hola"},
    {"daki", "novu", "sela", "miro", "tepa", "gulo", "rane", "visi", "bato", "kuma", "fili", "wesu"},
    {"toru", "leni", "gami", "sova", "peru", "nilo", "hada", "ruke", "zami", "vote", "dila", "mesu"},
};
constexpr const char* kAdjectives[] = {"tiro", "vasel", "kemi", "doran", "huli", "pastu", "grelo", "fimas"};
constexpr const char* kAdverbs[] = {"alta", "ibre", "osko", "unel", "esti", "arvo", "ilun", "okra"};
constexpr const char* kStems[] = {"daro", "fenta", "gilu", "hespo", "jalmi", "korve", "lundo", "mespa"};
/// By gender, singular and plural.
constexpr const char* kEndings[3][2] = {{"as", "ast"}, {"es", "est"}, {"os", "ost"}};

template <class T, size_t N>
const T& one_of(const T (&words)[N], Random& random) {
  return words[random.below(N)];
}

}  // namespace

ProbeLine draw_agreement(Random& random, const AgreementLines& o) {
  std::array<size_t, 4> order{0, 1, 2, 3};
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const size_t subject = random.below(order.size());
  ProbeLine line;
  const char* ending = "";
  for (const size_t role : order) {
    const uint64_t gender = random.below(3), plural = random.below(2);
    if (role == subject) ending = kEndings[gender][plural];
    line.source += std::string(kRoles[role].particle) + " " + one_of(kNouns[gender], random) + (plural ? "n " : " ");
    for (uint64_t n = random.below(3); n > 0; --n) line.source += std::string(one_of(kAdjectives, random)) + " ";
  }
  const auto least = static_cast<uint64_t>(o.gap * 3 / 4), most = static_cast<uint64_t>(o.gap);
  for (uint64_t n = least + random.below(most - least + 1); n > 0; --n)
    line.source += std::string(one_of(kAdverbs, random)) + " ";
  const std::string stem = one_of(kStems, random);
  line.source += std::string(kRoles[subject].voice) + " " + stem;
  line.target = stem + " " + ending;
  return line;
}

}  // namespace attune
