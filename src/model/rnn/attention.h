// The seam where the attention of recurrent decoders plugs in: at each step a row asks the source by its state, and
// gets what it reads and by which weights; those of the step before are there to ask by. One file per kind, one line in
// attentions.inc; a recipe names it by model.cross_attention.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/fields.h"
#include "kernels/row_attention.h"
#include "model/blueprint.h"
#include "model/pass.h"

namespace attune {

struct RecurrentAttentionSetup {
  int64_t query = 0, read = 0, width = 0;  // numbers of a state that asks, of a row that is read, and of the model
};

/// Rows of the encoder as they are asked: made once per source.
struct RecurrentSources {
  Var keys, values;
  const Segments* segments = nullptr;
};

/// What rows ask at one step.
struct StepQuery {
  Var state;                           // [rows or more, query]
  std::span<const int32_t> index;      // which rows of all these are
  std::span<const int32_t> source_of;  // which sequence each reads
  Var last = {};  // the weights of the step before, of these rows and perhaps more; none: the first
};
struct StepRead {
  Var context;  // [rows, read]
  Var weights;  // [pairs, 1], row after row
};

/// An attention taken through steps.
class RecurrentAttentionSteps {
 public:
  virtual ~RecurrentAttentionSteps() = default;
  virtual StepRead operator()(Ctx& ctx, const StepQuery& query) const = 0;
};

class RecurrentAttention {
 public:
  virtual ~RecurrentAttention() = default;
  virtual RecurrentSources sources(const Pass& pass, const Var& encoded, const Segments& segments) const = 0;
  /// Steps of so many rows in all.
  virtual std::unique_ptr<RecurrentAttentionSteps> steps(const Pass& pass, const RecurrentSources& sources,
                                                         int64_t rows) const = 0;
  /// Operations for each row and what it reads.
  virtual double operations_per_pair() const = 0;
  /// Numbers of weights that a row of the source, and of the target, is multiplied by.
  virtual double source_weights() const = 0;
  virtual double target_weights() const = 0;
};

struct RecurrentAttentionKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
};
/// All there are, in the order of attentions.inc.
const std::vector<RecurrentAttentionKind>& recurrent_attention_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& recurrent_attention_options();
/// ErrorKind::recipe, naming the key, for a kind or options there are not.
std::unique_ptr<RecurrentAttention> make_recurrent_attention(const Choice& choice, const RecurrentAttentionSetup& setup,
                                                             const Blueprint& b, const std::string& key);

}  // namespace attune
