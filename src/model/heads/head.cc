#include "model/heads/head.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "autograd/losses/chain_loss.h"
#include "autograd/losses/label_loss.h"
#include "autograd/losses/output_loss.h"
#include "autograd/operations/activation.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/embed.h"
#include "autograd/operations/linear.h"
#include "autograd/operations/pool.h"
#include "base/ngrams.h"
#include "base/portable_math.h"
#include "kernels/vocabulary/viterbi.h"
#include "model/heads/label.h"
#include "model/heads/labels.h"
#include "model/heads/number.h"
#include "model/heads/several.h"
#include "model/heads/tags.h"
#include "model/heads/vectors.h"
#include "model/heads/words.h"
#include "model/kinds.h"

namespace attune {

namespace {

/// One answer for each text.
void check_one_each(const char* head, const HeadInput& in) {
  for (int64_t i = 0; i < in.answers().count(); ++i)
    check(in.answers().length(i) == 1, head, "text {} has {} answers, not one", i, in.answers().length(i));
}

OutputLoss output_loss_of(OutputLoss o, const HeadInput& in, const LossOptions& options) {
  o.targets = in.wanted->right.id_tensor();
  o.weights = in.wanted->weight_tensor();
  o.smoothing = options.smoothing;
  o.scale = options.scale;
  o.log_probs = options.log_probs;
  return o;
}

/// The first row of each word, [answers, d_model]; of rows that are no words, each of them.
Var rows_of_words(const Pass& pass, const HeadInput& in) {
  const auto n = in.answers().rows();
  if (in.rows->ids.empty()) {
    check(n == in.x.rows(), "head", "{} answers to {} rows", n, in.x.rows());
    return in.x;
  }
  const Var ids = pass.ctx.make({n}, DType::i32, {});
  pass.ctx.run([&] {
    check(std::ssize(in.words().start) == n + 1, "head", "{} answers, words of {}", n,
          std::ssize(in.words().start) - 1);
    for (int64_t s = 0; s < in.answers().count(); ++s)
      for (int64_t i = in.answers().begin(s); i < in.answers().begin(s + 1); ++i) {
        const int32_t from = in.words().start[static_cast<size_t>(i)];
        check(from < in.words().start[static_cast<size_t>(i) + 1], "head", "answer {} belongs to no word", i);
        const int32_t row = in.words().to[static_cast<size_t>(from)];
        check(row >= 0 && row < in.texts().length(s), "head", "answer {}: row {} of a text that has {}", i, row,
              in.texts().length(s));
        ids.value().as<int32_t>()[i] = static_cast<int32_t>(in.texts().begin(s) + row);
      }
  });
  return gather_rows(pass.ctx, in.x, ids);
}

/// What scores are multiplied by where they are scores already, [n, n].
Var identity(const Pass& pass, int64_t n) {
  const Var one = pass.ctx.make({n, n}, pass.dtype(), {});
  pass.ctx.run([&] {
    by_type(one.dtype(), [&](auto t) {
      auto* x = one.value().template as<decltype(t)>();
      for (int64_t i = 0; i < n * n; ++i) x[i] = i % (n + 1) == 0 ? 1 : 0;
    });
  });
  return one;
}

int32_t largest(const Tensor& scores, int64_t row) {
  const auto* x = scores.row<float>(row);
  return static_cast<int32_t>(std::max_element(x, x + scores.cols()) - x);
}

}  // namespace

Pooled::Pooled(const PooledOptions& options, const HeadSetup& setup, int64_t size, const Blueprint& b)
    : pooling(make_pooling(setup.pool, setup.d_model, b.at("pool"), "model.pool")),
      out(size),
      rate(setup.dropout),
      site(b.site()),
      ngrams(options.ngrams),
      vocabulary(setup.vocabulary),
      said_scale(std::sqrt(static_cast<float>(setup.d_model))) {
  if (ngrams > 0 && setup.direct)
    fail(ErrorKind::recipe,
         "model.head: ngrams = {}, but model.shape = \"bag\" has no encoder that they could stand beside\n"
         "  fix: leave ngrams out of model.head; those of a bag are model.ngrams",
         ngrams);
  const int64_t in = pooling->width();
  if (!setup.direct) weight_ = b.matrix("weight", out, in, Init::xavier(in, out));
  bias_ = b.vector("bias", out, Init::zeros());
  if (ngrams > 0) said_ = b.table("ngrams.weight", vocabulary + (ngrams > 1 ? kNgramIds : 0), out, Init::zeros());
}

Var Pooled::weight(const Pass& pass) const { return weight_ >= 0 && said_ < 0 ? pass[weight_] : identity(pass, out); }

Var Pooled::operator()(const Pass& pass, const HeadInput& in) const {
  return linear(pass.ctx, vectors(pass, in), weight(pass), bias(pass));
}

Var Pooled::vectors(const Pass& pass, const HeadInput& in) const {
  const Var x = dropped(pass, (*pooling)(pass, in), rate, site);
  return said_ < 0 ? x : add(pass.ctx, linear(pass.ctx, x, pass[weight_]), said(pass, in));
}

Var Pooled::said(const Pass& pass, const HeadInput& in) const {
  const Segments& texts = in.texts();
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < texts.count(); ++i)
    lengths.push_back(static_cast<int32_t>(with_ngrams(texts.length(i), ngrams)));
  const auto segments = keep(pass.ctx, Segments::of_lengths(lengths));
  std::vector<int32_t> all(static_cast<size_t>(segments->rows())), text;
  pass.ctx.run([&] {
    for (int64_t i = 0; i < texts.count(); ++i) {
      const auto* from = in.rows->ids.data() + texts.begin(i);
      text.assign(from, from + texts.length(i));
      add_ngrams(vocabulary, ngrams, text);
      std::copy(text.begin(), text.end(), all.begin() + segments->begin(i));
    }
  });
  const auto ids = keep(pass.ctx, std::move(all));
  EmbedArgs e;
  e.table = pass[said_];
  e.ids = Tensor(ids->data(), Shape{std::ssize(*ids)});
  e.scale = said_scale;
  return segment_root_sum(pass.ctx, embed(pass.ctx, e), *segments);
}

