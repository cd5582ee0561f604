// The seam where answers plug in: what a model says about rows, its encoder's or its decoder's (a label for each text,
// a label for each word, a number), and what it costs when the right answer is known. One file per kind, one line in
// kinds.inc.
//
// Answers are rows of i32, like the words of a translation, so that corpora, batches and shards need not know of them:
// a label is its number; a text has one of them, or some, or one for each word.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/fields.h"
#include "model/blueprint.h"
#include "model/encoder.h"
#include "model/spelling.h"

namespace attune {

/// The rows that a head speaks of, and the answers where they are known. All that it points to outlives the backward
/// pass.
struct HeadInput : Encoded {
  HeadInput(Encoded rows, const Wanted* w) : Encoded(std::move(rows)), wanted(w) {}
  const Segments& texts() const { return rows->segments; }
  const Segments& answers() const { return wanted->right.segments; }  // how many answers each text has
  /// Of each answer: its word's rows, counted from the begin of the text.
  const Edges& words() const { return wanted->right.edges; }

  const Wanted* wanted;
};

/// Where a head stands: how wide rows are, how texts become vectors, how many labels there are.
struct HeadSetup {
  int64_t d_model = 0, labels = 0;
  int64_t vocabulary = 0;
  Letters letters = {};
  int64_t width = 0;                 // of vectors that are wanted
  std::vector<int64_t> groups = {};  // of several heads: how many labels each has
  Choice pool{"mean"};
  float dropout = 0;
  int embedding = -1;   // the parameter of the words' own embeddings
  bool direct = false;  // rows are scores already
};

class Head {
 public:
  virtual ~Head() = default;
  /// A row for each text, or for each word: scores of the labels, or the number itself.
  virtual Var scores(const Pass& pass, const HeadInput& in) const = 0;
  /// scale times the sum of what all answers cost, [1].
  virtual Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const = 0;
  /// Whether a text counts once, however many answers it has: what a sum of losses is divided by.
  virtual bool counts_texts() const { return false; }
  /// As many answers as such texts may have, for the planning of memory.
  virtual Segments most_answers(const Segments& texts) const;
  /// What the scores of one text mean: the answers, as `right` would have them. `moves`, where answers follow each
  /// other, are added to those that were learned (kernels/vocabulary/viterbi.h): what is impossible is -inf there.
  virtual std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves = {}) const = 0;
  /// Scores of one text as people are shown them: where answers follow each other, what each is worth among all
  /// sequences (logarithms of probabilities).
  virtual std::vector<float> shown_scores(const Pass& pass, const Tensor& scores, const Tensor& moves = {}) const;
};

struct HeadKind {
  const char* name;
  const char* sentence;
  const char* cite;
};
/// All there are, in the order of kinds.inc.
const std::vector<HeadKind>& head_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& head_options();

using MakeHead = std::unique_ptr<Head> (*)(const Choice&, const HeadSetup&, const Blueprint&, const std::string& key);
/// One more, for programs that have their own. Before any model is made, and by one thread.
void add_head(const HeadKind& kind, Fields options, MakeHead make);
template <class T>
std::unique_ptr<Head> make_head_of(const Choice& choice, const HeadSetup& setup, const Blueprint& place,
                                   const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  return std::make_unique<T>(options, setup, place);
}
template <class T>
void add_head() {
  static typename T::Options options;
  add_head(T::kKind, fields_of(options), make_head_of<T>);
}

/// Makes the chosen one. ErrorKind::recipe, naming `key` ("model.head"), for a kind or options there are not.
std::unique_ptr<Head> make_head(const Choice& choice, const HeadSetup& setup, const Blueprint& place,
                                const std::string& key);

}  // namespace attune
