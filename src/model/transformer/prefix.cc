// One decoder that reads the source too (model.shape = "prefix"): of each example the source, all of which its rows
// see, then what is said, whose rows see what is before them.
#include "autograd/operations/arrange.h"
#include "base/error.h"
#include "model/transformer/state.h"
#include "model/transformer/transformer.h"

namespace attune {

namespace {

constexpr std::string_view kCross = ".cross";

/// Looks at the part of a decoder's attention that goes from target to source ("decoder.0.cross"), or from target to
/// itself, of one example.
class PrefixTap {
 public:
  PrefixTap(Pass& pass, int64_t sources, int64_t targets) : pass_(pass), n_(sources), m_(targets) {
    if (!pass.tap) return;
    place_ = pass.tap->place;
    if (cross()) pass.tap->place = place_.substr(0, place_.size() - kCross.size()) + ".self";
  }
  void take_part() {
    if (!pass_.tap) return;
    AttentionTap& tap = *pass_.tap;
    tap.place = place_;
    const int64_t all = n_ + m_;
    std::vector<float> part;
    for (int64_t row = 0; !tap.weights.empty() && row < tap.heads * all; ++row) {
      if (row % all < n_) continue;
      const auto first = tap.weights.begin() + row * all + (cross() ? 0 : n_);
      part.insert(part.end(), first, first + (cross() ? n_ : m_));
    }
    tap.queries = m_;
    tap.keys = cross() ? n_ : m_;
    tap.weights = std::move(part);
  }

 private:
  bool cross() const { return std::string_view(place_).ends_with(kCross); }
  Pass& pass_;
  std::string place_;
  int64_t n_, m_;
};

}  // namespace

Var TransformerDecoder::decode_prefixed(Pass& pass, const Rows& source, const Rows& read) const {
  const Segments &from = source.segments, &to = read.segments;
  std::vector<int32_t> lengths, prefix, ids(static_cast<size_t>(from.rows() + to.rows())), rows;
  for (int64_t i = 0; i < to.count(); ++i) {
    prefix.push_back(static_cast<int32_t>(from.length(i)));
    lengths.push_back(static_cast<int32_t>(from.length(i) + to.length(i)));
    const int64_t first = from.begin(i) + to.begin(i), said = first + from.length(i);
    pass.ctx.run([&] {
      std::copy_n(source.ids.data() + from.begin(i), from.length(i), ids.data() + first);
      std::copy_n(read.ids.data() + to.begin(i), to.length(i), ids.data() + said);
    });
    for (int64_t j = 0; j < to.length(i); ++j) rows.push_back(static_cast<int32_t>(said + j));
  }
  Rows both;
  both.ids = std::move(ids);
  both.segments = Segments::of_lengths(lengths);
  both.prefix = std::move(prefix);
  both.first_row = source.first_row + read.first_row;
  const auto all = keep(pass.ctx, std::move(both));
  const auto own = keep(pass.ctx, std::move(rows));
  PrefixTap tap(pass, from.count() > 0 ? from.length(0) : 0, to.count() > 0 ? to.length(0) : 0);
  const Var y = run(pass, *all, {});
  tap.take_part();
  return gather_rows(pass.ctx, y, pass.ctx.input(Tensor(own->data(), Shape{std::ssize(*own)})));
}

std::unique_ptr<DecoderState> TransformerDecoder::start_prefixed(Pass& pass, const Rows& source) const {
  check(source.segments.count() == 1, "decode", "{} sources for one row", source.segments.count());
  auto state = std::make_unique<TransformerState>();
  Rows prefix = source;
  prefix.prefix = {static_cast<int32_t>(source.rows())};
  const RowsAtHand at_hand(pass, prefix);
  Stream y((*input_)(pass, prefix).x);  // [n, d_model]
  for (const Block& b : blocks_) {
    state->memory.emplace_back();
    state->attended.emplace_back();
    AttentionState& said = *state->said.emplace_back(b.self->state(1));
    said.use(pass.ctx.arena);
    const bool last = &b == &blocks_.back();
    const Var mixed = b.self->prefill(pass, y.enter(pass, b.self_residual), prefix.segments, said, !last);
    if (last) break;  // the rest would be of nothing that is said
    y.leave(pass, b.self_residual, mixed);
    b.feed(pass, y);
  }
  state->source_of = {0};
  state->position = source.rows();
  return state;
}

}  // namespace attune
