// Declaring the parameters of a model: the names that saved models have, and how each number begins. A layer is given
// a Blueprint, takes what it needs, and keeps the indices; a Pass turns them into Vars when the layer runs.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "autograd/parameters.h"
#include "model/stream_memory.h"

namespace attune {

/// How a parameter begins.
struct Init {
  enum class Kind { zeros, constant, uniform, normal } kind = Kind::zeros;
  double reach = 0;  // of the uniform distribution: -reach to reach; the deviation of the normal one; the constant

  static Init zeros() { return {}; }
  static Init constant(double value) { return {Kind::constant, value}; }
  static Init ones() { return constant(1); }
  static Init normal(double deviation) { return {Kind::normal, deviation}; }
  /// Glorot and Bengio 2010: keeps the variance of a layer of that many inputs and outputs, times gain^2.
  static Init xavier(int64_t in, int64_t out, double gain = 1);
};

/// A place in a model where parameters can be declared; cheap to copy.
class Blueprint {
 public:
  /// What all places of a model share.
  struct Shared {
    Parameters& parameters;
    std::vector<Init> inits = {};  // of each parameter
    std::vector<MemorySlot> memories = {};
    uint64_t sites = 0;
  };
  explicit Blueprint(Shared& shared, std::string name = {}) : shared_(&shared), name_(std::move(name)) {}

  /// A part of this place: `encoder`.at("0").at("self") is "encoder.0.self".
  Blueprint at(const std::string& part) const { return Blueprint(*shared_, full(part)); }
  const std::string& name() const { return name_; }
  /// The stack this place belongs to: "encoder" for "encoder.0.self".
  Blueprint at_stack() const { return Blueprint(*shared_, name_.substr(0, name_.find('.'))); }

  /// A weight matrix that linear() multiplies by, its panels kept packed.
  int matrix(const std::string& name, int64_t out, int64_t in, Init init) const;
  /// The filters of a convolution, [out, taps, in] or [out, height, width, in], kept packed likewise.
  int filters(const std::string& name, const Shape& shape, Init init) const;
  /// A matrix whose rows are looked up.
  int table(const std::string& name, int64_t rows, int64_t columns, Init init) const;
  int vector(const std::string& name, int64_t size, Init init) const;
  /// The same table for everyone who asks: the first declares it.
  int table_once(const std::string& name, int64_t rows, int64_t columns, Init init) const;
  /// Numbers that are not learned: see Parameters::add_buffer.
  int buffer(const std::string& name, int64_t rows, int64_t columns, Init init) const;
  /// Matrices or vectors (in == 0) that are one in memory. Parts have names of their own: "query.weight".
  int joined(std::vector<ParameterPart> parts, int64_t in, Init init) const;
  /// Rows of each stream that outlast a batch: the slot of a StreamMemory.
  int memory(int64_t rows, int64_t width) const;
  /// A number for each place where something is dropped.
  uint64_t site() const { return ++shared_->sites; }

 private:
  std::string full(const std::string& part) const { return name_.empty() ? part : name_ + "." + part; }
  int add(int index, Init init) const;

  Shared* shared_;
  std::string name_;
};

/// Gives every parameter its first value, a function of the seed and the parameter's name alone.
void initialize(Parameters& parameters, const std::vector<Init>& inits, uint64_t seed);

}  // namespace attune
