#include "attune/probe.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "data/probes/probe_lines.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kValidLines = 500, kTestLines = 1000;

using Draw = std::function<ProbeLine(Random&)>;

/// What a probe is made of.
struct Kind {
  const char *name, *sentence;
  int64_t lines;     // to train on
  const char* uses;  // which of the options it has
  int layers;        // of the encoder
  const char* updates;
  Draw (*drawer)(const ProbeOptions&, bool training);
};

void take(int64_t given, int64_t& value, const char* name, int64_t least, int64_t most) {
  if (given == 0) return;
  if (given < least || given > most) fail(ErrorKind::usage, "{} = {}, wanted {} to {}", name, given, least, most);
  value = given;
}

const Kind kKinds[] = {
    {"copy", "to copy beads in the order of the colours that were called for long before them", 40'000, "gap", 2,
     "1500u",
     [](const ProbeOptions& o, bool training) -> Draw {
       CopyLines lines{.easier = training};
       take(o.gap, lines.gap, "gap", 4, 100'000);
       return [lines](Random& r) { return draw_copy(r, lines); };
     }},
    {"listops", "to work out nested lists of MAX, MIN, FIRST and LAST", 100'000, "depth words", 3, "2500u",
     [](const ProbeOptions& o, bool training) -> Draw {
       ListOpsLines lines{.easier = training};
       take(o.depth, lines.depth, "depth", 1, 20);
       take(o.words, lines.words, "words", 4, 10'000);
       return [lines](Random& r) { return draw_listops(r, lines); };
     }},
    {"agreement", "to put verbs in the gender and number of the nouns that their voices name, many words after them",
     40'000, "gap", 2, "2500u",
     [](const ProbeOptions& o, bool training) -> Draw {
       AgreementLines lines{.easier = training};
       take(o.gap, lines.gap, "gap", 4, 100'000);
       return [lines](Random& r) { return draw_agreement(r, lines); };
     }},
};

const Kind& find(const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& k : kKinds) {
    if (name == k.name) return k;
    names.emplace_back(k.name);
  }
  const std::string near = closest_name(name, names);
  fail(ErrorKind::usage, "there is no probe '{}'. {}", name,
       near.empty() ? "There are: " + join(names, ", ") : "Did you mean '" + near + "'?");
}

void refuse_unused(const Kind& kind, const ProbeOptions& o) {
  for (const auto& [name, value] : {std::pair{"gap", o.gap}, {"depth", o.depth}, {"words", o.words}})
    if (value != 0 && std::string_view(kind.uses).find(name) == std::string_view::npos)
      fail(ErrorKind::usage, "the probe '{}' has no {}\n  fix: leave it out; it has {}", kind.name, name, kind.uses);
}

std::vector<ProbePair> draw_lines(int64_t count, const Draw& draw, Random& random, std::set<std::string>& seen) {
  std::vector<ProbePair> pairs;
  int repeated = 0;  // one after another
  while (std::ssize(pairs) < count) {
    ProbeLine line = draw(random);
    if (!seen.insert(line.source).second) {
      if (++repeated > 10'000)
        fail(ErrorKind::usage, "there are too few different lines of that size\n  fix: ask for fewer or longer ones");
      continue;
    }
    repeated = 0;
    pairs.push_back({std::move(line.source), std::move(line.target)});
  }
  return pairs;
}

int64_t longest_of(const std::vector<ProbePair>& pairs) {
  int64_t most = 0;
  for (const ProbePair& p : pairs)
    most = std::max<int64_t>(most, 1 + std::count(p.source.begin(), p.source.end(), ' '));
  return most;
}

/// One decoder layer with a single head from it to the encoder: the decoder can look somewhere, but what it should look
/// at must have been worked out by the encoder's own attention, which is what is probed.
std::string probe_recipe(const Kind& kind, int64_t longest) {
  const int64_t room = (longest + 31) / 32 * 32;
  int64_t budget = 2048;
  while (budget < 32 * room) budget *= 2;
  return fmt::format(R"(# A probe: {}.
# `attune new probe:{}` writes the data beside it; recipes/probes/README.md tells what to expect.
# `attune info recipe` explains every key.
task = "translate"

[data]
train = ["data/train.in", "data/train.out"]
valid = ["data/valid.in", "data/valid.out"]
test = ["data/test.in", "data/test.out"]
max_length = {}

[tokenizer]
kind = "word"

[model]
encoder_layers = {}
decoder_layers = 1            # looks once at what the encoder made of the line:
cross_heads = 1               # the encoder's own attention has to do the work
d_model = 64
d_ff = 128
heads = 4
dropout = 0.0                 # there is no noise to overfit
norm = "pre"                  # learns in fewer updates than "post"
position = "sinusoidal"       # which every mechanism can take
attention = "softmax"         # compare --over model.attention=... tries others

[train]
batch_tokens = {}
shards = 4
stop = "{}"
schedule = "linear"
learning_rate = 3e-3
warmup = 100
label_smoothing = 0.0
clip = 1.0
validate = "250u"
metric = "exact"              # the share of lines without a fault
save = "500u"
keep = 1
average = 1
seed = 1
)",
                     kind.sentence, kind.name, room, kind.layers, budget, kind.updates);
}

void save_side(const std::string& path, const std::vector<ProbePair>& pairs, std::string ProbePair::*side) {
  std::string text;
  for (const ProbePair& p : pairs) text += p.*side + "\n";
  write_file(path, text);
}

}  // namespace

std::vector<ProbeDescription> probes() {
  std::vector<ProbeDescription> all;
  for (const Kind& k : kKinds) all.push_back({k.name, k.sentence});
  return all;
}

Probe make_probe(const std::string& name, const ProbeOptions& options) {
  const Kind& kind = find(name);
  refuse_unused(kind, options);
  int64_t lines = kind.lines;
  take(options.lines, lines, "lines", 1, 10'000'000);
  const auto draw = kind.drawer(options, false);
  Random random(options.seed);
  std::set<std::string> seen;
  Probe p{kind.name, kind.sentence, {}, {}, {}, {}};
  // Tested first: other training lines do not change them.
  p.test = draw_lines(kTestLines, draw, random, seen);
  p.valid = draw_lines(kValidLines, draw, random, seen);
  p.train = draw_lines(lines, kind.drawer(options, true), random, seen);
  p.recipe = probe_recipe(kind, std::max({longest_of(p.train), longest_of(p.valid), longest_of(p.test)}));
  return p;
}

void save_probe(const Probe& probe, const std::string& folder, bool replace) {
  const std::string recipe = folder + "/recipe.toml";
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    fail(ErrorKind::usage, "{} is not a folder\n  fix: choose another name by --out", folder);
  if (!replace && fs::exists(recipe, ignored) && read_file(recipe) != probe.recipe)
    fail(ErrorKind::usage, "{} is there already and says something else\n  fix: {}", recipe,
         "choose another folder by --out, or replace it by --force");
  make_folder(folder + "/data");
  const struct {
    const char* name;
    const std::vector<ProbePair>& pairs;
  } parts[] = {{"train", probe.train}, {"valid", probe.valid}, {"test", probe.test}};
  for (const auto& [name, pairs] : parts) {
    save_side(folder + "/data/" + name + ".in", pairs, &ProbePair::source);
    save_side(folder + "/data/" + name + ".out", pairs, &ProbePair::target);
  }
  write_file(recipe, probe.recipe);
}

}  // namespace attune
