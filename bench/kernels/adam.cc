// One update of Adam over flat memory: four numbers in and three out per parameter.
#include "kernels/optimizer/adam.h"

#include <cmath>

#include "laboratory.h"

namespace attune::laboratory {

void add_adam(Experiments& to) {
  constexpr int64_t count = 8 << 20;
  Experiment e;
  e.name = "adam/8M parameters";
  e.kind = Kind::copy;
  e.bytes = 28.0 * count;
  e.contenders = {"ours", "naive", "memcpy"};
  e.make = [bytes = e.bytes] {
    const auto p = random(count, 1), g = random(count, 2), m = zeros(count), v = zeros(count);
    const kernels::AdamStep step{.step = 10};
    return std::vector<Run>{[=] {
                              kernels::adam(step, {p->data(), g->data(), m->data(), v->data(), count});
                            },
                            [=] {
                              const auto b1 = static_cast<float>(step.beta1), b2 = static_cast<float>(step.beta2);
                              const auto c1 = static_cast<float>(1 - std::pow(step.beta1, 10)),
                                         c2 = static_cast<float>(1 - std::pow(step.beta2, 10));
                              for (int64_t i = 0; i < count; ++i) {
                                float &first = m->data()[i], &second = v->data()[i];
                                const float gradient = g->data()[i];
                                first = b1 * first + (1 - b1) * gradient;
                                second = b2 * second + (1 - b2) * gradient * gradient;
                                p->data()[i] -= 1e-3f * (first / c1) / (std::sqrt(second / c2) + 1e-9f);
                              }
                            },
                            copy_of(bytes)};
  };
  to.push_back(e);
}

}  // namespace attune::laboratory
