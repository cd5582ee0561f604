#include "model/input/patches.h"

#include "autograd/operations/convolution.h"
#include "base/error.h"

namespace attune {

namespace {

std::vector<int64_t> in_patches(const InputSetup& s, int64_t size) {
  std::vector<int64_t> grid;
  for (const int64_t pixels : s.side.sizes.source_grid) {
    if (pixels < size)
      fail(ErrorKind::recipe,
           "model.input: patches of {} pixels, and the pictures have {} on a side\n  fix: set size = {} or less", size,
           pixels, pixels);
    grid.push_back(pixels / size);
  }
  return grid;
}

}  // namespace

PatchesInput::PatchesInput(const Options& o, const InputSetup& s, const Blueprint& b)
    : Input(s, b, in_patches(s, o.size)), size_(o.size) {
  const int64_t d = s.side.options.d_model, in = s.side.sizes.source_width;
  const Blueprint place = b.at("input");
  numbers_ = static_cast<double>(d * in);
  weight_ = place.filters("weight", {d, size_, size_, in}, Init::xavier(size_ * size_ * in, d));
  bias_ = place.vector("bias", d, Init::zeros());
}

Encoded PatchesInput::operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const {
  const ConvolutionAxis axis{size_, 1, Padding::valid};
  const GridConvolutionOptions options{axis, axis};
  const auto side = static_cast<int32_t>(size_);
  const auto from = keep(pass.ctx, grids_of(rows));
  const auto to = keep(pass.ctx, convolved(*from, {side, side}, options));
  for (int64_t i = 0; i < rows.segments.count(); ++i)
    if (to->segments.length(i) == 0 && rows.segments.length(i) > 0)
      fail(ErrorKind::data,
           "a picture of {} x {} pixels is smaller than a patch of {} x {}\n  fix: leave small pictures out, or train "
           "with model.input = {{ kind = \"patches\", size = ... }} of the smallest",
           from->sizes[static_cast<size_t>(i)].height, from->sizes[static_cast<size_t>(i)].width, size_, size_);
  const auto own = rows_of_grids(pass, *to, rows);
  const Var x = convolution(pass.ctx, values_of(pass, rows), {pass[weight_], pass[bias_]}, *from, *to, options);
  return {placed(pass, x, *own, offsets), own.get(), own};
}

}  // namespace attune
