// What a search looks at where a sentence has a list of words of its own (decode/shortlist.h): logits of these alone,
// and the best or drawn ones among them. Columns of a list are words; all else speaks of words.
#pragma once
#include <span>
#include <vector>

#include "decode/hypotheses.h"
#include "kernels/vocabulary/candidates.h"
#include "model/output_columns.h"

namespace attune {

/// Rows of hypotheses of one sentence that are about to go on, and where their ways to do so go.
struct ListedRows {
  const Hypotheses& sentence;
  std::span<const Tensor> hidden;        // of each model, [rows, d_model]
  kernels::Unsaid unsaid = {};           // words, of these rows
  std::span<const double> chances = {};  // [rows, k]
  Tensor ids = {}, log_probs = {};       // [rows, k]: words and their log-probabilities
  float* room = nullptr;                 // ListedWords::floats() of these rows
};

/// What the shortlist has for a sentence, and what it must say: its prefix and the end. Ascending, each once.
std::vector<int32_t> listed_words(const SearchOptions& options, const SearchSentence& sentence);

class ListedWords {
 public:
  /// `ids` are ascending, each once. Takes memory for their weights in each model; gather() must fill it.
  ListedWords(Ctx& ctx, std::span<const Model* const> models, std::vector<int32_t> ids);
  void gather();
  /// How much room choose() needs for so many rows.
  int64_t floats(int64_t rows) const;
  /// The best ways to go on, or those that chance chose. Several sentences may do so at the same time.
  void choose(const ListedRows& rows, const SearchOptions& options) const;

 private:
  int64_t count() const { return static_cast<int64_t>(ids_.size()); }
  /// -1: it is not in the list.
  int32_t column(int32_t id) const;
  std::vector<int32_t> columns(std::span<const int32_t> ids) const;
  void logits(const ListedRows& rows, const Tensor& x) const;
  void weigh(const Hypotheses& sentence, const LogitsProcessors& processors, const Tensor& x) const;

  std::vector<int32_t> ids_;
  std::vector<OutputColumns> weights_;  // of each model
};

}  // namespace attune
