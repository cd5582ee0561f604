#include "model/attention/sparse/star.h"

#include "autograd/operations/arrange.h"
#include "autograd/operations/pool.h"
#include "model/attention/listed.h"
#include "model/attention/multi_head.h"
#include "model/attention/rehearsed.h"

namespace attune {

namespace {

std::vector<JoinedLinear::Part> keys_and_values(const AttentionSetup& s) {
  return {{"key", s.width_kv()}, {"value", s.width_kv()}};
}

}  // namespace

StarAttention::StarAttention(const Options&, const AttentionSetup& s, const Blueprint& b)
    : setup_(s),
      query_(b.at("query"), s.width(), s.width()),
      relay_query_(b.at("relay.query"), s.width(), s.width()),
      key_value_(b, keys_and_values(s), s.width(), s.projection()),
      relay_key_value_(b.at("relay"), keys_and_values(s), s.width(), s.projection()),
      output_(b.at("output"), s.width(), s.width()),
      relay_output_(b.at("relay.output"), s.width(), s.width()),
      norm_(b.at("relay.norm"), s.width()),
      relay_site_(b.site()) {}

/// What a relay reads of [rows; relays], and a row of [rows; embeddings; relays]; not `embedded`: of [rows; relays],
/// where rows are their own embeddings.
struct StarAttention::Lists {
  KeyLists relay, row;

  Lists(const Segments& segments, bool embedded) {
    const int64_t n = segments.rows(), relays = embedded ? 2 * n : n;
    for (int64_t s = 0; s < segments.count(); ++s) {
      const int64_t first = segments.begin(s), length = segments.length(s);
      for (int64_t i = 0; i < length; ++i) relay.add(first + i);
      relay.add(n + s);
      relay.end_row();
      for (int64_t i = 0; i < length; ++i) {
        if (length > 2) row.add(first + (i + length - 1) % length);
        row.add(first + i);
        if (length > 1) row.add(first + (i + 1) % length);
        row.add(relays - n + first + i);
        row.add(relays + s);
        row.end_row();
      }
    }
    relay.longest = std::max(relay.longest, segments.longest + 1);  // in a rehearsal none is that long
    relay.finish(n + segments.count());
    row.finish(relays + segments.count());
  }
};

/// Keys and values lie side by side.
ListAttention StarAttention::along(const Pass& pass, const KeyLists& lists, const Var& q, const Var& kv,
                                   const Var& more, uint64_t site) const {
  ListAttention a = listed_attention(setup_, {.q = q, .k = kv, .v = kv, .v_column = setup_.width_kv()}, lists);
  a.more = more;
  a.dropout = pass.ctx.dropout(setup_.dropout, site);
  return a;
}

Var StarAttention::attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
                          Carried& carried) const {
  Ctx& ctx = pass.ctx;
  const auto rehearsed = rehearsed_segments(ctx, segments, 4);  // not shorter, about
  const Segments& rows = rehearsed ? *rehearsed : segments;
  const int64_t n = rows.rows(), count = rows.count();
  if (!carried.stream) carried.stream = concatenate_rows(ctx, {x, segment_mean(ctx, x, rows)});
  const Var e = slice_rows(ctx, carried.stream, 0, n), s = slice_rows(ctx, carried.stream, n, count);

  const auto lists = keep(ctx, Lists(rows, true));
  const ListAttention of_relay = along(pass, lists->relay, relay_query_(pass, s), relay_key_value_(pass, x),
                                       relay_key_value_(pass, s), relay_site_);
  const Var relay =
      residual_norm(ctx, relay_output_(pass, list_attention(ctx, of_relay), Activation::relu), {}, norm_(pass)).y;
  carried.stream = concatenate_rows(ctx, {e, relay});
  const ListAttention of_rows =
      along(pass, lists->row, query_(pass, x), key_value_(pass, x), key_value_(pass, carried.stream), setup_.site);
  if (float* to = layer.tapped(pass, n, n)) look(pass, of_relay, of_rows, to);
  return output_(pass, list_attention(ctx, of_rows), Activation::relu);
}

Var StarAttention::mix(const Pass& pass, const Projected& p) const {
  Ctx& ctx = pass.ctx;
  const int64_t width = setup_.width(), width_kv = setup_.width_kv();
  const auto lists = keep(ctx, Lists(*p.queries, false));
  const auto mean = [&](const Var& x, int64_t column, int64_t cols) {
    return segment_mean(ctx, slice_columns(ctx, x, column, cols), *p.queries);
  };
  const Var k = mean(p.k, p.k_column, width_kv), v = mean(p.v, p.v_column, width_kv);
  ListAttention of_relay =
      along(pass, lists->relay, mean(p.q, p.q_column, width), p.k, concatenate_columns(ctx, {k, v}), relay_site_);
  of_relay.k_column = p.k_column;
  of_relay.v = p.v;
  of_relay.v_column = p.v_column;
  ListAttention of_rows = of_relay;
  of_rows.lists = &lists->row;
  of_rows.q = p.q;
  of_rows.q_column = p.q_column;
  of_rows.more = concatenate_columns(ctx, {k, list_attention(ctx, of_relay)});
  of_rows.dropout = ctx.dropout(setup_.dropout, setup_.site);
  return list_attention(ctx, of_rows);
}

/// Of one sequence: what a row reads by itself, as its embedding, and through the relay; what that has of itself is
/// shared out among what it read.
void StarAttention::look(const Pass& pass, const ListAttention& relay, const ListAttention& rows, float* out) const {
  Ctx& ctx = pass.ctx;
  const int64_t n = rows.lists->rows();
  const Var through = list_weights(ctx, relay), own = list_weights(ctx, rows);  // [pairs, heads]
  std::fill_n(out, setup_.heads * n * n, 0.0f);
  for (int64_t e = 0; e < rows.lists->pairs(); ++e)
    for (int64_t h = 0; h < setup_.heads; ++h) {
      const int64_t i = rows.lists->query[static_cast<size_t>(e)], key = rows.lists->keys[static_cast<size_t>(e)];
      const float w = own.value().row<float>(e)[h];
      float* row = out + (h * n + i) * n;
      if (key < 2 * n)
        row[key % n] += w;
      else
        for (int64_t j = 0; j < n; ++j)
          row[j] += w * through.value().row<float>(j)[h] / (1 - through.value().row<float>(n)[h]);
    }
}

double StarAttention::operations(const Parameters&, const Segments& queries, const Segments&) const {
  return 4 * static_cast<double>(setup_.width()) * static_cast<double>(6 * queries.rows() + queries.count());
}

}  // namespace attune
