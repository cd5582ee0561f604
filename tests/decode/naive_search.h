// Beam search as the textbook has it, for comparing: everything is computed anew at every step.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "decode/search.h"
#include "decode/shortlist.h"
#include "model/tiny_model.h"

namespace attune {

using Ids = std::vector<int32_t>;
using IdLists = std::vector<Ids>;

/// What a search of all of them finds; it leaves nothing in its arena.
inline std::vector<std::vector<Hypothesis>> found(const Model& model, const IdLists& sources,
                                                  const SearchOptions& options, ThreadPool* pool = nullptr) {
  Arena arena;
  const TinyBatch batch = TinyBatch::of(sources);
  auto all = search(model, {batch.tokens()}, options, pool, arena);
  EXPECT_EQ(arena.in_use(), 0);
  return all;
}

/// log p of every token after what was said, by the whole decoder and in double precision.
inline std::vector<double> next_log_probs(const Model& model, const Ids& source, const Ids& said) {
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model.parameters()};
  Ids input{1};
  input.insert(input.end(), said.begin(), said.end());
  const TinyBatch x = TinyBatch::of({source}), y = TinyBatch::of({input});
  const Var logits = model.logits(pass, model.decode(pass, x.tokens(), y.tokens()));
  const float* row = logits.value().row<float>(logits.rows() - 1);
  double total = 0;
  for (int64_t j = 0; j < logits.cols(); ++j) total += std::exp(static_cast<double>(row[j]));
  std::vector<double> out;
  for (int64_t j = 0; j < logits.cols(); ++j) out.push_back(static_cast<double>(row[j]) - std::log(total));
  return out;
}

struct Naive {
  Ids ids;
  double log_prob = 0, score = 0;
};

inline bool may_be_said(int32_t id) { return id == 2 || id > 3; }

/// The words of a list share all of the probability.
inline void keep_listed(const Ids& list, std::vector<double>& p) {
  double total = 0;
  for (const int32_t id : list) total += std::exp(p[static_cast<size_t>(id)]);
  for (int32_t id = 0; id < std::ssize(p); ++id)
    p[static_cast<size_t>(id)] =
        std::binary_search(list.begin(), list.end(), id) ? p[static_cast<size_t>(id)] - std::log(total) : -INFINITY;
}

/// The textbook: every continuation of every hypothesis, all computed anew, to the very end.
inline std::vector<Naive> naive_beam(const Model& model, const Ids& source, const SearchOptions& o) {
  std::vector<Naive> live(1), ended;
  for (int64_t length = 1; length <= o.longest && !live.empty(); ++length) {
    std::vector<Naive> ways;
    for (const Naive& h : live) {
      auto p = next_log_probs(model, source, h.ids);
      if (o.shortlist) keep_listed(o.shortlist->ids_of(source), p);
      for (int32_t id = 0; id < std::ssize(p); ++id) {
        if (!may_be_said(id) || std::isinf(p[static_cast<size_t>(id)])) continue;
        Naive way{h.ids, h.log_prob + p[static_cast<size_t>(id)]};
        way.ids.push_back(id);
        ways.push_back(way);
      }
    }
    std::stable_sort(ways.begin(), ways.end(), [](const Naive& a, const Naive& b) { return a.log_prob > b.log_prob; });
    live.clear();
    for (size_t rank = 0; rank < ways.size() && std::ssize(live) < o.beam; ++rank) {
      Naive& w = ways[rank];
      w.score = w.log_prob / std::pow((5.0 + static_cast<double>(length)) / 6, o.length_penalty);
      if (w.ids.back() != 2) {
        live.push_back(w);
      } else if (static_cast<int64_t>(rank) < o.beam) {
        w.ids.pop_back();
        ended.push_back(w);
      }
    }
  }
  std::stable_sort(ended.begin(), ended.end(), [](const Naive& a, const Naive& b) { return a.score > b.score; });
  for (size_t i = 0; i < live.size() && std::ssize(ended) < o.n_best; ++i) ended.push_back(live[i]);
  ended.resize(std::min(ended.size(), static_cast<size_t>(o.n_best)));
  return ended;
}

}  // namespace attune
