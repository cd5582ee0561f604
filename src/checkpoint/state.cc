#include "checkpoint/state.h"

#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace attune {

namespace {

using Json = nlohmann::json;

constexpr const char* kBits = "bits";  // {"bits": "8000000000000000"}: a double that decimals would not bring back

/// Decimals carry all normal numbers. NaN and infinity have none, and -0 and denormals depend on the reader's mode.
bool decimal(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x), exponent = bits >> 52 & 0x7ff;
  return bits == 0 || (exponent != 0 && exponent != 0x7ff);
}

Json json_of(double x) {
  if (decimal(x)) return x;
  return {{kBits, fmt::format("{:016x}", std::bit_cast<uint64_t>(x))}};
}

[[noreturn]] void fail_state(const std::string& place, const std::string& what) {
  fail(ErrorKind::model, "{}: {}\n  fix: the file is damaged; go on from another checkpoint", place, what);
}

State::Value value_of(const Json& json, const std::string& name, const std::string& place) {
  if (json.is_number_integer() && !(json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}))
    return json.get<int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.size() == 1 && json.contains(kBits) && json[kBits].is_string()) {
    const auto text = json[kBits].get<std::string>();
    uint64_t bits = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    if (text.size() == 16 && r.ec == std::errc{} && r.ptr == text.data() + 16) return std::bit_cast<double>(bits);
  }
  fail_state(place, "'" + name + "' is neither text nor number");
}

}  // namespace

template <class T>
const T& State::get(const std::string& name, const char* type) const {
  const auto at = values_.find(name);
  if (at == values_.end()) fail_state(place_, "'" + name + "' is missing");
  const T* value = std::get_if<T>(&at->second);
  if (!value) fail_state(place_, fmt::format("'{}' is not a {}", name, type));
  return *value;
}

int64_t State::whole(const std::string& name) const { return get<int64_t>(name, "whole number"); }
double State::number(const std::string& name) const { return get<double>(name, "number with a fraction"); }
const std::string& State::text(const std::string& name) const { return get<std::string>(name, "text"); }

int64_t State::count(const std::string& name, int64_t least) const {
  const int64_t n = whole(name);
  if (n < least) fail_state(place_, fmt::format("'{}' is {}", name, n));
  return n;
}

State read_state(const std::string& path) { return State::from_json(read_regular_file(path, 1 << 24), path); }

std::string State::to_json() const {
  Json json = Json::object();
  for (const auto& [name, value] : values_) {
    if (const auto* x = std::get_if<double>(&value))
      json[name] = json_of(*x);
    else if (const auto* n = std::get_if<int64_t>(&value))
      json[name] = *n;
    else
      json[name] = std::get<std::string>(value);
  }
  try {
    return json.dump(2) + "\n";
  } catch (const Json::exception&) { fail(ErrorKind::usage, "[state] a text is not valid UTF-8"); }
}

State State::from_json(std::string_view text, const std::string& place) {
  State state;
  state.place_ = place;
  if (!json_within(text, 2)) fail_state(place, "not a JSON object");  // numbers, texts, and numbers as their bits
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) fail_state(place, "not a JSON object");
  for (const auto& [name, value] : json.items()) state.values_[name] = value_of(value, name, place);
  return state;
}

}  // namespace attune
