// What a trainer must remember beside weights and moments: counters, the place in the data, random keys, hashes. Saved
// as trainer.json, a flat map that people can read and that comes back bit by bit.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace attune {

class State {
 public:
  using Value = std::variant<int64_t, double, std::string>;

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  /// Random keys use all 64 bits; they are kept as whole numbers of the same bits.
  void set_key(const std::string& name, uint64_t key) { set(name, static_cast<int64_t>(key)); }

  bool has(const std::string& name) const { return values_.contains(name); }
  // Each throws ErrorKind::model when there is none of that name and type.
  int64_t whole(const std::string& name) const;
  int64_t count(const std::string& name, int64_t least = 0) const;  // not below that
  uint64_t key(const std::string& name) const { return static_cast<uint64_t>(whole(name)); }
  double number(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  const std::map<std::string, Value>& values() const { return values_; }

  /// Names in order; the same state gives the same text.
  std::string to_json() const;
  /// `place` is the file that messages name.
  static State from_json(std::string_view json, const std::string& place);

 private:
  template <class T>
  const T& get(const std::string& name, const char* type) const;

  std::map<std::string, Value> values_;
  std::string place_ = "trainer.json";
};

/// Of a regular file.
State read_state(const std::string& path);

}  // namespace attune
