#include "model/model.h"

#include <cmath>
#include <numeric>

#include "autograd/losses/output_loss.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/linear.h"
#include "base/error.h"
#include "model/causal_encoder.h"
#include "model/parts.h"

namespace attune {

Model::Model(const ModelOptions& options, const ModelSizes& sizes, const std::vector<std::string>& frozen,
             const std::function<void(const Parameters&)>& on_declared)
    : options_(options), sizes_(sizes) {
  const ModelOptions& o = options_;
  // A decoder alone that is to say something about what it reads does not write.
  const bool reads = has_encoder(o.shape), reads_only = o.shape == ModelShape::decoder && !o.head.kind.empty();
  const bool writes = has_decoder(o.shape) && !reads_only;
  check(!(reads || reads_only) || sizes.source_vocabulary > 0 || sizes.source_width > 0, "model",
        "the source vocabulary is empty");
  check(!writes || sizes.target_vocabulary > 0, "model", "the target vocabulary is empty");

  Blueprint::Shared shared{parameters_};
  const Blueprint top(shared);
  const Init init = Init::normal(1 / std::sqrt(static_cast<double>(o.d_model)));
  const bool all_tied = o.tie == Tie::all && reads && writes && sizes.source_width == 0;
  check(!all_tied || sizes.source_vocabulary == sizes.target_vocabulary, "model",
        "vocabularies of {} and {} words can't share one matrix", sizes.source_vocabulary, sizes.target_vocabulary);
  const int common = all_tied ? top.matrix("embedding.weight", sizes.target_vocabulary, o.d_model, init) : -1;
  if (reads) encoder_ = make_encoder({o, sizes_, encoder_kind(o), encoder_key(o), common}, top.at("encoder"));
  if (reads_only)
    encoder_ = std::make_unique<CausalEncoder>(
        make_decoder({o, sizes_, decoder_kind(o), decoder_key(o), common}, top.at("decoder")));
  if (writes) {
    SideSetup setup{o, sizes_, decoder_kind(o), decoder_key(o), common};
    setup.read_width = encoder_ ? encoder_->width() : 0;
    decoder_ = make_decoder(setup, top.at("decoder"));
    output_ = o.tie == Tie::none ? top.matrix("output.weight", sizes.target_vocabulary, decoder_->width(), init)
                                 : decoder_->embedding();
  }
  if (!writes && !o.head.kind.empty()) {
    HeadSetup setup{.d_model = encoder_->width(), .labels = sizes.target_vocabulary};
    setup.vocabulary = sizes.source_vocabulary;
    setup.letters = sizes.source_letters;
    setup.groups = sizes.label_groups;
    setup.width = sizes.target_width;
    const char* own = encoder_->pooling();
    setup.pool = own ? Choice{own} : o.pool;
    setup.direct = own != nullptr;
    setup.dropout = own ? 0 : static_cast<float>(o.dropout);
    setup.embedding = encoder_->embedding();
    head_ = make_head(o.head, setup, top.at("head"), "model.head");
  }
  for (const int table : {encoder_ ? encoder_->embedding() : -1, decoder_ ? decoder_->embedding() : -1})
    if (table >= 0) parameters_.mark_words(table);
  inits_ = std::move(shared.inits);
  memories_ = std::move(shared.memories);
  freeze_parts(parameters_, frozen);
  if (on_declared) on_declared(parameters_);
  parameters_.allocate();
}

void Model::initialize(uint64_t seed) {
  attune::initialize(parameters_, inits_, seed);
  parameters_.repack();
}

int64_t Model::longest_source() const {
  if (encoder_) return encoder_->longest();
  return options_.shape == ModelShape::prefix ? longest_target() / 2 : 0;
}

Encoded Model::encode(Pass& pass, const Rows& source) const {
  return encoder_ ? encoder_->encode(pass, source) : Encoded();
}

Var Model::logits(const Pass& pass, const Var& hidden) const { return linear(pass.ctx, hidden, pass[output_]); }

HeadInput Model::head_input(Pass& pass, const Batch& batch) const {
  return {encode(pass, batch.source), &batch.target()};
}

Var Model::loss(Pass& pass, const Batch& batch, const LossOptions& options) const {
  const Wanted& wanted = batch.target();
  Var terms;
  pass.loss_terms = pass.ctx.tape ? &terms : nullptr;
  const Var loss = head_ ? head_->loss(pass, head_input(pass, batch), options)
                         : token_loss(pass, decode(pass, batch.source, batch.read), wanted, options);
  pass.loss_terms = nullptr;
  if (!terms) return loss;
  // The terms belong to the whole batch: a shard adds the share of them that its tokens are.
  auto rows = static_cast<double>(wanted.right.rows());
  if (!wanted.weights.empty()) rows = std::accumulate(wanted.weights.begin(), wanted.weights.end(), 0.0);
  const double share = static_cast<double>(options.scale) * rows;
  return add(pass.ctx, loss, scale(pass.ctx, terms, share));
}

Var Model::token_loss(const Pass& pass, const Var& hidden, const Wanted& wanted, const LossOptions& options) const {
  OutputLoss o{hidden, pass[output_]};
  o.targets = wanted.right.id_tensor();
  o.weights = wanted.weight_tensor();
  o.smoothing = options.smoothing;
  o.scale = options.scale;
  o.log_probs = options.log_probs;
  return output_loss(pass.ctx, o);
}

void Model::after_update(const Gradients& gathered) {
  if (encoder_) encoder_->after_update(parameters_, gathered);
  if (decoder_) decoder_->after_update(parameters_, gathered);
}

double Model::mixing_operations(const DecodedRows& rows) const {
  double sum = 0;
  if (encoder_ && rows.sources) sum += encoder_->mixing_operations(parameters_, *rows.sources);
  if (decoder_) sum += decoder_->mixing_operations(parameters_, rows);
  return sum;
}

MultipliedWeights Model::multiplied_weights(double share) const {
  MultipliedWeights m;
  if (decoder_) {
    m = decoder_->multiplied_weights(share);
    m.target += static_cast<double>(decoder_->width()) * static_cast<double>(sizes_.target_vocabulary);
  }
  if (encoder_) m.source += encoder_->multiplied_weights(share);
  return m;
}

}  // namespace attune