std::vector<float> Head::shown_scores(const Pass&, const Tensor& scores, const Tensor&) const {
  std::vector<float> all;
  for (int64_t r = 0; r < scores.rows(); ++r)
    all.insert(all.end(), scores.row<float>(r), scores.row<float>(r) + scores.cols());
  return all;
}

Segments Head::most_answers(const Segments& texts) const {
  return Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(texts.count()), 1));
}

// --- a label ---------------------------------------------------------------------------------------------------------

Var LabelHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  check_one_each("label", in);
  return output_loss(
      pass.ctx, output_loss_of({pooled_.vectors(pass, in), pooled_.weight(pass), pooled_.bias(pass)}, in, options));
}

std::vector<int32_t> LabelHead::answers(const Pass&, const Tensor& scores, const Tensor&) const {
  return {largest(scores, 0)};
}

// --- a set of labels -------------------------------------------------------------------------------------------------

Var LabelsHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  SetLoss l{scores(pass, in)};
  l.targets = in.wanted->right.id_tensor();
  l.segments = &in.answers();
  l.scale = options.scale;
  return set_loss(pass.ctx, l);
}

std::vector<int32_t> LabelsHead::answers(const Pass&, const Tensor& scores, const Tensor&) const {
  std::vector<int32_t> all;
  const double least = portable::log(threshold_) - portable::log1p(-threshold_);
  for (int64_t i = 0; i < scores.cols(); ++i)
    if (static_cast<double>(scores.as<float>()[i]) >= least) all.push_back(static_cast<int32_t>(i));
  return all;
}

// --- a number --------------------------------------------------------------------------------------------------------

Var NumberHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  check_one_each("number", in);
  NumberLoss l{scores(pass, in)};
  l.targets = Tensor(reinterpret_cast<const float*>(in.wanted->right.ids.data()), Shape{in.answers().rows()});
  l.scale = options.scale;
  l.weights = in.wanted->weight_tensor();
  return number_loss(pass.ctx, l);
}

std::vector<int32_t> NumberHead::answers(const Pass&, const Tensor& scores, const Tensor&) const {
  return {std::bit_cast<int32_t>(*scores.as<float>())};
}

// --- a label for each word -------------------------------------------------------------------------------------------

TagsHead::TagsHead(const Options& o, const HeadSetup& setup, const Blueprint& b)
    : output_(b, setup.labels, setup.d_model), rate_(setup.dropout), site_(b.site()) {
  if (o.crf) moves_ = b.table("moves.weight", setup.labels + 2, setup.labels, Init::zeros());
  if (o.ngrams > 0) said_.emplace(o.ngrams, setup.dropout, setup, b.at("ngrams"));
}

Var TagsHead::words(const Pass& pass, const HeadInput& in) const {
  return dropped(pass, rows_of_words(pass, in), rate_, site_);
}

