#include "autograd/parameters.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

int Parameters::add(std::string name, const Shape& shape, bool packed) {
  const int i = add_entry(name, shape, packed);
  add_name(std::move(name), shape, offset(i));
  return i;
}

int Parameters::add_joined(const std::vector<ParameterPart>& parts, int64_t columns, bool packed) {
  check(!parts.empty(), "parameters", "nothing to join");
  int64_t rows = 0;
  std::string name;
  for (const ParameterPart& p : parts) {
    rows += p.rows;
    name += (name.empty() ? "" : " + ") + p.name;
  }
  const auto shape = [&](int64_t n) { return columns > 0 ? Shape{n, columns} : Shape{n}; };
  const int i = add_entry(name, shape(rows), packed);
  int64_t at = offset(i);
  for (const ParameterPart& p : parts) {
    add_name(p.name, shape(p.rows), at);
    at += shape(p.rows).size();
  }
  return i;
}

void Parameters::add_name(std::string name, const Shape& shape, int64_t offset) {
  for (const NamedParameter& n : named_) check(n.name != name, "parameters", "two are named '{}'", name);
  named_.push_back({std::move(name), shape, offset});
}

int64_t Parameters::numbers() const {
  int64_t n = 0;
  for (const Entry& e : entries_) n += e.shape.size();
  return n;
}

int Parameters::add_entry(std::string name, const Shape& shape, bool packed) {
  check(data_.size() == 0, "parameters", "'{}' comes after allocate()", name);
  check(!packed || shape.rank() == 2, "parameters", "'{}' is {}: only a matrix can be packed", name, shape.text());
  int64_t offset = 0;
  if (!entries_.empty()) {
    const Entry& last = entries_.back();
    offset = (last.offset + last.shape.size() + 15) / 16 * 16;
  }
  entries_.push_back({std::move(name), shape, offset, packed, {}, {}, {}, {}});
  return count() - 1;
}

void Parameters::allocate() {
  const Entry* last = entries_.empty() ? nullptr : &entries_.back();
  data_ = Aligned<float>(last ? (last->offset + last->shape.size() + 15) / 16 * 16 : 0);
}

Tensor Parameters::value(int i) const {
  const Entry& e = entries_[static_cast<size_t>(i)];
  return Tensor(data_.data() + e.offset, e.shape);
}

void Parameters::repack(ThreadPool* pool) {
  for (int i = 0; i < count(); ++i) {
    Entry& e = entries_[static_cast<size_t>(i)];
    if (!e.packed) continue;
    const int64_t out = e.shape[0], in = e.shape[1];
    const float* w = data_.data() + e.offset;
    const auto room = [](Aligned<float>& panels, int64_t k, int64_t n) {
      const int64_t floats = kernels::packed_floats(k, n);
      if (panels.size() != floats) panels = Aligned<float>(floats);
      return panels.data();
    };
    e.matrix = kernels::pack(w, in, true, in, out, room(e.panels, in, out), pool);
    e.matrix_transposed = kernels::pack(w, in, false, out, in, room(e.panels_transposed, out, in), pool);
  }
}

Var Parameters::var(Ctx& ctx, int i, Gradients* to) const {
  Var v = to ? ctx.parameter(value(i), to->grad(i), to->written(i)) : ctx.input(value(i));
  const Entry& e = entries_[static_cast<size_t>(i)];
  if (e.matrix.data) {
    v.slot()->packed = &e.matrix;
    v.slot()->packed_transposed = &e.matrix_transposed;
  }
  return v;
}

Gradients::Gradients(const Parameters& parameters)
    : parameters_(parameters),
      data_(parameters.size()),
      written_(std::make_unique<bool[]>(static_cast<size_t>(parameters.count()))) {}

void Gradients::start() { std::fill_n(written_.get(), parameters_.count(), false); }

void Gradients::finish() {
  for (int i = 0; i < parameters_.count(); ++i)
    if (!written_[static_cast<size_t>(i)]) std::fill_n(grad(i).as<float>(), grad(i).size(), 0.0f);
}

Tensor Gradients::grad(int i) const { return Tensor(data_.data() + parameters_.offset(i), parameters_.value(i).shape); }

}  // namespace attune
