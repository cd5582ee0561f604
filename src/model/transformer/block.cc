#include "model/transformer/block.h"

#include "autograd/recompute.h"
#include "model/kinds.h"
#include "model/transformer/mixers.h"

namespace attune {

namespace {

std::unique_ptr<CrossAttention> cross_attention(const Blueprint& b, const SideSetup& side, int layer) {
  const ModelOptions& o = side.options;
  AttentionSetup s = attention_setup(b, o, o.cross_heads);
  s.cross = true;
  const Choice choice = o.cross_attention.empty() ? Choice{"softmax"} : in_turn(o.cross_attention, layer);
  return std::make_unique<CrossAttention>(b, s, side.read_width, make_attention(choice, s, b, "model.cross_attention"));
}

}  // namespace

AttentionSetup attention_setup(const Blueprint& b, const ModelOptions& o, int64_t own_heads) {
  AttentionSetup s;
  s.heads = own_heads ? own_heads : o.heads;
  s.heads_kv = o.heads_kv ? o.heads_kv : s.heads;
  s.dim = o.d_model / s.heads;
  s.dropout = static_cast<float>(o.attention_dropout);
  s.site = b.site();
  return s;
}

Block::Block(const SideSetup& side, const Blueprint& b, int layer, const Input& input, bool decoder)
    : self(make_mixer({side.options, input, layer, decoder}, b.at("self"))), self_residual(b.at("self"), side.options) {
  const ModelOptions& o = side.options;
  if (self->memory() > 0) self_residual.skip = 0;  // a text has no gaps
  if (decoder && side.read_width > 0) {
    cross = cross_attention(b.at("cross"), side, layer);
    cross_residual = std::make_unique<Residual>(b.at("cross"), o);
  }
  if (self->feed_forward() && o.feed_forward) {
    feed_forward = std::make_unique<FeedForward>(b.at("feed_forward"), o);
    feed_forward_residual = std::make_unique<Residual>(b.at("feed_forward"), o);
  }
}

void Block::operator()(const Pass& pass, const BlockContext& context, StackRows& rows) const {
  Stream& x = rows.stream;
  if (!self_residual.skipped(pass.ctx))
    x.leave(pass, self_residual, (*self)(pass, x.enter(pass, self_residual), context.segments, rows.carried));
  if (cross && !cross_residual->skipped(pass.ctx)) {
    const Var memory = cross->memory(pass, context.encoded->x);
    x.leave(pass, *cross_residual,
            (*cross)(pass, x.enter(pass, *cross_residual), context.segments, memory, context.encoded->rows->segments));
  }
  if (feed_forward && !feed_forward_residual->skipped(pass.ctx)) feed(pass, x);
}

void Block::feed(const Pass& pass, Stream& x) const {
  if (feed_forward) x.leave(pass, *feed_forward_residual, (*feed_forward)(pass, x.enter(pass, *feed_forward_residual)));
}

void Block::recomputed(const Pass& pass, const BlockContext& context, StackRows& rows) const {
  // A text's memory is another one after it was read, and a guided layer has a loss of its own: such blocks keep what
  // they computed.
  const bool guided = pass.guided && cross && pass.guided->place == cross->name;
  if (!pass.recompute || guided || self->memory() > 0) return (*this)(pass, context, rows);
  if (pass.loss_terms) rows.terms = *pass.loss_terms;
  const Encoded encoded = context.encoded ? *context.encoded : Encoded();
  attune::recomputed(pass.ctx, rows, [this, pass, encoded, segments = &context.segments](StackRows& x, bool again) {
    Pass p = pass;
    p.recomputing = again;
    if (p.loss_terms) p.loss_terms = &x.terms;
    if (cross && encoded.x.needs_grad()) p.ctx.wants_gradients = true;  // it reads that beside its own rows
    (*this)(p, {*segments, &encoded}, x);
  });
  if (pass.loss_terms) *pass.loss_terms = std::exchange(rows.terms, {});
}

double Block::multiplied_weights() const {
  return self->multiplied_weights() + (feed_forward ? feed_forward->multiplied_weights() : 0);
}

}  // namespace attune
