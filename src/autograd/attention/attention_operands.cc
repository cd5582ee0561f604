#include "autograd/attention/attention_operands.h"

#include <algorithm>

namespace attune {

namespace {

void place_part(Ctx& ctx, std::span<PartOf> all, size_t first) {
  const Slot* slot = all[first].sink->slot();
  for (size_t i = 0; i < first; ++i)
    if (all[i].sink->slot() == slot) return;  // placed with an earlier one
  Grad g = ctx.grad(*all[first].sink);
  if (!g) return;
  int64_t covered = 0;
  bool apart = true;
  for (const PartOf& p : all) {
    if (p.sink->slot() != slot) continue;
    covered += p.width;
    for (const PartOf& o : all)
      apart = apart &&
              (&o == &p || o.sink->slot() != slot || o.column + o.width <= p.column || p.column + p.width <= o.column);
  }
  if (!g.add && !(apart && covered == g.tensor.cols())) {
    ctx.run([&] {
      for (int64_t r = 0; r < g.tensor.rows(); ++r) std::fill_n(g.tensor.row<float>(r), g.tensor.cols(), 0.0f);
    });
    g.add = true;
  }
  for (PartOf& p : all)
    if (p.sink->slot() == slot) *p.part = {rows_of(g.tensor, p.column), g.add};
}

}  // namespace

void place_parts(Ctx& ctx, std::span<PartOf> all) {
  for (size_t i = 0; i < all.size(); ++i) place_part(ctx, all, i);
}

}  // namespace attune
