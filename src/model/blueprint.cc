#include "model/blueprint.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace attune {

Init Init::xavier(int64_t in, int64_t out, double gain) {
  return {Kind::uniform, gain * std::sqrt(6.0 / static_cast<double>(in + out))};
}

int Blueprint::add(int index, Init init) const {
  shared_->inits.push_back(init);
  return index;
}

int Blueprint::matrix(const std::string& name, int64_t out, int64_t in, Init init) const {
  return add(shared_->parameters.add(full(name), {out, in}, true), init);
}

int Blueprint::filters(const std::string& name, const Shape& shape, Init init) const {
  return add(shared_->parameters.add(full(name), shape, true), init);
}

int Blueprint::table(const std::string& name, int64_t rows, int64_t columns, Init init) const {
  return add(shared_->parameters.add(full(name), {rows, columns}), init);
}

int Blueprint::table_once(const std::string& name, int64_t rows, int64_t columns, Init init) const {
  for (int i = 0; i < shared_->parameters.count(); ++i)
    if (shared_->parameters.name(i) == full(name)) return i;
  return table(name, rows, columns, init);
}

int Blueprint::vector(const std::string& name, int64_t size, Init init) const {
  return add(shared_->parameters.add(full(name), {size}), init);
}

int Blueprint::buffer(const std::string& name, int64_t rows, int64_t columns, Init init) const {
  return add(shared_->parameters.add_buffer(full(name), {rows, columns}), init);
}

int Blueprint::joined(std::vector<ParameterPart> parts, int64_t in, Init init) const {
  for (ParameterPart& p : parts) p.name = full(p.name);
  return add(shared_->parameters.add_joined(parts, in, in > 0), init);
}

int Blueprint::memory(int64_t rows, int64_t width) const {
  shared_->memories.push_back({full("memory"), rows, width});
  return static_cast<int>(shared_->memories.size()) - 1;
}

void initialize(Parameters& parameters, const std::vector<Init>& inits, uint64_t seed) {
  for (int i = 0; i < parameters.count(); ++i) {
    const Init& init = inits[static_cast<size_t>(i)];
    const Tensor t = parameters.value(i);
    float* x = t.as<float>();
    Random random(mix(seed, hash64(parameters.name(i))));
    switch (init.kind) {
      case Init::Kind::zeros:
        std::fill_n(x, t.size(), 0.0f);
        break;
      case Init::Kind::constant:
        std::fill_n(x, t.size(), static_cast<float>(init.reach));
        break;
      case Init::Kind::uniform:
        for (int64_t j = 0; j < t.size(); ++j) x[j] = static_cast<float>(random.uniform(-init.reach, init.reach));
        break;
      case Init::Kind::normal:
        for (int64_t j = 0; j < t.size(); ++j) x[j] = static_cast<float>(init.reach * random.normal());
        break;
    }
  }
}

}  // namespace attune
