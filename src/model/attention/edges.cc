#include "model/attention/edges.h"

#include <algorithm>

#include "autograd/attention/heads.h"
#include "autograd/operations/activation.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/pool.h"
#include "base/error.h"
#include "model/attention/listed.h"

namespace attune {

struct EdgesAttention::EdgeList {
  KeyLists lists;
  Segments of_query;  // the edges of each row

  Var ids(Ctx& ctx, const std::vector<int32_t>& of) const {
    return ctx.input(Tensor(of.data(), Shape{std::ssize(of)}));
  }
};

namespace {

constexpr double kSlope = 0.2;  // of the LeakyReLU, as published

Var leaky_relu(Ctx& ctx, const Var& x) {
  return add(ctx, scale(ctx, activation(ctx, x, {Activation::relu, false}), 1 - kSlope), scale(ctx, x, kSlope));
}

/// The columns of the queries, [rows, heads * dim].
Var queries_of(Ctx& ctx, const Projected& p, const AttentionSetup& s) {
  return p.q.cols() == s.width() ? p.q : slice_columns(ctx, p.q, p.q_column, s.width());
}

/// Those of keys or values, one for each head: heads that share them have copies.
Var for_each_head(Ctx& ctx, const Var& x, int64_t column, const AttentionSetup& s) {
  if (s.heads_kv == s.heads) return x.cols() == s.width() ? x : slice_columns(ctx, x, column, s.width());
  std::vector<Var> heads;
  for (int64_t h = 0; h < s.heads; ++h)
    heads.push_back(slice_columns(ctx, x, column + h / (s.heads / s.heads_kv) * s.dim, s.dim));
  return concatenate_columns(ctx, heads);
}

}  // namespace

EdgesAttention::EdgesAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
    : setup_(setup), score_(o.score) {
  if (score_ != Score::additive) return;
  const Init init = Init::xavier(setup.dim, 1);
  query_ = b.table("edge_query.weight", setup.width(), 1, init);
  key_ = b.table("edge_key.weight", setup.width(), 1, init);
}

EdgesAttention::EdgeList EdgesAttention::list_of(const Pass& pass, const Segments& rows) const {
  EdgeList all;
  const Edges* edges = pass.rows && !pass.rows->edges.empty() ? &pass.rows->edges : nullptr;
  check(!edges || std::ssize(edges->start) == rows.rows() + 1, "edges", "edges of {} rows, there are {}",
        edges ? std::ssize(edges->start) - 1 : 0, rows.rows());
  for (int64_t s = 0; s < rows.count(); ++s)
    for (int64_t i = rows.begin(s); i < rows.begin(s + 1); ++i) {
      const int64_t before = all.lists.pairs();
      const auto add = [&](int64_t to) {
        check(to >= 0 && to < rows.length(s), "edges", "an edge to row {} of a sequence of {}", to, rows.length(s));
        all.lists.add(rows.begin(s) + to);
      };
      if (edges)
        for (const int32_t to : edges->of(i)) add(to);
      else
        for (int64_t to = 0; to < rows.length(s); ++to) add(to);
      all.lists.end_row();
      all.of_query.add(all.lists.pairs() - before);
    }
  all.lists.finish(rows.rows());
  return all;
}

Var EdgesAttention::edge_weights(const Pass& pass, const Projected& p, const EdgeList& edges) const {
  Ctx& ctx = pass.ctx;
  if (score_ == Score::dot) return list_weights(ctx, listed_attention(setup_, p, edges.lists));
  const Var q = queries_of(ctx, p, setup_), k = for_each_head(ctx, p.k, p.k_column, setup_);
  const Var of_query = multiply_heads(ctx, q, 0, setup_.heads, pass[query_]);
  const Var of_key = multiply_heads(ctx, k, 0, setup_.heads, pass[key_]);
  const Var scores = leaky_relu(ctx, add(ctx, gather_rows(ctx, of_query, edges.ids(ctx, edges.lists.query)),
                                         gather_rows(ctx, of_key, edges.ids(ctx, edges.lists.keys))));
  return segment_softmax(ctx, scores, edges.of_query);
}

Var EdgesAttention::mix(const Pass& pass, const Projected& p) const {
  Ctx& ctx = pass.ctx;
  const auto edges = keep(ctx, list_of(pass, *p.queries));
  if (score_ == Score::dot) {
    ListAttention a = listed_attention(setup_, p, edges->lists);
    a.dropout = ctx.dropout(setup_.dropout, setup_.site);
    return list_attention(ctx, a);
  }
  const Var weights = dropped(pass, edge_weights(pass, p, *edges), setup_.dropout, setup_.site);
  const Var values = gather_rows(ctx, for_each_head(ctx, p.v, p.v_column, setup_), edges->ids(ctx, edges->lists.keys));
  std::vector<Var> heads;
  for (int64_t h = 0; h < setup_.heads; ++h)
    heads.push_back(segment_mix(ctx, slice_columns(ctx, values, h * setup_.dim, setup_.dim),
                                slice_columns(ctx, weights, h, 1), edges->of_query));
  return heads.size() == 1 ? heads[0] : concatenate_columns(ctx, heads);
}

bool EdgesAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const int64_t n = p.queries->length(0);
  const EdgeList edges = list_of(pass, *p.queries);
  const Var w = edge_weights(pass, p, edges);
  std::fill_n(out, setup_.heads * n * n, 0.0f);
  for (int64_t e = 0; e < edges.lists.pairs(); ++e)
    for (int64_t h = 0; h < setup_.heads; ++h)
      out[(h * n + edges.lists.query[static_cast<size_t>(e)]) * n + edges.lists.keys[static_cast<size_t>(e)]] =
          w.value().row<float>(e)[h];
  return true;
}

double EdgesAttention::operations(const Parameters&, const Segments& queries, const Segments&) const {
  // How many edges there are is not known here: a few for each row, as graphs of documents or atoms have them.
  constexpr double kEdges = 8;
  return 4 * kEdges * static_cast<double>(queries.rows() * setup_.width());
}

}  // namespace attune
