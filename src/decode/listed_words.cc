#include "decode/listed_words.h"

#include <algorithm>

#include "decode/ensemble.h"
#include "decode/shortlist.h"

namespace attune {

std::vector<int32_t> listed_words(const SearchOptions& options, const SearchSentence& sentence) {
  std::vector<int32_t> ids = options.shortlist->ids_of(sentence.source);
  const auto add = [&](int32_t id) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), id);
    if (at == ids.end() || *at != id) ids.insert(at, id);
  };
  for (const int32_t id : sentence.prefix) add(id);
  if (options.end >= 0) add(options.end);
  return ids;
}

ListedWords::ListedWords(Ctx& ctx, std::span<const Model* const> models, std::vector<int32_t> ids)
    : ids_(std::move(ids)) {
  for (const Model* m : models) weights_.emplace_back(ctx, *m, count());
}

void ListedWords::gather() {
  for (OutputColumns& w : weights_) w.gather(ids_);
}

int64_t ListedWords::floats(int64_t rows) const { return rows * count() * (weights_.size() > 1 ? 2 : 1); }

int32_t ListedWords::column(int32_t id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  return at != ids_.end() && *at == id ? static_cast<int32_t>(at - ids_.begin()) : -1;
}

std::vector<int32_t> ListedWords::columns(std::span<const int32_t> ids) const {
  std::vector<int32_t> all;
  for (const int32_t id : ids)
    if (const int32_t c = column(id); c >= 0) all.push_back(c);
  return all;
}

/// As Search::logits has them of all words.
void ListedWords::logits(const ListedRows& rows, const Tensor& x) const {
  weights_[0].logits(rows.hidden[0], x);
  if (weights_.size() == 1) return;
  const auto of = [&](size_t m) {
    const Tensor other(rows.room + x.size(), x.shape);
    weights_[m].logits(rows.hidden[m], other);
    return other;
  };
  mix_models(x, weights_.size(), of, nullptr);
}

void ListedWords::weigh(const Hypotheses& sentence, const LogitsProcessors& processors, const Tensor& x) const {
  std::vector<int32_t> said;
  for (int64_t i = 0; i < x.rows(); ++i) {
    sentence.said(i, said);
    std::vector<int32_t> own = columns(said);
    weigh_by(processors, own, x.row<float>(i));
  }
}

void ListedWords::choose(const ListedRows& rows, const SearchOptions& options) const {
  const int64_t n = rows.ids.rows();
  const Tensor x(rows.room, Shape{n, count()});
  logits(rows, x);
  if (std::ranges::any_of(options.processors, [](const auto& p) { return p->weighs(); }))
    weigh(rows.sentence, options.processors, x);
  // The same limits, told in columns.
  const std::vector<int32_t> hidden = columns(rows.unsaid.hidden);
  std::vector<int32_t> start, banned, forced;
  if (!rows.unsaid.start.empty()) start.push_back(0);
  for (int64_t i = 0; i < n; ++i) {
    if (!rows.unsaid.forced.empty())
      forced.push_back(rows.unsaid.forced_in(i) < 0 ? -1 : column(rows.unsaid.forced_in(i)));
    if (start.empty()) continue;
    for (const int32_t c : columns(rows.unsaid.banned_in(i))) banned.push_back(c);
    start.push_back(static_cast<int32_t>(banned.size()));
  }
  const kernels::Unsaid unsaid{.hidden = hidden, .start = start, .banned = banned, .forced = forced};
  const SamplingOptions& s = options.sampling;
  if (options.sample)
    kernels::draws({x, unsaid, s.temperature, s.top_k, s.top_p, rows.chances, rows.ids, rows.log_probs});
  else
    kernels::candidates({x, unsaid, rows.ids, rows.log_probs});
  auto* ids = rows.ids.as<int32_t>();
  for (int64_t i = 0; i < rows.ids.size(); ++i)
    if (ids[i] >= 0) ids[i] = ids_[static_cast<size_t>(ids[i])];
}

}  // namespace attune
