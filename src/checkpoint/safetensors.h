// The safetensors format: 8 bytes of header length, a JSON header that names, types and places each tensor, then the
// numbers. A file holds no code, and reading one trusts nothing: every length, offset and name is checked before any
// memory is taken, so that a damaged or hostile file is an error (ErrorKind::model) that names file and tensor.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune {

/// What numbers are stored as. The two 16-bit kinds are storage only.
enum class Stored : uint8_t { f32, f64, i32, i8, bf16, f16 };
const char* name_of(Stored type);  // "F32", as files say it
int64_t bytes_of(Stored type);

/// A tensor of a file: where its numbers come from when it is written, or go to when it is read.
struct StoredTensor {
  std::string name;
  Stored type = Stored::f32;
  std::vector<int64_t> dims;  // none: a single number
  void* data = nullptr;       // not owned; null in what a file lists

  int64_t size() const;
  int64_t bytes() const { return size() * bytes_of(type); }
  std::string shape_text() const;  // "[12, 512]"
};
using StoredTensors = std::vector<StoredTensor>;
using Metadata = std::map<std::string, std::string>;

/// Replaces `path` in one step. The header lists names in order; the numbers begin at a multiple of 64 bytes, wider
/// types first, so that a reader that maps the file finds all of them aligned. The same tensors give the same bytes.
void write_safetensors(const std::string& path, StoredTensors tensors, const Metadata& metadata = {});

/// A file opened for reading. The header is checked as a whole at once; numbers are read on demand, never mapped: a
/// file that shrinks meanwhile is an error, not a signal.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const { return path_; }
  /// In the order of their names.
  const StoredTensors& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  /// Null when there is none of that name.
  const StoredTensor* find(const std::string& name) const;
  /// Reads all numbers of one of tensors() to `to`, which has room for its bytes().
  void read(const StoredTensor& tensor, void* to) const;

 private:
  void open();
  void read_header();
  void read_at(int64_t at, int64_t bytes, void* to, const std::string& what) const;

  std::string path_;
  int file_ = -1;
  int64_t file_bytes_ = 0, data_at_ = 0;
  StoredTensors tensors_;
  std::vector<int64_t> begins_;  // of each tensor, from data_at_
  Metadata metadata_;
};

/// A name out of a file, safe and short enough to show: control characters become '?'.
std::string shown_name(const std::string& name);

}  // namespace attune
