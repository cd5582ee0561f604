#include "model/input/convolution.h"

#include "autograd/operations/activation.h"
#include "autograd/operations/convolution.h"

namespace attune {

namespace {

std::vector<int64_t> strided(std::vector<int64_t> grid, const ConvolutionInput::Options& o) {
  for (int64_t& size : grid)
    for (int64_t l = 0; l < o.layers; ++l) size = (size + o.stride - 1) / o.stride;
  return grid;
}

int64_t width_of(const ConvolutionInput::Options& o) { return o.channels << (o.layers - 1); }

}  // namespace

ConvolutionInput::ConvolutionInput(const Options& o, const InputSetup& s, const Blueprint& b)
    : Input(s, b, strided(s.side.sizes.source_grid, o)),
      size_(o.size),
      stride_(o.stride),
      grids_(s.side.sizes.source_grid.size() == 2),
      last_(b.at("input"), s.side.options.d_model, width_of(o)) {
  int64_t in = s.side.sizes.source_width;
  for (int64_t l = 0; l < o.layers; ++l) {
    const Blueprint place = b.at("input").at(std::to_string(l));
    const int64_t out = o.channels << l, seen = (grids_ ? size_ * size_ : size_) * in;
    const Shape shape = grids_ ? Shape{out, size_, size_, in} : Shape{out, size_, in};
    // He et al. 2015: half of what goes through a relu is lost.
    const Init init = Init::xavier(seen, seen, std::numbers::sqrt2);
    layers_.push_back({place.filters("weight", shape, init), place.vector("bias", out, Init::zeros())});
    rows_per_row_ /= static_cast<double>(grids_ ? stride_ * stride_ : stride_);
    numbers_ += rows_per_row_ * static_cast<double>(seen * out);
    in = out;
  }
  numbers_ += rows_per_row_ * static_cast<double>(in * s.side.options.d_model);
}

Encoded ConvolutionInput::on_grids(const Pass& pass, const Rows& rows) const {
  const ConvolutionAxis axis{stride_, 1, Padding::same};
  const GridConvolutionOptions options{axis, axis};
  const auto side = static_cast<int32_t>(size_);
  auto from = keep(pass.ctx, grids_of(rows));
  Var x = values_of(pass, rows);
  for (const Layer& l : layers_) {
    const auto to = keep(pass.ctx, convolved(*from, {side, side}, options));
    x = convolution(pass.ctx, x, {pass[l.weight], pass[l.bias]}, *from, *to, options);
    x = activation(pass.ctx, x, {Activation::relu, false});
    from = to;
  }
  const auto own = rows_of_grids(pass, *from, rows);
  return {x, own.get(), own};
}

Encoded ConvolutionInput::on_sequences(const Pass& pass, const Rows& rows) const {
  ConvolutionOptions options;
  options.stride = stride_;
  auto from = keep(pass.ctx, Segments(rows.segments));
  Var x = values_of(pass, rows);
  for (const Layer& l : layers_) {
    const auto to = keep(pass.ctx, convolved(*from, size_, options));
    x = convolution(pass.ctx, x, {pass[l.weight], pass[l.bias]}, *from, *to, options);
    x = activation(pass.ctx, x, {Activation::relu, false});
    from = to;
  }
  Rows fewer;
  fewer.segments = *from;
  fewer.first_row = rows.first_row;
  const auto own = keep(pass.ctx, std::move(fewer));
  return {x, own.get(), own};
}

Encoded ConvolutionInput::operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const {
  Encoded e = grids_ ? on_grids(pass, rows) : on_sequences(pass, rows);
  e.x = placed(pass, last_(pass, e.x), *e.rows, offsets);
  return e;
}

}  // namespace attune
