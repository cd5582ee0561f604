#include "data/files/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
constexpr size_t kInput = 1 << 16;

[[noreturn]] void fail_open(const std::string& path, int error) {
  fail(ErrorKind::io, "cannot read {}: {}\n  fix: {}", path, std::strerror(error),
       error == ENOENT   ? fix_for_missing(path)
       : error == EISDIR ? "name a file in it"
       : error == EACCES ? "check the permissions"
                         : "check the name");
}

}  // namespace

namespace {

/// By the method and the flags too: a line of other bytes may begin with the first two.
bool is_gzip(std::string_view head) {
  return head.size() > 3 && head.starts_with("\x1f\x8b\x08"sv) && (static_cast<unsigned char>(head[3]) & 0xE0) == 0;
}

}  // namespace

struct TextFile::Inflater {
  z_stream stream{};
  bool between = false;  // one compressed part has ended, the next has not begun
  Inflater() {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();  // 16: with gzip's header and checksum
  }
  ~Inflater() { inflateEnd(&stream); }
};

TextFile::TextFile(const std::string& path, bool utf_16) : name_(path == "-" ? "stdin" : path), input_(kInput) {
  own_ = path != "-";
  file_ = own_ ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (file_ < 0) fail_open(path, errno);
  try {
    struct stat info {};
    if (fstat(file_, &info) == 0 && S_ISDIR(info.st_mode)) fail_open(name_, EISDIR);
    // A pipe may give its first bytes one by one, and wait after a short line for an answer.
    while (size_ < 4 && !std::memchr(input_.data(), '\n', size_) && fill()) {}
    refuse_other_formats(utf_16);
    if (is_gzip({input_.data(), size_})) gzip_ = std::make_unique<Inflater>();
  } catch (...) {
    if (own_) close(file_);
    throw;
  }
}

TextFile::~TextFile() {
  if (own_) close(file_);
}

bool TextFile::fill() {
  if (at_ == size_) at_ = size_ = 0;
  ssize_t n;
  do n = ::read(file_, input_.data() + size_, input_.size() - size_);
  while (n < 0 && errno == EINTR);
  if (n < 0) fail(ErrorKind::io, "cannot read {}: {}", name_, std::strerror(errno));
  size_ += static_cast<size_t>(n);
  return n > 0;
}

void TextFile::refuse_other_formats(bool utf_16) {
  const std::string_view head(input_.data(), size_);
  for (const auto& [magic, program] : {std::pair{"\xfd\x37zX"sv, "xz"}, {"\x28\xb5\x2f\xfd"sv, "zstd"}})
    if (head.starts_with(magic))
      fail(ErrorKind::data, "{} is compressed by {}; only gzip is read\n  fix: unpack it by {} -d", name_, program,
           program);
  if (head.starts_with("PK\x03\x04"sv))
    fail(ErrorKind::data, "{} is a zip archive; only gzip is read\n  fix: unpack it", name_);
  // Of lines that are piped in none is lost, whatever bytes it begins with.
  const bool in_doubt = !own_ && head.find('\0') == std::string_view::npos;
  if (!utf_16 && !in_doubt && (head.starts_with("\xff\xfe"sv) || head.starts_with("\xfe\xff"sv)))
    fail(ErrorKind::data,
         "{} is in UTF-16, not in UTF-8\n  fix: convert it by iconv -f utf-16 -t utf-8; in a recipe, set data.encoding "
         "= "
         "\"utf-16\"",
         name_);
}

size_t TextFile::read(char* out, size_t bytes) {
  if (!trouble_.empty() || bytes == 0) return 0;
  return gzip_ ? read_gzip(out, bytes) : read_plain(out, bytes);
}

size_t TextFile::read_plain(char* out, size_t bytes) {
  if (at_ == size_ && !fill()) return 0;
  const size_t n = std::min(bytes, size_ - at_);
  std::memcpy(out, input_.data() + at_, n);
  at_ += n;
  return n;
}

size_t TextFile::read_gzip(char* out, size_t bytes) {
  z_stream& z = gzip_->stream;
  z.next_out = reinterpret_cast<Bytef*>(out);
  z.avail_out = static_cast<uInt>(std::min<size_t>(bytes, 1u << 30));
  const uInt wanted = z.avail_out;
  while (z.avail_out == wanted) {
    if (at_ == size_ && !fill()) {
      if (!gzip_->between) trouble_ = "the compressed data ends too early";
      break;
    }
    if (gzip_->between) {  // another part may follow (cat a.gz b.gz), or zeros that fill up a block
      if (input_[at_] == 0) {
        ++at_;
        continue;
      }
      inflateReset(&z);
      gzip_->between = false;
    }
    z.next_in = reinterpret_cast<Bytef*>(input_.data() + at_);
    z.avail_in = static_cast<uInt>(size_ - at_);
    const int result = inflate(&z, Z_NO_FLUSH);
    at_ = size_ - z.avail_in;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    gzip_->between = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      trouble_ = std::string("the compressed data is broken (") + (z.msg ? z.msg : "not gzip") + ")";
      break;
    }
  }
  return wanted - z.avail_out;
}

}  // namespace attune
