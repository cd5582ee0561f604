// The seam where models plug in. A family is one file (or a folder) with an encoder, a decoder or both, its options and
// its citation, and one line in families.inc; a recipe names it (model.kind), for both sides or for each.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/fields.h"
#include "model/blueprint.h"
#include "model/decoder.h"
#include "model/encoder.h"
#include "model/spelling.h"
#include "recipe/settings.h"

namespace attune {

/// Sizes that come from the data, not from the recipe.
struct ModelSizes {
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  int64_t longest = 257;                   // positions of the longest sequence, its mark counted
  std::vector<int64_t> label_groups = {};  // where several heads answer: how many labels each of them has
  int64_t source_width = 0;                // numbers of a row, where the source is no words ...
  std::vector<int64_t> source_grid = {};   // ... and of its places, the most on each axis; none: the index alone
  Letters source_letters = {};             // how each word of the source is spelled
  int64_t target_width = 0;                // numbers of a row that is wanted, where it is a vector
};

/// Where one side of a model stands.
struct SideSetup {
  const ModelOptions& options;
  const ModelSizes& sizes;
  Choice kind;             // of the family, with its options
  std::string key;         // "model.kind", "model.encoder"
  int table = -1;          // the embeddings, where both sides share them
  int64_t read_width = 0;  // of a decoder: columns of the encoder's rows; 0: there is none
};

/// What people should know about a family.
struct ModelKind {
  const char* name;
  const char* sentence;
  const char* path;  // steps between any two positions
  const char* cost;  // of a layer
  const char* cite;
  bool encodes = true, decodes = true;
  std::span<const char* const> ignores = {};  // keys of [model] that it has no use for (model/unused.cc)
};
/// All there are, in the order of families.inc.
const std::vector<ModelKind>& model_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& model_kind_options();

/// Makes one side of the chosen family. ErrorKind::recipe, naming the key, for a kind or options there are not, and for
/// a family without that side.
std::unique_ptr<Encoder> make_encoder(const SideSetup& setup, const Blueprint& place);
std::unique_ptr<Decoder> make_decoder(const SideSetup& setup, const Blueprint& place);

}  // namespace attune
