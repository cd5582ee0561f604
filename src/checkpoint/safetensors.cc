#include "checkpoint/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/safetensors_header.h"

namespace attune {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

namespace {

[[noreturn]] void fail_read(const std::string& path, const char* why) {
  fail(ErrorKind::io, "cannot read {}: {}", path, why);
}

}  // namespace

const char* name_of(Stored type) {
  constexpr const char* names[] = {"F32", "F64", "I32", "I8", "BF16", "F16"};
  return names[static_cast<int>(type)];
}

int64_t bytes_of(Stored type) {
  constexpr int64_t bytes[] = {4, 8, 4, 1, 2, 2};
  return bytes[static_cast<int>(type)];
}

int64_t StoredTensor::size() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

std::string StoredTensor::shape_text() const {
  std::string s = "[";
  for (const int64_t d : dims) s += (s.size() > 1 ? ", " : "") + std::to_string(d);
  return s + "]";
}

std::string shown_name(const std::string& name) {
  std::string s = name.substr(0, 80);
  while (s.size() < name.size() && !s.empty() && (s.back() & 0xc0) == 0x80) s.pop_back();  // not half a letter
  for (char& c : s)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return s.size() < name.size() ? s + "..." : s;
}

void write_safetensors(const std::string& path, StoredTensors tensors, const Metadata& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    const int64_t wide = bytes_of(a.type), narrow = bytes_of(b.type);
    return wide != narrow ? wide > narrow : a.name < b.name;
  });
  SafetensorsHeader header;
  header.metadata = metadata;
  int64_t at = 0;
  for (const StoredTensor& t : tensors) {
    check(t.data || t.bytes() == 0, "safetensors", "tensor '{}' has no data", t.name);
    header.entries.push_back({t, at, at + t.bytes()});
    at += t.bytes();
  }
  const std::string text = header_text(header);
  const auto length = static_cast<uint64_t>(text.size());
  FileWriter writer(path, static_cast<int64_t>(8 + text.size()) + at);
  writer.write(&length, 8);
  writer.write(text);
  for (const StoredTensor& t : tensors) writer.write(t.data, static_cast<size_t>(t.bytes()));
  writer.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  try {
    open();
    read_header();
  } catch (...) {
    if (file_ >= 0) close(file_);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() { close(file_); }

void SafetensorsFile::open() {
  // Not blocking: to open a pipe that nobody writes to would wait for ever.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) fail_read(path_, std::strerror(errno));
  struct stat info {};
  if (fstat(file_, &info) != 0) fail_read(path_, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail_read(path_, "not a file");
  file_bytes_ = info.st_size;
}

void SafetensorsFile::read_header() {
  if (file_bytes_ < 8) fail_safetensors(path_, fmt::format("{} bytes are too few for a header", file_bytes_));
  uint64_t length = 0;
  read_at(0, 8, &length, "the header");
  const auto rest = static_cast<uint64_t>(file_bytes_ - 8);
  if (length > rest || length > static_cast<uint64_t>(kLargestHeader))
    fail_safetensors(path_, fmt::format("the header shall be {} bytes long, {}", length,
                                        length > rest ? fmt::format("the rest of the file is {}", rest)
                                                      : fmt::format("at most {} are allowed", kLargestHeader)));
  std::string text(static_cast<size_t>(length), '\0');
  read_at(8, static_cast<int64_t>(length), text.data(), "the header");
  data_at_ = 8 + static_cast<int64_t>(length);
  SafetensorsHeader header = parse_header(text, file_bytes_ - data_at_, path_);
  metadata_ = std::move(header.metadata);
  for (auto& e : header.entries) {
    tensors_.push_back(std::move(e.tensor));
    begins_.push_back(e.begin);
  }
}

const StoredTensor* SafetensorsFile::find(const std::string& name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const StoredTensor& t, const std::string& n) { return t.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

void SafetensorsFile::read(const StoredTensor& tensor, void* to) const {
  const auto index = static_cast<size_t>(&tensor - tensors_.data());
  check(index < tensors_.size(), "safetensors", "'{}' is not a tensor of {}", tensor.name, path_);
  read_at(data_at_ + begins_[index], tensor.bytes(), to, tensor.name);
}

void SafetensorsFile::read_at(int64_t at, int64_t bytes, void* to, const std::string& what) const {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = pread(file_, out, static_cast<size_t>(bytes), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_read(path_, std::strerror(errno));
    if (n == 0) fail_safetensors(path_, "the file ends inside '" + shown_name(what) + "'");
    out += n;
    at += n;
    bytes -= n;
  }
}

}  // namespace attune
