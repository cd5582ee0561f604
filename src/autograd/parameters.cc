#include "autograd/parameters.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

int Parameters::add(std::string name, const Shape& shape, bool packed) {
  const int i = add_entry(name, shape, packed);
  add_name(std::move(name), shape, 0);
  return i;
}

int Parameters::add_buffer(std::string name, const Shape& shape) {
  const int i = add(std::move(name), shape);
  entries_.back().buffer = true;
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
  int64_t at = 0;  // within the entry, until allocate() places it
  for (const ParameterPart& p : parts) {
    add_name(p.name, shape(p.rows), at);
    at += shape(p.rows).size();
  }
  return i;
}

void Parameters::add_name(std::string name, const Shape& shape, int64_t offset) {
  for (const NamedParameter& n : named_) check(n.name != name, "parameters", "two are named '{}'", name);
  named_.push_back({std::move(name), shape, offset});
  ++entries_.back().names;
}

void Parameters::mark_words(int i) { entries_[static_cast<size_t>(i)].words = true; }

void Parameters::freeze(int i) {
  check(data_.size() == 0, "parameters", "'{}' is frozen after allocate()", name(i));
  entries_[static_cast<size_t>(i)].frozen = true;
}

std::span<const NamedParameter> Parameters::names(int i) const {
  const Entry& e = entries_[static_cast<size_t>(i)];
  return {named_.data() + e.first_name, static_cast<size_t>(e.names)};
}

int64_t Parameters::frozen() const {
  int64_t count = 0;
  for (const Entry& e : entries_)
    if (e.frozen) count += static_cast<int64_t>(e.names);
  return count;
}

int64_t Parameters::numbers() const {
  int64_t n = 0;
  for (const Entry& e : entries_) n += e.shape.size();
  return n;
}

int Parameters::add_entry(std::string name, const Shape& shape, bool packed) {
  check(data_.size() == 0, "parameters", "'{}' comes after allocate()", name);
  check(!packed || shape.rank() >= 2, "parameters", "'{}' is {}: only a matrix can be packed", name, shape.text());
  Entry& e = entries_.emplace_back();
  e.name = std::move(name);
  e.shape = shape;
  e.packed = packed;
  e.first_name = static_cast<int32_t>(named_.size());
  return count() - 1;
}

void Parameters::place(Entry& entry, int64_t& at) {
  entry.offset = at;
  for (int i = 0; i < entry.names; ++i) named_[static_cast<size_t>(entry.first_name + i)].offset += at;
  at = (at + entry.shape.size() + 15) / 16 * 16;
}

void Parameters::allocate() {
  int64_t at = 0;
  for (Entry& e : entries_)
    if (!e.buffer && !e.frozen) place(e, at);
  trained_ = at;
  for (Entry& e : entries_)
    if (e.buffer && !e.frozen) place(e, at);
  changing_ = at;
  for (Entry& e : entries_)
    if (e.frozen) place(e, at);
  data_ = Aligned<float>(at);
}

bool Parameters::holds_int8() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.int8 != nullptr; });
}

bool Parameters::can_be_int8(int i) const {
  const Entry& e = entries_[static_cast<size_t>(i)];
  return (e.packed || e.words) && e.shape.rank() == 2 && e.shape[1] > 0 && e.shape[1] <= kernels::kInt8Longest;
}

void Parameters::hold_int8() {
  check(!holds_int8() && data_.size() > 0, "parameters", "int8 is for what allocate() made, once");
  data_ = {};
  int64_t at = 0;
  for (int i = 0; i < count(); ++i) {
    Entry& e = entries_[static_cast<size_t>(i)];
    e.offset = 0;
    int64_t within = 0;
    for (int n = 0; n < e.names; ++n) {
      NamedParameter& part = named_[static_cast<size_t>(e.first_name + n)];
      part.offset = within;
      within += part.shape.size();
    }
    if (!can_be_int8(i)) {
      place(e, at);
      continue;
    }
    e.int8 = std::make_unique<Int8Weight>();
    e.int8->values = Aligned<int8_t>(e.shape.size() + 16);
    e.int8->scales = Aligned<float>(e.shape[0]);
  }
  trained_ = changing_ = 0;
  data_ = Aligned<float>(at);
}

void Parameters::repack_int8(const Entry& e, ThreadPool* pool) {
  Int8Weight& w = *e.int8;
  if (w.values.size() == 0) return;  // packed before
  const Int8Rows rows{w.values.data(), w.scales.data(), e.shape[0], e.shape[1]};
  if (e.packed) {
    w.panels = Aligned<int8_t>::unset(kernels::packed_int8_bytes(rows.cols, rows.rows));
    w.packed = kernels::pack_int8(rows, w.panels.data(), pool);
  }
  if (e.words)
    w.rows = rows;
  else
    w.values = {};
}

Tensor Parameters::value(int i) const {
  const Entry& e = entries_[static_cast<size_t>(i)];
  if (e.int8) return Tensor(static_cast<float*>(nullptr), e.shape);
  return Tensor(data_.data() + e.offset, e.shape);
}

void Parameters::repack(ThreadPool* pool) {
  for (int i = 0; i < count(); ++i) {
    Entry& e = entries_[static_cast<size_t>(i)];
    if (e.int8) repack_int8(e, pool);
    if (e.int8 || !e.packed) continue;
    const int64_t out = e.shape[0], in = e.shape.size() / std::max<int64_t>(out, 1);
    const float* w = data_.data() + e.offset;
    const auto room = [](Aligned<float>& panels, int64_t k, int64_t n) {
      const int64_t floats = kernels::packed_floats(k, n);
      if (panels.size() != floats) panels = Aligned<float>(floats);
      return panels.data();
    };
    e.matrix = kernels::pack(w, in, true, in, out, room(e.panels, in, out), pool);
    if (e.shape.rank() > 2) continue;  // filters: what their gradient multiplies by is arranged in another way
    e.matrix_transposed = kernels::pack(w, in, false, out, in, room(e.panels_transposed, out, in), pool);
  }
}

Var Parameters::var(Ctx& ctx, int i, Gradients* to) const {
  const Entry& e = entries_[static_cast<size_t>(i)];
  Var v = to && !e.buffer && !e.frozen ? ctx.parameter(value(i), to->grad(i), to->written(i)) : ctx.input(value(i));
  if (e.matrix.data) {
    v.slot()->packed = &e.matrix;
    if (e.matrix_transposed.data) v.slot()->packed_transposed = &e.matrix_transposed;
  }
  v.slot()->int8 = e.int8.get();
  return v;
}

Gradients::Gradients(const Parameters& parameters)
    : parameters_(parameters),
      data_(parameters.changing()),
      written_(std::make_unique<bool[]>(static_cast<size_t>(parameters.count()))) {
  check(!parameters.holds_int8(), "gradients", "an int8 model is for use and can't be trained");
}

void Gradients::start() { std::fill_n(written_.get(), parameters_.count(), false); }

void Gradients::finish() {
  for (int i = 0; i < parameters_.count(); ++i)
    if (!written_[static_cast<size_t>(i)] && !parameters_.is_frozen(i))  // of what is frozen there is none
      std::fill_n(grad(i).as<float>(), grad(i).size(), 0.0f);
}

Tensor Gradients::grad(int i) const { return Tensor(data_.data() + parameters_.offset(i), parameters_.value(i).shape); }

}  // namespace attune
