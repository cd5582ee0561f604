#include "data/corpus/piece_dropout.h"

#include <numeric>

namespace attune {

namespace {

struct Dropper {
  const std::vector<text::Halves>& halves;
  double rate;
  Random& random;
  std::vector<int32_t>& ids;

  void add(int32_t id) {
    const text::Halves& h = halves[static_cast<size_t>(id)];
    if (!h.any() || random.uniform() >= rate) {
      ids.push_back(id);
      return;
    }
    add(h.left);
    add(h.right);
  }
};

}  // namespace

void drop_pieces(std::span<const int32_t> sentence, const std::vector<text::Halves>& halves, double rate,
                 int64_t longest, Random& random, FallenApart& to) {
  to.ids.clear();
  to.start.assign(1, 0);
  Dropper dropper{halves, rate, random, to.ids};
  for (const int32_t id : sentence) {
    dropper.add(id);
    to.start.push_back(static_cast<int32_t>(to.ids.size()));
  }
  if (static_cast<int64_t>(to.ids.size()) <= longest) return;
  to.ids.assign(sentence.begin(), sentence.end());
  std::iota(to.start.begin(), to.start.end(), 0);
}

}  // namespace attune
