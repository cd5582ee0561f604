#include "model/pooling/pooling.h"

#include <cmath>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/reduce.h"
#include "model/kinds.h"
#include "model/pooling/attention.h"
#include "model/pooling/bag.h"
#include "model/pooling/first.h"
#include "model/pooling/last.h"
#include "model/pooling/max.h"
#include "model/pooling/mean.h"
#include "model/pooling/pair.h"

namespace attune {

namespace {

/// One row of each text: its first, or its last.
Var row_of_each(const Pass& pass, const Encoded& in, bool last) {
  const Segments& texts = in.rows->segments;
  const Var ids = pass.ctx.make({texts.count()}, DType::i32, {});
  for (int64_t i = 0; i < texts.count(); ++i) check(texts.length(i) > 0, "pooling", "text {} has no rows", i);
  pass.ctx.run([&] {
    for (int64_t i = 0; i < texts.count(); ++i)
      ids.value().as<int32_t>()[i] = static_cast<int32_t>(last ? texts.begin(i + 1) - 1 : texts.begin(i));
  });
  return gather_rows(pass.ctx, in.x, ids);
}

}  // namespace

Var FirstPooling::operator()(const Pass& pass, const Encoded& in) const { return row_of_each(pass, in, false); }
Var LastPooling::operator()(const Pass& pass, const Encoded& in) const { return row_of_each(pass, in, true); }

Var BagPooling::operator()(const Pass& pass, const Encoded& in) const {
  return segment_root_sum(pass.ctx, in.x, in.rows->segments);
}

AttentionPooling::AttentionPooling(const Options& o, int64_t d_model, const Blueprint& b)
    : options_(o), d_model_(d_model) {
  if (o.inner > 0) inner_ = std::make_unique<Linear>(b.at("inner"), o.inner, d_model);
  const int64_t in = o.inner > 0 ? o.inner : d_model;
  query_ = b.matrix("query.weight", o.hops, in, Init::xavier(in, o.hops));
}

Var AttentionPooling::operator()(const Pass& pass, const Encoded& in) const {
  Ctx& ctx = pass.ctx;
  const Segments& texts = in.rows->segments;
  const Var keys = inner_ ? tanh(ctx, (*inner_)(pass, in.x)) : in.x;
  Var scores = linear(ctx, keys, pass[query_]);  // [rows, hops]
  if (!inner_) scores = scale(ctx, scores, 1 / std::sqrt(static_cast<double>(d_model_)));
  const Var weights = segment_softmax(ctx, scores, texts);
  if (options_.penalty > 0 && pass.loss_terms) {
    // A A^T of each text is its weights mixed by themselves.
    Var same = segment_mix(ctx, weights, weights, texts);  // [texts, hops * hops]
    const Var identity = ctx.make({1, options_.hops * options_.hops}, same.dtype(), {});
    ctx.run([&] {
      by_type(same.dtype(), [&](auto t) {
        for (int64_t i = 0; i < identity.cols(); ++i)
          identity.value().as<decltype(t)>()[i] = i % (options_.hops + 1) == 0 ? 1 : 0;
      });
    });
    same = subtract(ctx, same, identity);
    pass.add_loss(scale(ctx, sum(ctx, multiply(ctx, same, same)),
                        options_.penalty / static_cast<double>(std::max<int64_t>(1, texts.count()))));
  }
  return segment_mix(ctx, in.x, weights, texts);
}

namespace {

using MakePooling = std::unique_ptr<Pooling> (*)(const Choice&, int64_t, const Blueprint&, const std::string& key);

template <class T>
std::unique_ptr<Pooling> make(const Choice& choice, int64_t d_model, const Blueprint& place, const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  return std::make_unique<T>(options, d_model, place);
}

constexpr MakePooling kPoolingMakers[] = {
#define POOLING(type) make<type>,
#include "model/pooling/kinds.inc"
#undef POOLING
};

}  // namespace

const std::vector<PoolingKind>& pooling_kinds() {
  static const std::vector<PoolingKind> kinds{
#define POOLING(type) type::kKind,
#include "model/pooling/kinds.inc"
#undef POOLING
  };
  return kinds;
}

const std::vector<Fields>& pooling_options() {
  static const std::vector<Fields> options{
#define POOLING(type) default_options<type>(),
#include "model/pooling/kinds.inc"
#undef POOLING
  };
  return options;
}

std::unique_ptr<Pooling> make_pooling(const Choice& choice, int64_t d_model, const Blueprint& place,
                                      const std::string& key) {
  return kPoolingMakers[find_kind(pooling_kinds(), choice, key)](choice, d_model, place, key);
}

}  // namespace attune
