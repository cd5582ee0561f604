#include "model/attention/sparse.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"

namespace attune {

namespace {

using Kind = PatternAtom::Kind;

struct AtomName {
  const char* name;
  Kind kind;
  const char* more;  // its second number
};
constexpr AtomName kAtoms[] = {{"band", Kind::band, "gap"},    {"global", Kind::global, ""},
                               {"random", Kind::random, ""},   {"block", Kind::block, ""},
                               {"strided", Kind::strided, ""}, {"columns", Kind::columns, "summary"}};
constexpr int64_t kMost = 1 << 20;

/// One of the atoms, as a recipe has it.
struct AtomText {
  std::string key, text;
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::recipe,
         "{}: the atom \"{}\" {}\n  fix: for example atoms = [{{ band = 128 }}, {{ global = 2 }}]; there are band "
         "(gap), "
         "global, random, block, strided and columns (summary)",
         key, text, why);
  }
  int64_t number(std::string_view word) const {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size() || n < 1 || n > kMost)
      refuse(fmt::format("wants a number from 1 to {}, not \"{}\"", kMost, word));
    return n;
  }
};

}  // namespace

std::vector<PatternAtom> parse_atoms(const std::string& text, const std::string& key) {
  std::vector<PatternAtom> atoms;
  std::string parts = text;
  std::replace(parts.begin(), parts.end(), '+', ',');  // where a comma would end a list on a command line
  for (const std::string& part : split(parts, ',')) {
    const AtomText atom{key, std::string(trim(part))};
    const std::vector<std::string_view> words = words_of(atom.text);
    const AtomName* known = nullptr;
    for (const AtomName& a : kAtoms)
      if (!words.empty() && words[0] == a.name) known = &a;
    if (!known) atom.refuse("is none");
    if (words.size() < 2) atom.refuse("lacks its number");
    PatternAtom a{known->kind, atom.number(words[1]), 1};
    if (words.size() == 4 && words[2] == known->more)
      a.gap = atom.number(words[3]);
    else if (words.size() != 2)
      atom.refuse("says too much");
    if (a.kind == Kind::columns && a.gap > a.size) atom.refuse("has more summary columns than there are");
    atoms.push_back(a);
  }
  return atoms;
}

SparseAttention::SparseAttention(std::vector<PatternAtom> atoms, int64_t block, int64_t seed,
                                 const AttentionSetup& setup, const Blueprint&)
    : setup_(setup),
      patterns_({std::move(atoms), block, setup.causal, attune::mix(static_cast<uint64_t>(seed), setup.site)}) {}

BatchPattern SparseAttention::pattern_of(const Segments& segments) const {
  BatchPattern all{&patterns_.pattern(), {}};
  for (int64_t s = 0; s < segments.count(); ++s) all.segments.push_back(patterns_.of_length(segments.length(s)));
  return all;
}

Var SparseAttention::mix(const Pass& pass, const Projected& p) const {
  const auto pattern = keep(pass.ctx, pattern_of(*p.queries));
  Attention a = dot_attention(pass, setup_, p, Mask{.causal = setup_.causal});
  a.pattern = pattern.get();
  return attention(pass.ctx, a);
}

std::unique_ptr<AttentionState> SparseAttention::state(int64_t rows) const {
  const int64_t reach = patterns_.pattern().reach();
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv(),
                                    reach == Pattern::kFar ? KeyCache::kEverything : reach + 1);
}

Var SparseAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  cache.append(p, setup_.width_kv());
  std::vector<int32_t> keys;
  patterns_.pattern().keys_of(cache.steps() - 1, keys);
  return step_dot(pass, setup_, p, {.cache = cache, .chosen = keys});
}

bool SparseAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const BatchPattern pattern = pattern_of(*p.queries);
  dot_weights(pass, setup_, p, Mask{.causal = setup_.causal}, out, {}, &pattern);
  return true;
}

double SparseAttention::operations(const Parameters&, const Segments& queries, const Segments&) const {
  double pairs = 0;
  for (int64_t s = 0; s < queries.count(); ++s)
    pairs += static_cast<double>(patterns_.of_length(queries.length(s))->pairs());
  return 4 * static_cast<double>(setup_.width()) * pairs;
}

}  // namespace attune
