// What attention, positions and optimisers a recipe can choose, described by the code that does them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attune/recipe.h"

namespace attune {

/// A family of models, an input, a mixer, a mechanism, score, normaliser, position scheme, optimiser, head or pool.
struct Described {
  std::string name, sentence, formula;
  std::string cost;  // of families and mechanisms; else ""
  std::string cite;
  std::vector<RecipeKey> options;  // keys without a section
  std::string details = {};        // of mechanisms and positions: what the formula leaves open
};

/// Whole families, `model.kind`; what becomes of words or vectors first, `model.input`; what stands in the first part
/// of a block, `model.mixer`.
std::vector<Described> models();
std::vector<Described> inputs();
std::vector<Described> mixers();

/// What mixes with what: `model.attention`.
struct Mechanism : Described {
  bool causal = true;    // can stand in a decoder
  bool cross = true;     // can look from decoder to encoder
  bool step = true;      // can go on one position at a time
  std::string relative;  // what relative positions may change here: "scores", "queries and keys", or ""
  // where Chaudhari et al. 2019 put it
  std::string sequences, levels, positions, representations;
};
std::vector<Mechanism> mechanisms();

/// Which query sees which key.
struct PatternPicture {
  std::string mechanism;   // as a command line has it: "bigbird(block=4;random=1)"
  bool causal = false;     // as in a decoder
  int64_t length = 0;      // positions
  std::vector<bool> sees;  // [length, length]: of each query, the keys
  double density = 0;      // the share of all pairs that is seen; causal, of those that may be
};
/// Of a mechanism by its name and options ("bigbird", "band(width=9)"), as a layer of it works on rows drawn by chance;
/// without options with those that show best in 64 positions. ErrorKind::usage for one that there is not, or that has
/// no pattern: sums have none.
PatternPicture picture_pattern(const std::string& mechanism, bool causal = false, int64_t length = 64);
/// As text, a letter for two queries and a key; as a PNG file. Of long ones many pairs are one square.
std::string draw_pattern(const PatternPicture& picture);
void write_pattern(const PatternPicture& picture, const std::string& png_file);

/// How well a key fits a query, and how scores become weights: options `score` and `normalizer` of softmax.
struct ScoreOrNormalizer : Described {
  bool normalizer = false;
};
std::vector<ScoreOrNormalizer> scores();

/// How a row learns where it stands: `model.position`.
struct Position : Described {
  std::string relative;  // what it changes in every attention layer, instead of being added to the embeddings; or ""
};
std::vector<Position> positions();

/// How weights follow from gradients: `train.optimizer`. docs/recipe.md has them.
std::vector<Described> optimizers();

/// What is said about a text, `model.head`, and how a text becomes a vector, `model.pool`. docs/labels.md has them.
std::vector<Described> heads();
std::vector<Described> pools();

/// All but the optimisers, heads and pools as a page of Markdown: docs/mechanisms.md.
std::string mechanisms_reference();

}  // namespace attune