Var TagsHead::scores(const Pass& pass, const HeadInput& in) const {
  const Var x = output_(pass, words(pass, in));
  return said_ ? add(pass.ctx, x, (*said_)(pass, in)) : x;
}

Var TagsHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  if (moves_ < 0 && said_) {
    const Var x = scores(pass, in);
    return output_loss(pass.ctx, output_loss_of({x, identity(pass, x.cols())}, in, options));
  }
  if (moves_ < 0)
    return output_loss(pass.ctx,
                       output_loss_of({words(pass, in), pass[output_.weight], pass[output_.bias]}, in, options));
  ChainLoss l{scores(pass, in), pass[moves_]};
  l.targets = in.wanted->right.id_tensor();
  l.segments = &in.answers();
  l.scale = options.scale;
  l.weights = in.wanted->weight_tensor();
  return chain_loss(pass.ctx, l);
}

Tensor TagsHead::all_moves(const Pass& pass, const Tensor& moves, std::vector<float>& both) const {
  if (moves_ < 0) return moves;
  const Tensor& learned = pass[moves_].value();
  if (!moves) return learned;
  both.resize(static_cast<size_t>(moves.size()));
  for (int64_t i = 0; i < moves.rows(); ++i)
    for (int64_t j = 0; j < moves.cols(); ++j)
      both[static_cast<size_t>(i * moves.cols() + j)] = learned.row<float>(i)[j] + moves.row<float>(i)[j];
  return Tensor(both.data(), moves.shape);
}

std::vector<int32_t> TagsHead::answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const {
  std::vector<float> both;
  if (const Tensor all = all_moves(pass, moves, both)) return best_labels(scores, all);
  std::vector<int32_t> best;
  for (int64_t i = 0; i < scores.rows(); ++i) best.push_back(largest(scores, i));
  return best;
}

std::vector<float> TagsHead::shown_scores(const Pass& pass, const Tensor& scores, const Tensor& moves) const {
  std::vector<float> both;
  const Tensor all = all_moves(pass, moves, both);
  if (!all) return Head::shown_scores(pass, scores, moves);
  std::vector<float> shown(static_cast<size_t>(scores.size()));
  label_marginals(scores, all, shown.data());
  return shown;
}

// --- missing words ---------------------------------------------------------------------------------------------------

WordsHead::WordsHead(const Options&, const HeadSetup& setup, const Blueprint& b)
    : inner_(b.at("inner"), setup.d_model, setup.d_model),
      words_(setup.embedding),
      bias_(b.vector("bias", setup.labels, Init::zeros())) {}

Var WordsHead::guesses(const Pass& pass, const HeadInput& in) const {
  return activation(pass.ctx, inner_(pass, rows_of_words(pass, in)), {Activation::gelu, false}, {});
}

Var WordsHead::scores(const Pass& pass, const HeadInput& in) const {
  return linear(pass.ctx, guesses(pass, in), pass[words_], pass[bias_]);
}

Var WordsHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  return output_loss(pass.ctx, output_loss_of({guesses(pass, in), pass[words_], pass[bias_]}, in, options));
}

std::vector<int32_t> WordsHead::answers(const Pass&, const Tensor& scores, const Tensor&) const {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < scores.rows(); ++i) all.push_back(largest(scores, i));
  return all;
}

// --- all there are ---------------------------------------------------------------------------------------------------

namespace {

struct Registry {
  std::vector<HeadKind> kinds;
  std::vector<Fields> options;
  std::vector<MakeHead> makers;
};

Registry& registry() {
  static Registry all{{
#define HEAD(type) type::kKind,
#include "model/heads/kinds.inc"
#undef HEAD
                      },
                      {
#define HEAD(type) default_options<type>(),
#include "model/heads/kinds.inc"
#undef HEAD
                      },
                      {
#define HEAD(type) make_head_of<type>,
#include "model/heads/kinds.inc"
#undef HEAD
                      }};
  return all;
}

}  // namespace

const std::vector<HeadKind>& head_kinds() { return registry().kinds; }
const std::vector<Fields>& head_options() { return registry().options; }

void add_head(const HeadKind& kind, Fields options, MakeHead make) {
  Registry& r = registry();
  r.kinds.push_back(kind);
  r.options.push_back(std::move(options));
  r.makers.push_back(make);
}

std::unique_ptr<Head> make_head(const Choice& choice, const HeadSetup& setup, const Blueprint& place,
                                const std::string& key) {
  return registry().makers[find_kind(head_kinds(), choice, key)](choice, setup, place, key);
}

}  // namespace attune
