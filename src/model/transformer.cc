#include "model/transformer.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "autograd/arrange.h"
#include "autograd/elementwise.h"
#include "autograd/embed.h"
#include "autograd/output_loss.h"
#include "autograd/recompute.h"
#include "base/error.h"
#include "model/parts.h"

namespace attune {

namespace {

/// Turns the site of an input into that of its whole words.
constexpr uint64_t kWords = uint64_t{1} << 62;

/// The choice of a layer: a list has one entry per layer from the bottom and cycles.
Choice of_layer(const std::vector<Choice>& own, const std::vector<Choice>& common, int layer) {
  const std::vector<Choice>& list = own.empty() ? common : own;
  return list[static_cast<size_t>(layer) % list.size()];
}

const Choice& own_or(const Choice& own, const Choice& common) { return own.kind.empty() ? common : own; }

AttentionSetup setup_of(const Blueprint& b, const ModelOptions& o, int64_t own_heads) {
  AttentionSetup s;
  s.heads = own_heads ? own_heads : o.heads;
  s.heads_kv = o.heads_kv ? o.heads_kv : s.heads;
  s.dim = o.d_model / s.heads;
  s.dropout = static_cast<float>(o.attention_dropout);
  s.site = b.site();
  return s;
}

SelfAttention self_attention(const Blueprint& b, const ModelOptions& o, int layer, const PositionScheme& position,
                             const std::string& position_name, bool decoder) {
  AttentionSetup s = setup_of(b, o, decoder ? o.decoder_heads : o.encoder_heads);
  s.causal = decoder;
  const std::vector<Choice>& own = decoder ? o.decoder_attention : o.encoder_attention;
  const std::string key = own.empty() ? "model.attention"
                          : decoder   ? "model.decoder_attention"
                                      : "model.encoder_attention";
  std::unique_ptr<RelativePosition> relative = position.layer(b.at("position"), s);
  if (relative) s.relative = relative->hook() ? Relative::scores : Relative::turned;
  s.position = position_name;
  return SelfAttention(b, s, make_attention(of_layer(own, o.attention, layer), s, b, key), std::move(relative));
}

std::unique_ptr<CrossAttention> cross_attention(const Blueprint& b, const ModelOptions& o, int layer) {
  AttentionSetup s = setup_of(b, o, o.cross_heads);
  s.cross = true;
  const Choice choice = of_layer(o.cross_attention, {{"softmax"}}, layer);
  return std::make_unique<CrossAttention>(b, s, make_attention(choice, s, b, "model.cross_attention"));
}

}  // namespace

// --- 3.1 Encoder and decoder stacks ----------------------------------------------------------------------------------

Transformer::Layer::Layer(const Blueprint& b, const ModelOptions& o, int layer, const Input& input, bool decoder)
    : self(self_attention(b.at("self"), o, layer, *input.position, input.position_name, decoder)),
      self_residual(b.at("self"), o) {
  if (self.mechanism->memory() > 0) self_residual.skip = 0;  // a text has no gaps
  if (decoder && o.shape == ModelShape::encoder_decoder) {
    cross = cross_attention(b.at("cross"), o, layer);
    cross_residual = std::make_unique<Residual>(b.at("cross"), o);
  }
  if (self.parts.feed_forward) {
    feed_forward = std::make_unique<FeedForward>(b.at("feed_forward"), o);
    feed_forward_residual = std::make_unique<Residual>(b.at("feed_forward"), o);
  }
}

Transformer::Transformer(const ModelOptions& options, const Vocabularies& sizes, const std::vector<std::string>& frozen)
    : options_(options), sizes_(sizes) {
  const ModelOptions& o = options_;
  const bool has_decoder = attune::has_decoder(o.shape), bag = o.shape == ModelShape::bag;
  const bool has_encoder = attune::has_encoder(o.shape) || bag;
  check(!has_encoder || sizes.source_vocabulary > 0, "transformer", "the source vocabulary is empty");
  check(!has_decoder || sizes.target_vocabulary > 0, "transformer", "the target vocabulary is empty");
  check(o.d_model % o.heads == 0, "transformer", "d_model = {} is not a multiple of heads = {}", o.d_model, o.heads);

  Blueprint::Shared shared{parameters_};
  const Blueprint top(shared), encoder = top.at("encoder"), decoder = top.at("decoder");
  const Init init = Init::normal(1 / std::sqrt(static_cast<double>(o.d_model)));
  const bool all_tied = o.tie == Tie::all && has_encoder && has_decoder;
  check(!all_tied || sizes.source_vocabulary == sizes.target_vocabulary, "transformer",
        "vocabularies of {} and {} words can't share one matrix", sizes.source_vocabulary, sizes.target_vocabulary);
  const int common = all_tied ? top.matrix("embedding.weight", sizes.target_vocabulary, o.d_model, init) : -1;

  if (has_encoder) {
    const Choice position = bag ? Choice{"none"} : own_or(o.encoder_position, o.position);
    source_ = std::make_unique<Input>(encoder, o, position, sizes.longest, "model.encoder_position");
    source_->table =
        all_tied ? common
        : bag    ? encoder.table("embedding.weight", sizes.source_vocabulary, sizes.target_vocabulary, Init::zeros())
        : o.head.kind == "words"  // multiplied by, too
            ? encoder.matrix("embedding.weight", sizes.source_vocabulary, o.d_model, init)
            : encoder.table("embedding.weight", sizes.source_vocabulary, o.d_model, init);
    if (bag) {  // each word, or words in a row, has a say in each label
      source_->scale = 1;
      source_->rate = 0;
    }
    for (int l = 0; l < (bag ? 0 : o.encoder_layers); ++l)
      encoder_.emplace_back(encoder.at(std::to_string(l)), o, l, *source_, false);
    if (o.norm == NormPlace::pre && !bag) encoder_norm_ = std::make_unique<LayerNorm>(encoder.at("norm"), o.d_model);
  }
  if (has_decoder) {
    const Choice& position = own_or(o.decoder_position, o.position);
    target_ = std::make_unique<Input>(decoder, o, position, sizes.longest, "model.decoder_position");
    target_->table = all_tied ? common : decoder.matrix("embedding.weight", sizes.target_vocabulary, o.d_model, init);
    for (int l = 0; l < o.decoder_layers; ++l)
      decoder_.emplace_back(decoder.at(std::to_string(l)), o, l, *target_, true);
    if (o.norm == NormPlace::pre) decoder_norm_ = std::make_unique<LayerNorm>(decoder.at("norm"), o.d_model);
    output_ =
        o.tie == Tie::none ? top.matrix("output.weight", sizes.target_vocabulary, o.d_model, init) : target_->table;
  }
  if (!has_decoder && !o.head.kind.empty()) {
    HeadSetup setup{.d_model = o.d_model, .labels = sizes.target_vocabulary};
    setup.vocabulary = sizes.source_vocabulary;
    setup.groups = sizes.label_groups;
    setup.pool = bag ? Choice{"bag"} : o.pool;
    if (bag) setup.d_model = sizes.target_vocabulary;
    setup.direct = bag;
    setup.dropout = bag ? 0 : static_cast<float>(o.dropout);
    setup.embedding = source_->table;
    head_ = make_head(o.head, setup, top.at("head"), "model.head");
  }
  for (const Input* input : {source_.get(), target_.get()})
    if (input) parameters_.mark_words(input->table);
  inits_ = std::move(shared.inits);
  memories_ = std::move(shared.memories);
  freeze_parts(parameters_, frozen);
  parameters_.allocate();
}

void Transformer::initialize(uint64_t seed) {
  attune::initialize(parameters_, inits_, seed);
  parameters_.repack();
}

bool Transformer::can_be_guided(int64_t layer) const {
  const auto& cross = decoder_[static_cast<size_t>(layer)].cross;
  return cross && cross->mechanism->can_be_guided();
}

Var Transformer::encode(Pass& pass, const Tokens& source) const {
  pass.ctx.first_row = source.first_row;
  pass.streams = source.streams;
  Flow x(embed_rows(pass, *source_, source, {}));  // [n, d_model]
  for (const Layer& l : encoder_) through(pass, l, {source.segments, {}, nullptr}, x);
  return x.stream.finish(pass, encoder_norm_.get());
}

Var Transformer::decode(Pass& pass, const Tokens& target, const Var& encoded, const Segments* sources) const {
  pass.ctx.first_row = target.first_row;
  pass.streams = target.streams;
  Flow y(embed_rows(pass, *target_, target, {}));  // [m, d_model]
  for (const Layer& l : decoder_) through(pass, l, {target.segments, encoded, sources}, y);
  return y.stream.finish(pass, decoder_norm_.get());
}

Var Transformer::decode_after(Pass& pass, const Tokens& source, const Tokens& target) const {
  // Of each example the source, then the target: rows of the source see all of it, those of the target what is before.
  const Segments &from = *source.segments, &to = *target.segments;
  std::vector<int32_t> lengths, prefix, ids(static_cast<size_t>(from.rows() + to.rows())), rows;
  for (int64_t i = 0; i < to.count(); ++i) {
    prefix.push_back(static_cast<int32_t>(from.length(i)));
    lengths.push_back(static_cast<int32_t>(from.length(i) + to.length(i)));
    const int64_t first = from.begin(i) + to.begin(i), said = first + from.length(i);
    pass.ctx.run([&] {
      std::copy_n(source.ids.as<int32_t>() + from.begin(i), from.length(i), ids.data() + first);
      std::copy_n(target.ids.as<int32_t>() + to.begin(i), to.length(i), ids.data() + said);
    });
    for (int64_t j = 0; j < to.length(i); ++j) rows.push_back(static_cast<int32_t>(said + j));
  }
  const auto segments = keep(pass.ctx, Segments::of_lengths(lengths));
  const auto words = keep(pass.ctx, std::move(ids)), firsts = keep(pass.ctx, std::move(prefix)),
             own = keep(pass.ctx, std::move(rows));
  pass.prefix = firsts->data();
  const Tokens all{Tensor(words->data(), Shape{std::ssize(*words)}), segments.get(),
                   source.first_row + target.first_row};
  const Var y = decode(pass, all, {}, nullptr);
  pass.prefix = nullptr;
  return gather_rows(pass.ctx, y, pass.ctx.input(Tensor(own->data(), Shape{std::ssize(*own)})));
}

void Transformer::run(const Pass& pass, const Layer& l, const Around& around, Flow& flow) {
  Stream& x = flow.stream;
  const Segments& segments = *around.segments;
  if (!l.self_residual.skipped(pass.ctx))
    x.leave(pass, l.self_residual, l.self(pass, x.enter(pass, l.self_residual), segments, flow.carried));
  if (l.cross && !l.cross_residual->skipped(pass.ctx)) {
    const Var memory = l.cross->memory(pass, around.encoded);
    x.leave(pass, *l.cross_residual,
            (*l.cross)(pass, x.enter(pass, *l.cross_residual), segments, memory, *around.sources));
  }
  if (l.feed_forward && !l.feed_forward_residual->skipped(pass.ctx))
    x.leave(pass, *l.feed_forward_residual, (*l.feed_forward)(pass, x.enter(pass, *l.feed_forward_residual)));
}

void Transformer::through(const Pass& pass, const Layer& l, const Around& around, Flow& flow) {
  // A text's memory is another one after it was read, and a guided layer has a loss of its own: such layers keep what
  // they computed.
  const bool guided = pass.guided && l.cross && pass.guided->place == l.cross->name;
  if (!pass.recompute || guided || l.self.mechanism->memory() > 0) return run(pass, l, around, flow);
  if (pass.loss_terms) flow.terms = *pass.loss_terms;
  recomputed(pass.ctx, flow, [pass, &l, around](Flow& x, bool again) {
    Pass p = pass;
    p.again = again;
    if (p.loss_terms) p.loss_terms = &x.terms;
    if (l.cross && around.encoded.needs_grad()) p.ctx.wants_gradients = true;  // it reads that beside its own state
    run(p, l, around, x);
  });
  if (pass.loss_terms) *pass.loss_terms = std::exchange(flow.terms, {});
}

// --- 3.4 Embeddings and softmax, 3.5 Positional encoding -------------------------------------------------------------

Transformer::Input::Input(const Blueprint& b, const ModelOptions& o, const Choice& choice, int64_t longest,
                          const std::string& key)
    : position_name(choice.kind),
      position(make_position(choice, {o.d_model, longest}, b, choice == o.position ? "model.position" : key)),
      scale(std::sqrt(static_cast<float>(o.d_model))),
      rate(static_cast<float>(o.dropout)),
      word_rate(static_cast<float>(o.word_dropout)),
      site(b.site()) {}

Var Transformer::embed_rows(const Pass& pass, const Input& input, const Tokens& tokens,
                            std::span<const int32_t> offsets) const {
  Embedding e;
  e.table = pass[input.table];
  e.ids = tokens.ids;
  e.scale = input.scale;
  e.positions = input.position->table(pass);
  e.where = {tokens.segments, offsets};
  e.words = pass.ctx.dropout(input.word_rate, input.site ^ kWords);
  return embed(pass.ctx, e, pass.ctx.dropout(input.rate, input.site));
}

Var Transformer::logits(const Pass& pass, const Var& hidden) const { return linear(pass.ctx, hidden, pass[output_]); }

// --- 5.4 Label smoothing ---------------------------------------------------------------------------------------------

Var Transformer::loss(Pass& pass, const Examples& examples, const LossOptions& options) const {
  Var terms;
  pass.loss_terms = pass.ctx.tape ? &terms : nullptr;
  const Var loss = head_ ? head_->loss(pass, head_input(pass, examples), options) : said_loss(pass, examples, options);
  pass.loss_terms = nullptr;
  if (!terms) return loss;
  // The terms belong to the whole batch: a shard adds the share of them that its tokens are.
  auto rows = static_cast<double>(examples.target_out.size());
  if (examples.weights)
    rows = std::accumulate(examples.weights.as<float>(), examples.weights.as<float>() + examples.weights.size(), 0.0);
  const double share = static_cast<double>(options.scale) * rows;
  return add(pass.ctx, loss, scale(pass.ctx, terms, share));
}

HeadInput Transformer::head_input(Pass& pass, const Examples& examples) const {
  HeadInput in{encode(pass, examples.source), examples.source.segments, examples.source.ids,
               examples.target_in.segments};
  in.words = examples.words;
  in.right = examples.target_out;
  in.weights = examples.weights;
  return in;
}

Var Transformer::said_loss(Pass& pass, const Examples& examples, const LossOptions& options) const {
  const auto hidden = [&] {
    if (options_.shape == ModelShape::prefix) return decode_after(pass, examples.source, examples.target_in);
    const Var encoded = source_ ? encode(pass, examples.source) : Var();
    return decode(pass, examples.target_in, encoded, examples.source.segments);
  };
  OutputLoss o{hidden(), pass[output_]};
  o.targets = examples.target_out;
  o.weights = examples.weights;
  o.smoothing = options.smoothing;
  o.scale = options.scale;
  o.log_probs = options.log_probs;
  return output_loss(pass.ctx, o);
}

}  // namespace attune
