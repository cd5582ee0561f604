// Convolutions of training, over sequences and over pictures: all three passes, against the peak.
#include "kernels/convolution/convolution.h"

#include <fmt/format.h>

#include "laboratory.h"

namespace attune::laboratory {

namespace {

/// `count` pictures (a sequence is one of a single line), centred windows of taps x taps (sequences: 1 x taps).
struct Layer {
  int64_t count, height, width, in, out, taps, stride = 1, groups = 1;
  int64_t taps_high() const { return height == 1 ? 1 : taps; }
  int64_t weights() const { return out * taps_high() * taps * in / groups; }
};

const char* text(kernels::ConvolutionPass pass) {
  switch (pass) {
    case kernels::ConvolutionPass::forward:
      return "forward";
    case kernels::ConvolutionPass::input:
      return "to input";
    case kernels::ConvolutionPass::weight:
      return "to weights";
  }
  return "";
}

struct Operands {
  Layer layer;
  std::shared_ptr<Grids> from, to;
  Floats x, weight, y, scratch;
  kernels::Convolution c;

  explicit Operands(const Layer& l) : layer(l) {
    const int64_t reach = l.taps - 1, reach_high = l.taps_high() - 1;
    c.width = {l.taps, l.stride, 1, reach / 2, reach - reach / 2};
    c.height = {l.taps_high(), l.height == 1 ? 1 : l.stride, 1, reach_high / 2, reach_high - reach_high / 2};
    const auto grids = [&](int64_t height, int64_t width) {
      return std::make_shared<Grids>(Grids::of_sizes(std::vector<GridSize>(
          static_cast<size_t>(l.count), {static_cast<int32_t>(height), static_cast<int32_t>(width)})));
    };
    from = grids(l.height, l.width);
    to = grids(c.height.places(l.height), c.width.places(l.width));
    c.from = {&from->segments, from->sizes.data()};
    c.to = {&to->segments, to->sizes.data()};
    c.groups = l.groups;
    x = random(from->rows() * l.in, 1);
    weight = random(l.weights(), 2);
    y = random(to->rows() * l.out, 3);
    c.x = matrix(x, from->rows(), l.in);
    c.weight = Tensor(weight->data(), Shape{l.out, l.taps_high(), l.taps, l.in / l.groups});
    c.y = matrix(y, to->rows(), l.out);
  }

  Run ours(kernels::ConvolutionPass pass) {
    scratch = zeros(kernels::convolution_scratch(c, pass, 1) / static_cast<int64_t>(sizeof(float)));
    return [kept = *this, pass] { kernels::convolution(kept.c, pass, false, kept.scratch->data(), nullptr); };
  }

  Run naive() const {
    return [kept = *this] {
      const kernels::Convolution& c = kept.c;
      const int64_t ins = c.group_in(), outs = c.group_out();
      kernels::Walk walk(c.ahead(), 0);
      for (int64_t t = 0; t < c.y.rows(); ++t, walk.next())
        for (int64_t k = 0; k < c.y.cols(); ++k) {
          float total = 0;
          walk.each([&](int64_t tap, int64_t row) {
            const float* from = c.x.row<float>(row) + k / outs * ins;
            const float* filter = c.weight.as<float>() + (k * c.taps() + tap) * ins;
            for (int64_t i = 0; i < ins; ++i) total += from[i] * filter[i];
          });
          c.y.row<float>(t)[k] = total;
        }
    };
  }

  Run onednn(kernels::ConvolutionPass pass) const {
    const Layer& l = layer;
    return onednn_convolution({l.count, l.height, l.width, l.in, l.out, l.taps_high(), l.taps, l.stride, l.groups},
                              pass, x, y);
  }
};

}  // namespace

void add_convolution(Experiments& to) {
  using Pass = kernels::ConvolutionPass;
  for (const Layer& l : {Layer{32, 1, 128, 256, 256, 3},
                         {32, 1, 128, 256, 256, 3, 2},
                         {64, 28, 28, 32, 64, 3},
                         {64, 28, 28, 32, 64, 3, 2},
                         {8, 224, 224, 3, 64, 7, 2},
                         {32, 1, 128, 256, 256, 15, 1, 256},
                         {16, 28, 28, 64, 64, 3, 1, 64}})
    for (const Pass pass : {Pass::forward, Pass::input, Pass::weight}) {
      Experiment e;
      e.name = fmt::format("convolution/{}x{}x{} {}-{} taps {} stride {}{} {}", l.count, l.height, l.width, l.in, l.out,
                           l.taps, l.stride, l.groups > 1 ? " depthwise" : "", text(pass));
      const Operands sizes({1, l.height, l.width, l.in, l.out, l.taps, l.stride, l.groups});
      e.flops = 2.0 * static_cast<double>(sizes.to->rows() * l.count) * static_cast<double>(l.weights());
      e.contenders = {"ours", "oneDNN"};
      if (pass == Pass::forward) e.contenders.emplace_back("naive");
      e.make = [l, pass] {
        Operands o(l);
        std::vector<Run> runs{o.ours(pass), o.onednn(pass)};
        if (pass == Pass::forward) runs.push_back(o.naive());
        return runs;
      };
      to.push_back(e);
    }
}

}  // namespace attune::laboratory
