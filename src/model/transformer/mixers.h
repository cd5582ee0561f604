// What may stand where self-attention stands in a block of a Transformer: the registry behind model.mixer. One file per
// kind, one line in mixers.inc.
#pragma once
#include "model/attention/mechanism.h"
#include "model/input/input.h"
#include "model/mixer.h"

namespace attune {

/// Where a mixer stands: which layer of which side, after which input.
struct MixerSetup {
  const ModelOptions& options;
  const Input& input;
  int layer = 0;
  bool causal = false;
};

struct MixerKind {
  const char* name;
  const char* sentence;
  const char* cite;
};
/// All there are, in the order of mixers.inc.
const std::vector<MixerKind>& mixer_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& mixer_options();

/// Makes that of a layer. ErrorKind::recipe for a kind or options there are not.
std::unique_ptr<Mixer> make_mixer(const MixerSetup& setup, const Blueprint& place);

/// Heads and dropout of an attention layer; `own_heads` 0: as many as the model's.
AttentionSetup attention_setup(const Blueprint& b, const ModelOptions& o, int64_t own_heads);

}  // namespace attune
