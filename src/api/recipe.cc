#include "attune/recipe.h"

#include "attune/mechanisms.h"
#include "base/text.h"
#include "recipe/settings.h"
#include "recipe/writer.h"

namespace attune {

namespace {

constexpr const char* kBegin = R"(# Recipes

<!-- Written by `attune info recipe --markdown`; a test compares. -->

A recipe says all that a run depends on: the data, the tokenizer, the model and how it is trained. It is a
[TOML](https://toml.io) file; what it leaves out has the default below. `--set model.d_model=256` on the command line
overrides the file; its value is TOML too, and a bare word is a text. A key that does not exist, a value of the wrong
type or out of its range is an error that names the line.

Periods have a unit: `8000u` updates, `5e` epochs, `2Mt` tokens, `10m` minutes; `K` and `M` multiply.
Where a mechanism is chosen, `attention = "softmax"` names it, `attention = { kind = "band", width = 64 }` sets its
options too, and a list has one entry per layer from the bottom, beginning again when it ends.
)";

constexpr const char* kOptimizers = R"(
## Optimisers

`optimizer = "adam"` names one, `optimizer = { kind = "sgd", momentum = 0.95 }` sets its options too. `weight_decay`
belongs to all of them and never goes through the gradients; `beta1`, `beta2` and `epsilon` are those of adam and adamw.
In the formulas p is a weight, g its gradient and t the number of the update.
)";

constexpr const char* kTraining = R"(
## Starting from a model

`train.start = "DIR"` begins with the weights of a model folder or a checkpoint; optimiser, schedule and data begin
anew. Without a `[tokenizer]` its tokenizer is taken too; with one, rows of the vocabulary are matched by the text of
their pieces. `start_parts` says what to take and `freeze` what to leave alone, by the beginning of parameters' names:
`["encoder", "decoder.0", "embedding"]`. [fine-tuning.md](fine-tuning.md) has examples.

## Memory

`memory = "4G"` (units `K`, `M`, `G`, `T` of 1,024, or `4GiB`) is the most a run may take, known before its first
update. With `batch_tokens = "auto"` the largest budget that fits, a multiple of 256 up to 65,536, is chosen once and
written into the run's recipe; a `batch_tokens` that does not fit is an error that names one that does (exit 8). It
depends on the threads, each of which works on a shard of its own. `recompute = true` is gradient checkpointing: less
memory for about a third more time, and the same bits; [performance.md](performance.md) has figures.

## When training goes wrong

Updates whose gradients are not numbers are skipped and counted. Ten in a row, or a loss that has given back half of
what was learned as a mean of a hundred updates, take the run back to its last good checkpoint, and it goes on at half
the rate. When there was no good one since, it ends with advice (exit 7), and the checkpoint is still there.
)";

constexpr const char* kEnd = R"(
## All of it

)";

std::string code(const std::string& text) { return text.empty() ? "" : "`" + markdown_cell(text) + "`"; }

constexpr const char* kTable = "| key | default | type or range | meaning |\n|---|---|---|---|\n";

std::string row_of(const RecipeKey& k, const std::string& name) {
  return "| `" + name + "` | " + code(k.standard) + " | " + markdown_cell(k.range.empty() ? k.type : k.range) + " | " +
         markdown_cell(k.sentence) + " |\n";
}

std::string optimizers_section() {
  std::string out = kOptimizers;
  for (const Described& d : optimizers()) {
    out += "\n### " + d.name + "\n\n" + d.sentence + ".\n\n    " + d.formula + "\n\nFrom: " + d.cite + ".\n";
    if (!d.options.empty()) out += std::string("\n") + kTable;
    for (const RecipeKey& k : d.options) out += row_of(k, k.key);
  }
  return out;
}

}  // namespace

std::vector<RecipeKey> recipe_keys() {
  std::vector<RecipeKey> keys;
  Recipe defaults;
  for (const Field& f : fields_of(defaults))
    keys.push_back({f.name, f.type(), literal_of(f.get()), f.rule.text(), f.sentence});
  return keys;
}

std::string recipe_reference() {
  std::string out = kBegin, section = "none yet";
  for (const RecipeKey& k : recipe_keys()) {
    const size_t dot = k.key.rfind('.');
    const std::string at = dot == std::string::npos ? "" : k.key.substr(0, dot);
    if (at != section) {
      section = at;
      out += at.empty() ? "\n" : "\n## [" + at + "]\n\n";
      out += kTable;
    }
    out += row_of(k, dot == std::string::npos ? k.key : k.key.substr(dot + 1));
  }
  return out + optimizers_section() + kTraining + kEnd + "```toml\n" + recipe_text(Recipe{}) + "```\n";
}

}  // namespace attune
