#include "model/pooling/pair.h"

#include "autograd/attention/attention.h"
#include "autograd/operations/activation.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/pool.h"
#include "base/error.h"

namespace attune {

namespace {

constexpr int32_t kBetween = 2;  // the end mark: what a tab between two texts becomes (data/corpus/answers.h)

/// The rows of a text up to its first end mark, and those after it; where there is one text, nothing is after it.
std::vector<int32_t> lengths_of_sides(const Ctx& ctx, const Encoded& in) {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < in.rows->segments.count(); ++i) {
    const int64_t begin = in.rows->segments.begin(i), end = in.rows->segments.begin(i + 1);
    int64_t middle = (begin + end) / 2;  // of a rehearsal, which has no tokens
    ctx.run([&] {
      check(!in.rows->ids.empty(), "pooling", "\"pair\" compares texts");
      for (middle = begin; middle < end && in.rows->ids.data()[middle] != kBetween;) ++middle;
      middle = std::min(middle + 1, end);
    });
    lengths.push_back(static_cast<int32_t>(middle - begin));
    lengths.push_back(static_cast<int32_t>(end - middle));
  }
  return lengths;
}

Var magnitude(Ctx& ctx, const Var& x) {
  constexpr ActivationKind kRelu{Activation::relu, false};
  return add(ctx, activation(ctx, x, kRelu), activation(ctx, scale(ctx, x, -1), kRelu));
}

}  // namespace

Var PairPooling::operator()(const Pass& pass, const Encoded& in) const {
  Ctx& ctx = pass.ctx;
  const std::vector<int32_t> lengths = lengths_of_sides(ctx, in);
  std::vector<int32_t> others, from;  // the sides of each text exchanged
  int32_t row = 0;
  for (size_t i = 0; i < lengths.size(); i += 2) {
    others.insert(others.end(), {lengths[i + 1], lengths[i]});
    for (int32_t j = 0; j < lengths[i + 1]; ++j) from.push_back(row + lengths[i] + j);
    for (int32_t j = 0; j < lengths[i]; ++j) from.push_back(row + j);
    row += lengths[i] + lengths[i + 1];
  }
  const auto sides = keep(ctx, Segments::of_lengths(lengths)), other_sides = keep(ctx, Segments::of_lengths(others));
  const auto ids = keep(ctx, std::move(from));
  const Var x = in.x, other = gather_rows(ctx, x, ctx.input(Tensor(ids->data(), Shape{std::ssize(*ids)})));
  Attention a{x, other, other};
  a.queries = sides.get();
  a.keys = other_sides.get();
  a.dim = d_model_;
  const Var y = attention(ctx, a);
  const Var both =
      concatenate_columns(ctx, {x, y, magnitude(ctx, subtract(ctx, x, y)), multiply(ctx, x, y)});  // [n, 4 d_model]
  const Var compared = compare_(pass, both, Activation::relu);
  return ctx.reshape(segment_root_sum(ctx, compared, *sides), {in.rows->segments.count(), width()});
}

}  // namespace attune
