#include "checkpoint/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace attune {

namespace {

constexpr Stored kTypes[] = {Stored::f32, Stored::f64, Stored::i32, Stored::i8, Stored::bf16, Stored::f16};
constexpr size_t kMostDims = 16;
constexpr const char* kMetadata = "__metadata__";

/// Reads the header as events, not as a tree: whatever does not belong is refused where it stands, so that no nesting
/// and no list in a hostile file can take more memory than the file itself.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(SafetensorsHeader& header, const std::string& path) : header_(header), path_(path) {}

  bool start_object(size_t) override {
    if (in_list_) wrong("an object in a list");
    if (depth_ == 2) wrong("an object too many");
    if (depth_ == 1) {
      entry_ = {};
      entry_.tensor.name = name_;
      offsets_ = 0;
      has_type_ = has_shape_ = has_offsets_ = false;
    }
    ++depth_;
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) {
      if (!names_.insert(key).second) wrong_header(fmt::format("tensor '{}' is there twice", shown_name(key)));
      name_ = key;
      return true;
    }
    key_ = key;
    if (in_metadata()) {
      if (header_.metadata.contains(key)) wrong("the same key twice");
      return true;
    }
    bool* seen = key == "dtype"          ? &has_type_
                 : key == "shape"        ? &has_shape_
                 : key == "data_offsets" ? &has_offsets_
                                         : nullptr;
    if (!seen) wrong("an unknown key '" + shown_name(key) + "'");
    if (*seen) wrong("'" + key + "' twice");
    return *seen = true;
  }
  bool end_object() override {
    if (--depth_ != 1 || in_metadata()) return true;
    if (!has_type_ || !has_shape_ || !has_offsets_ || offsets_ != 2) wrong("no dtype, no shape or no data_offsets");
    header_.entries.push_back(std::move(entry_));
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata()) return header_.metadata.emplace(key_, text).second;
    if (depth_ != 2 || in_list_ || key_ != "dtype") wrong("a text where none belongs");
    for (const Stored t : kTypes)
      if (text == name_of(t)) {
        entry_.tensor.type = t;
        return true;
      }
    wrong("type '" + shown_name(text) + "', which is not known here");
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || in_list_ || in_metadata() || key_ == "dtype") wrong("a list where none belongs");
    return in_list_ = true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool number_unsigned(number_unsigned_t n) override {
    if (!in_list_) wrong("a number where none belongs");
    if (n > static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max())) wrong("a size beyond all files");
    const auto value = static_cast<int64_t>(n);
    if (key_ == "shape") {
      if (entry_.tensor.dims.size() == kMostDims) wrong("too many dimensions");
      entry_.tensor.dims.push_back(value);
    } else {
      if (offsets_ == 2) wrong("more than two data_offsets");
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    }
    return true;
  }
  bool number_integer(number_integer_t) override { wrong("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { wrong("a fraction or a number too large"); }
  bool null() override { wrong("null"); }
  bool boolean(bool) override { wrong("true or false"); }
  bool binary(binary_t&) override { wrong("binary data"); }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    wrong_header(fmt::format("the header is not JSON (at byte {} of it)", at));
  }

 private:
  bool in_metadata() const { return name_ == kMetadata; }
  [[noreturn]] void wrong_header(const std::string& what) const { fail_safetensors(path_, what); }
  [[noreturn]] void wrong(const std::string& what) const {
    if (depth_ == 0) wrong_header("the header is not a JSON object");
    fail_safetensors(path_, fmt::format("'{}' has {}", shown_name(name_), what));
  }

  SafetensorsHeader& header_;
  const std::string& path_;
  int depth_ = 0, offsets_ = 0;
  bool in_list_ = false, has_type_ = false, has_shape_ = false, has_offsets_ = false;
  std::string name_, key_;
  std::set<std::string> names_;
  SafetensorsHeader::Entry entry_;
};

/// The product of the dimensions and of the element's bytes; -1 when no file could hold it.
int64_t checked_bytes(const StoredTensor& t) {
  int64_t n = bytes_of(t.type);
  for (const int64_t d : t.dims)  // a zero further on makes nothing of all before
    if (d == 0) return 0;
  for (const int64_t d : t.dims)
    if (__builtin_mul_overflow(n, d, &n)) return -1;
  return n;
}

}  // namespace

void fail_safetensors(const std::string& path, const std::string& what) {
  fail(ErrorKind::model, "{}: {}\n  fix: the file is damaged or not a safetensors file; fetch or save it again", path,
       what);
}

SafetensorsHeader parse_header(std::string_view json, int64_t data_bytes, const std::string& path) {
  SafetensorsHeader header;
  if (!json.starts_with('{')) fail_safetensors(path, "the header does not begin with '{'");
  Reader reader(header, path);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  for (const auto& e : header.entries) {
    const auto wrong = [&](const std::string& what) {
      fail_safetensors(path, fmt::format("tensor '{}' {}", shown_name(e.tensor.name), what));
    };
    if (e.begin > e.end) wrong(fmt::format("ends at {} before it begins at {}", e.end, e.begin));
    if (e.end > data_bytes) wrong(fmt::format("reaches to byte {} of {}: the file is cut short", e.end, data_bytes));
    const int64_t bytes = checked_bytes(e.tensor);
    if (e.end - e.begin != bytes)
      wrong(fmt::format("is {} {} but has {} bytes", name_of(e.tensor.type), e.tensor.shape_text(), e.end - e.begin));
  }
  auto& entries = header.entries;
  const auto by_place = [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  };
  std::sort(entries.begin(), entries.end(), by_place);
  int64_t at = 0;
  for (const auto& e : entries) {
    if (e.begin != at)
      fail_safetensors(path,
                       fmt::format("tensor '{}' begins at byte {}, {} byte {}", shown_name(e.tensor.name), e.begin,
                                   e.begin < at ? "inside another, which ends at" : "leaving a hole from", at));
    at = e.end;
  }
  if (at != data_bytes) fail_safetensors(path, fmt::format("{} bytes of data belong to no tensor", data_bytes - at));
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.tensor.name < b.tensor.name; });
  return header;
}

std::string header_text(const SafetensorsHeader& header) {
  nlohmann::json json = nlohmann::json::object();  // keeps its keys in order
  if (!header.metadata.empty()) json[kMetadata] = header.metadata;
  for (const auto& e : header.entries) {
    check(!e.tensor.name.empty() && e.tensor.name != kMetadata, "safetensors", "a tensor may not be named '{}'",
          e.tensor.name);
    check(!json.contains(e.tensor.name), "safetensors", "two tensors are named '{}'", e.tensor.name);
    json[e.tensor.name] = {
        {"dtype", name_of(e.tensor.type)}, {"shape", e.tensor.dims}, {"data_offsets", {e.begin, e.end}}};
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const nlohmann::json::exception&) { check(false, "safetensors", "a name is not valid UTF-8"); }
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  check(std::cmp_less_equal(text.size(), kLargestHeader), "safetensors", "{} tensors make too long a header",
        header.entries.size());
  return text;
}

}  // namespace attune
