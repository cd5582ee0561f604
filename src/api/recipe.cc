#include "attune/recipe.h"

#include "attune/mechanisms.h"
#include "base/text.h"
#include "recipe/settings.h"
#include "recipe/writer.h"

namespace attune {

namespace {

constexpr const char* kRecipesBegin = R"(# Recipes

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
In the formulas p is a weight, g its gradient and t the number of updates that were not skipped.
)";

constexpr const char* kDecoderReads = R"(
## What the decoder reads while it learns

By default it reads what is right (teacher forcing), though once it translates it will read its own words. Two keys make
it meet mistakes before; what it is to say stays what it was. Which tokens are replaced is a function of the seed, the
update and the place in the batch, so a run has the same bits on any threads and after any stop. Begin marks are never
replaced. Language models have both, too.

`target_noise = 0.1` replaces that share of the input tokens by another piece of the target vocabulary, each as probable
as any other; marks are not drawn. It costs next to nothing.

`sampling = { share = 0.25, from = 1000, over = 4000 }` replaces tokens by what the model itself would have said there:
none until update 1000, then a share that grows linearly to 0.25 at update 5000, where it stays. A first pass without
dropout and without gradients reads what is right and says the most probable piece after each token (no mark, but for the
line ends of texts); the second pass, the one that is learned from, reads these in the places drawn. The first pass is
made only where something is drawn, and only there is the vocabulary scored: with share = 0.25 an update of
multi30k-tiny takes 1.3 times as long (585 instead of 451 ms on one thread). A token that is sampled is not noised too.

From: Bengio et al. 2015, "Scheduled sampling for sequence prediction with recurrent neural networks"; Mihaylova, Martins
2019, "Scheduled sampling for Transformers" (the two passes).
)";

constexpr const char* kPieces = R"(
## Pieces that fall apart

`piece_dropout = 0.1` undoes that share of the merges a piece is made by, and of those its parts are made by likewise:
"▁running" is read or said whole nine times of ten, else as "▁runn" "ing", or as parts of these. Every epoch shows a
sentence in other pieces, on both sides, so that a model learns what words have in common; small sets gain most. It is
for tokenizers of kind bpe, unigram and wordpiece. Validation and translation use whole pieces. A sentence that would
get longer than the longest of the corpus stays whole. What falls apart is a function of the seed, the epoch and the
sentence.

From: Provilkov, Emelianenko, Voita 2020, "BPE-Dropout: simple and effective subword regularization". There merges are
left out from below, here they are undone from above: nothing is encoded again.
)";

constexpr const char* kGuide = R"(
## Guided attention

`guide = { weight = 1.0, kind = "diagonal" }` adds weight times a second loss to the first: what one cross-attention of
the decoder does wrong. A is the mean of its heads, or the weights of one `head`; row i is the target position that is
about to be said, of I, and j the source position, of J, marks counted. Dropout of attention weights is not looked at.
The loss is a mean over the target positions of an update, so that its weight means the same for any batch.

    diagonal: sum_j A_ij (1 - exp(-(i/I - j/J)^2 / (2 sigma^2)))

    alignment: - sum_j log(A_ij) / |j linked to i|, over the j that are linked to i

The diagonal is for pairs in about the same order: from 0, right on it, to 1, far off. With alignments,
`data.alignment = ["train.align"]` names a file for each pair of training files. A line has the links of a line, source
word first, counted from 0 between white space: `0-0 1-2` (the format of Pharaoh, which fast_align and awesome-align
write); every piece of a word goes with every piece of the words it is linked to, and a target piece without a link does
not count. The default layer, the last but one, is the one that tells most about who translates what even without a
guide. `attune translate --alignment` and `--align-to` go by the guided layer and head; `attune metric aer` scores what
they say (docs/alignment.md). The loss of the guide is `guide_loss` in metrics.jsonl. It needs a softmax of dot products
from decoder to encoder, whose weights are made once more for it, a pair of sentences at a time: an update of
multi30k-tiny takes 3 % more CPU time.

From: Tachibana et al. 2017, "Efficiently trainable text-to-speech system based on deep convolutional networks with guided
attention" (there the mean over j as well, which makes the weight depend on J); Chen et al. 2016, "Guided alignment
training for topic-aware neural machine translation"; Garg et al. 2019, "Jointly learning to align and translate with
Transformer models".
)";

constexpr const char* kTraining = R"(
## Starting from a model

`train.start = "DIR"` begins with the weights of a model folder or a checkpoint; optimiser, schedule and data begin
anew. Without a `[tokenizer]` its tokenizer is taken too; with one, rows of the vocabulary are matched by the text of
their pieces. `start_parts` says what to take and `freeze` what to leave alone, by the beginning of parameters' names:
`["encoder", "decoder.0", "embedding"]`. [fine-tuning.md](fine-tuning.md) has examples.

## Memory

`memory = "4G"` (units `K`, `M`, `G`, `T` of 1,024, or `4GiB`) is the most that training may take, known before its
first update; validations take a little more. With `batch_tokens = "auto"` the largest budget that fits, a multiple of
256 up to 65,536, is chosen once and written into the run's recipe; a `batch_tokens` that does not fit is an error that
names one that does (exit 8). It depends on the threads, each of which works on a shard of its own. `recompute = true`
is gradient checkpointing: less memory for about a third more time, and the same bits; [performance.md](performance.md)
has figures.

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
  std::string out = kRecipesBegin, section = "none yet";
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
  return out + optimizers_section() + kDecoderReads + kPieces + kGuide + kTraining + kEnd + "```toml\n" +
         recipe_text(Recipe{}) + "```\n";
}

}  // namespace attune
