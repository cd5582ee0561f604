#include "checkpoint/tensors.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/half.h"
#include "base/text.h"
#include "checkpoint/quantized.h"

namespace attune {

namespace {

constexpr const char* kSameVersion = "\n  fix: use the recipe and the version this file was saved with";

/// What is wrong between the tensors that are wanted and those a file has: the first fault, and how many more.
class Mismatch {
 public:
  explicit Mismatch(const SafetensorsFile& file) : file_(file) {}
  void add(const std::string& what) {
    if (count_++ == 0) first_ = what;
  }
  void raise() const {
    if (count_ == 0) return;
    fail(ErrorKind::model, "{}: {}{}{}", file_.path(), first_,
         count_ > 1 ? fmt::format(" (and {} more like this)", thousands(count_ - 1)) : "", kSameVersion);
  }

 private:
  const SafetensorsFile& file_;
  std::string first_;
  int64_t count_ = 0;
};

/// Which types may stand for that which is wanted.
enum class Types { same, widened };

bool fits(Stored wanted, Stored found, Types types) {
  const bool half = found == Stored::f16 || found == Stored::bf16;
  return wanted == found || (types == Types::widened && wanted == Stored::f32 && half);
}

void compare(const StoredTensor& wanted, const StoredTensor* found, Types types, Mismatch& mismatch) {
  if (!found)
    mismatch.add(fmt::format("tensor '{}' {} is missing", wanted.name, wanted.shape_text()));
  else if (!fits(wanted.type, found->type, types))
    mismatch.add(fmt::format("tensor '{}' is {}, not {}", wanted.name, name_of(found->type), name_of(wanted.type)));
  else if (found->dims != wanted.dims)
    mismatch.add(
        fmt::format("tensor '{}' is {}, the model wants {}", wanted.name, found->shape_text(), wanted.shape_text()));
}

void check_same(const SafetensorsFile& file, const StoredTensors& wanted, Types types = Types::same) {
  Mismatch mismatch(file);
  for (const StoredTensor& w : wanted) compare(w, file.find(w.name), types, mismatch);
  std::vector<std::string> names;
  for (const StoredTensor& w : wanted) names.push_back(w.name);
  std::sort(names.begin(), names.end());
  for (const StoredTensor& t : file.tensors())
    if (!std::binary_search(names.begin(), names.end(), t.name))
      mismatch.add(fmt::format("tensor '{}' {} is not part of the model", shown_name(t.name), t.shape_text()));
  mismatch.raise();
}

/// A model with such a weight would answer nonsense, or nothing, without a word. Weights this large, whose products are
/// no numbers, have no better use.
constexpr float kLargest = 1e18f;

void refuse_not_finite(const SafetensorsFile& file, const std::string& name, const float* x, int64_t size) {
  const int64_t at = std::find_if_not(x, x + size, [](float v) { return std::abs(v) <= kLargest; }) - x;
  if (at < size)
    fail(ErrorKind::model,
         "{}: tensor '{}' is not all numbers: {} at place {}\n  fix: take another checkpoint; this one was saved by "
         "another program, or changed",
         file.path(), shown_name(name),
         std::isnan(x[at])   ? "NaN"
         : std::isinf(x[at]) ? "infinity"
                             : fmt::format("{:g}, too large to compute with,", x[at]),
         thousands(at));
}

void read_widened(const SafetensorsFile& file, const StoredTensor& to) {
  const StoredTensor& from = *file.find(to.name);
  if (from.type == to.type) {
    file.read(from, to.data);
  } else {
    std::vector<uint16_t> halves(static_cast<size_t>(from.size()));
    file.read(from, halves.data());
    std::transform(halves.begin(), halves.end(), static_cast<float*>(to.data),
                   from.type == Stored::f16 ? of_f16 : of_bf16);
  }
  if (to.type == Stored::f32) refuse_not_finite(file, to.name, static_cast<const float*>(to.data), to.size());
}

std::vector<int64_t> dims_of(const Shape& shape) {
  std::vector<int64_t> dims;
  for (int d = 0; d < shape.rank(); ++d) dims.push_back(shape[d]);
  return dims;
}

/// Where the numbers of a model that holds int8 go.
StoredTensors int8_places(Parameters& parameters) {
  StoredTensors all;
  for (int i = 0; i < parameters.count(); ++i) {
    int64_t row = 0;
    for (const NamedParameter& p : parameters.names(i)) {
      if (!parameters.can_be_int8(i)) {
        all.push_back({p.name, Stored::f32, dims_of(p.shape), parameters.data() + p.offset});
        continue;
      }
      Int8Weight& w = parameters.int8(i);
      all.push_back({p.name, Stored::i8, dims_of(p.shape), w.values.data() + row * p.shape[1]});
      all.push_back({p.name + kScaleSuffix, Stored::f32, {p.shape[0]}, w.scales.data() + row});
      row += p.shape[0];
    }
  }
  return all;
}

}  // namespace

StoredTensors tensors_of(const Parameters& parameters, float* data, const std::string& suffix) {
  check(!parameters.holds_int8(), "checkpoint", "the weights of an int8 model are not f32");
  StoredTensors tensors;
  for (const NamedParameter& p : parameters.named())
    tensors.push_back({p.name + suffix, Stored::f32, dims_of(p.shape), (data ? data : parameters.data()) + p.offset});
  return tensors;
}

void load_tensors(const std::string& path, const StoredTensors& into) {
  const SafetensorsFile file(path);
  check_same(file, into);
  for (const StoredTensor& t : into) file.read(*file.find(t.name), t.data);
}

void check_declared(const std::string& path, const Parameters& parameters) {
  const SafetensorsFile file(path);
  Mismatch mismatch(file);
  for (const NamedParameter& p : parameters.named()) {
    const StoredTensor* found = file.find(p.name);
    StoredTensor wanted{p.name, found ? found->type : Stored::f32, dims_of(p.shape), nullptr};
    compare(wanted, found, Types::same, mismatch);
  }
  mismatch.raise();
}

void check_finite(const SafetensorsFile& file) {
  std::vector<float> values;
  std::vector<uint16_t> halves;
  for (const StoredTensor& t : file.tensors()) {
    const bool half = t.type == Stored::f16 || t.type == Stored::bf16;
    if (t.type != Stored::f32 && !half) continue;
    values.resize(static_cast<size_t>(t.size()));
    if (half) {
      halves.resize(values.size());
      file.read(t, halves.data());
      std::transform(halves.begin(), halves.end(), values.begin(), t.type == Stored::f16 ? of_f16 : of_bf16);
    } else {
      file.read(t, values.data());
    }
    refuse_not_finite(file, t.name, values.data(), t.size());
  }
}

void load_parameters(const std::string& path, Parameters& parameters, ThreadPool* pool) {
  const SafetensorsFile file(path);
  const bool int8 = std::any_of(file.tensors().begin(), file.tensors().end(),
                                [](const StoredTensor& t) { return t.type == Stored::i8; });
  if (int8) parameters.hold_int8();
  const StoredTensors into = int8 ? int8_places(parameters) : tensors_of(parameters);
  check_same(file, into, Types::widened);
  for (const StoredTensor& t : into) read_widened(file, t);
  parameters.repack(pool);
}

StoredTensors tensors_of(Weights& weights) {
  StoredTensors tensors;
  for (auto& [name, one] : weights.by_name) tensors.push_back({name, Stored::f32, one.dims, one.values.data()});
  return tensors;
}

Weights average_weights(std::vector<std::string> paths) {
  check(!paths.empty(), "average", "no models to average");
  std::sort(paths.begin(), paths.end());
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  for (const std::string& p : paths) files.push_back(std::make_unique<SafetensorsFile>(p));
  for (const auto& file : files)
    for (const StoredTensor& t : file->tensors())
      if (t.type != Stored::f32)
        fail(ErrorKind::model,
             "{}: tensor '{}' is {}, only F32 can be averaged\n  fix: average the models, then quantize the average",
             file->path(), shown_name(t.name), name_of(t.type));
  for (size_t i = 1; i < files.size(); ++i) check_same(*files[i], files[0]->tensors());

  Weights mean;
  std::vector<double> sum;
  for (const StoredTensor& t : files[0]->tensors()) {  // one tensor at a time: the files stay on the disk
    const auto size = static_cast<size_t>(t.size());
    Weights::One& one = mean.by_name[t.name];
    one.dims = t.dims;
    one.values.resize(size);
    sum.assign(size, 0.0);
    for (const auto& file : files) {
      file->read(*file->find(t.name), one.values.data());
      refuse_not_finite(*file, t.name, one.values.data(), t.size());
      for (size_t i = 0; i < size; ++i) sum[i] += static_cast<double>(one.values[i]);
    }
    const auto count = static_cast<double>(files.size());
    for (size_t i = 0; i < size; ++i) one.values[i] = static_cast<float>(sum[i] / count);
  }
  return mean;
}

}  // namespace attune
