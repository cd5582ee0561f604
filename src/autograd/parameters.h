// All parameters of a model in one flat block, so that the optimiser, averaging, all-reduce and checkpoints are loops
// over flat memory. Gradients are a block of the same layout, one per shard.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/tape.h"
#include "base/aligned.h"
#include "kernels/matrix/gemm.h"
#include "kernels/matrix/int8.h"

namespace attune {

class Gradients;

/// A weight matrix as int8, in models that are used and no longer trained.
struct Int8Weight {
  Aligned<int8_t> values;  // row by row, 16 bytes more; gone once packed where nobody looks rows up
  Aligned<float> scales;   // of the rows
  Aligned<int8_t> panels;
  Int8Rows rows;      // for embed(), where rows are looked up
  PackedInt8 packed;  // for linear(), where it is multiplied by
};

/// A run of whole rows of a parameter under a name of its own.
struct ParameterPart {
  std::string name;
  int64_t rows = 0;
};

/// How a parameter is known outside: what files hold.
struct NamedParameter {
  std::string name;
  Shape shape;
  int64_t offset = 0;  // in the flat block
};

class Parameters {
 public:
  /// Names a parameter; all are added before allocate(). `packed` keeps panels of a weight matrix ready for
  /// linear(), or of filters [out, ...] for convolution().
  int add(std::string name, const Shape& shape, bool packed = false);
  /// The same for one that is a single matrix (or vector) in memory and several outside, one above the other: query,
  /// key and value of a layer, computed in one product. Without columns they are vectors.
  int add_joined(const std::vector<ParameterPart>& parts, int64_t columns, bool packed = false);
  /// Numbers that no gradient changes: a rule of their owner moves them after each update, by what its layers gathered
  /// in their place of the Gradients (centroids of clusters). They lie behind all others.
  int add_buffer(std::string name, const Shape& shape);
  /// Its rows are words, looked up by embed().
  void mark_words(int i);
  /// No update changes it from now on: it gets no gradient and lies behind all that does change.
  void freeze(int i);
  /// Makes the flat block, filled with zeros.
  void allocate();

  int count() const { return static_cast<int>(entries_.size()); }
  const std::string& name(int i) const { return entries_[static_cast<size_t>(i)].name; }
  Tensor value(int i) const;
  /// Every parameter as files name it, in the order they were added.
  const std::vector<NamedParameter>& named() const { return named_; }
  /// How many numbers there are in all.
  int64_t numbers() const;
  /// The flat block; each parameter begins at a multiple of 16, with zeros between.
  float* data() const { return data_.data(); }
  int64_t size() const { return data_.size(); }
  /// How much of the block, from its beginning, gradients change: all but the buffers and what is frozen.
  int64_t trained() const { return trained_; }
  /// How much of it updates change: those, and the buffers.
  int64_t changing() const { return changing_; }
  bool is_frozen(int i) const { return entries_[static_cast<size_t>(i)].frozen; }
  /// How many are, by their names in files.
  int64_t frozen() const;
  /// A parameter under the names that files have for it.
  std::span<const NamedParameter> names(int i) const;
  bool is_buffer(int i) const { return entries_[static_cast<size_t>(i)].buffer; }
  int64_t offset(int i) const { return entries_[static_cast<size_t>(i)].offset; }

  /// Packs the weights anew. Call it after every change of values, before anything uses them.
  void repack(ThreadPool* pool = nullptr);

  /// For models that are used only: from now on packed matrices and words are held as int8, and take a quarter of the
  /// memory. Give each its numbers, then repack(). Everything else stays f32, and all values are zero.
  void hold_int8();
  bool holds_int8() const;
  /// Whether hold_int8() makes, or made, this one int8.
  bool can_be_int8(int i) const;
  /// Its numbers as int8; only where it is held so.
  Int8Weight& int8(int i) { return *entries_[static_cast<size_t>(i)].int8; }

  /// The parameter as a Var, its gradient going to `to` (none: no gradient).
  Var var(Ctx& ctx, int i, Gradients* to) const;

 private:
  struct Entry {
    std::string name;
    Shape shape;
    int64_t offset = 0;
    bool packed = false, buffer = false, frozen = false, words = false;
    std::unique_ptr<Int8Weight> int8 = {};  // instead of a place in the block
    int32_t first_name = 0, names = 0;      // in named_
    Aligned<float> panels, panels_transposed;
    PackedMatrix matrix, matrix_transposed;
  };
  int add_entry(std::string name, const Shape& shape, bool packed);
  void add_name(std::string name, const Shape& shape, int64_t offset);
  void place(Entry& entry, int64_t& at);
  static void repack_int8(const Entry& entry, ThreadPool* pool);
  std::vector<Entry> entries_;
  std::vector<NamedParameter> named_;
  Aligned<float> data_;
  int64_t trained_ = 0, changing_ = 0;
};

/// Gradients of all parameters. What no gradient reached since start() counts as zero.
class Gradients {
 public:
  explicit Gradients(const Parameters& parameters);
  /// Forgets everything: the next to write a parameter's gradient stores it.
  void start();
  /// Writes zeros where nothing was written, so that data() is whole.
  void finish();
  float* data() const { return data_.data(); }
  Tensor grad(int i) const;
  bool* written(int i) { return &written_[static_cast<size_t>(i)]; }

 private:
  const Parameters& parameters_;
  Aligned<float> data_;
  std::unique_ptr<bool[]> written_;
};

}  // namespace attune
