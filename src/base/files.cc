#include "base/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using Call = FileFault::Call;

std::mutex g_fault_mutex;
FileFault g_fault;

/// Whether this call is the one that shall fail.
bool injected(Call call, FileFault& fault) {
  std::lock_guard lock(g_fault_mutex);
  if (g_fault.call != call || --g_fault.nth > 0) return false;
  fault = g_fault;
  g_fault = {};
  return true;
}
bool injected_error(Call call) {
  FileFault fault;
  if (!injected(call, fault)) return false;
  errno = fault.error;
  return true;
}

// The four system calls, each of which a test can make fail.
int call_open(const char* path, int flags, mode_t mode = 0) {
  return injected_error(Call::open) ? -1 : open(path, flags | O_CLOEXEC, mode);
}
ssize_t call_write(int file, const char* data, size_t bytes) {
  FileFault fault;
  if (injected(Call::write, fault)) {
    if (fault.short_write) return write(file, data, (bytes + 1) / 2);
    errno = fault.error;
    return -1;
  }
  return write(file, data, bytes);
}
int call_sync(int file) { return injected_error(Call::sync) ? -1 : fsync(file); }
int call_rename(const char* from, const char* to, unsigned flags = 0) {
  return injected_error(Call::rename) ? -1 : renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

struct Descriptor {
  int file;
  ~Descriptor() {
    if (file >= 0) close(file);
  }
};

[[noreturn]] void fail_io(const char* what, const std::string& path, int error) {
  const std::string missing = error == ENOENT ? "\n  fix: " + fix_for_missing(path) : "";
  const char* fix = error == EACCES || error == EROFS || error == EPERM
                        ? "\n  fix: check the permissions, or choose another folder"
                    : error == ENOENT                    ? missing.c_str()
                    : error == ENOSPC || error == EDQUOT ? "\n  fix: make room, or choose a folder on another disk"
                    : error == EFBIG ? "\n  fix: files may not grow that large here, see `ulimit -f`"
                                     : "";
  fail(ErrorKind::io, "cannot {} {}: {}{}", what, path, std::strerror(error), fix);
}

[[noreturn]] void fail_full(const std::string& path, int64_t bytes, int error) {
  struct statvfs disk {};
  const fs::path folder = fs::path(path).parent_path();
  std::string room;
  if (statvfs(folder.empty() ? "." : folder.c_str(), &disk) == 0)
    room = ", " + human_bytes(static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize)) + " are free";
  if (error == EFBIG) fail_io("write", path, error);
  fail(ErrorKind::io,
       "cannot write {}: {} ({} were to be written{})\n  fix: make room, or choose a folder on another disk", path,
       std::strerror(error), human_bytes(bytes), room);
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// A rename is on the disk only when its folder is.
void sync_folder(const std::string& folder) {
  Descriptor d{call_open(folder.c_str(), O_RDONLY | O_DIRECTORY)};
  // Some network file systems can't sync a folder and say so by EINVAL; there is nothing better to do on them.
  if (d.file < 0 || (call_sync(d.file) != 0 && errno != EINVAL)) fail_io("force to the disk", folder, errno);
}

void sync_file(const std::string& path) {
  Descriptor d{call_open(path.c_str(), O_RDONLY)};
  if (d.file < 0 || call_sync(d.file) != 0) fail_io("force to the disk", path, errno);
}

/// A name beside `path` that nobody else uses.
std::string staged_name(const std::string& path) {
  static std::atomic<int> counter{0};
  return fmt::format("{}.staged-{}-{}", path, getpid(), counter++);
}

}  // namespace

std::string fix_for_missing(const std::string& path) {
  const fs::path wanted(path), folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::error_code error;
  if (!fs::is_directory(folder, error)) return "check the name: there is no folder " + folder.string();
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  const std::string near = closest_name(wanted.filename().string(), names);
  if (near.empty()) return "check the name";
  return "did you mean " + (wanted.has_parent_path() ? wanted.parent_path() / near : fs::path(near)).string() + "?";
}

void inject_file_fault(const FileFault& fault) {
  std::lock_guard lock(g_fault_mutex);
  g_fault = fault;
}

namespace {

struct stat stat_of(const Descriptor& d, const std::string& path) {
  struct stat info {};
  if (d.file < 0 || fstat(d.file, &info) != 0) fail_io("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail_io("read", path, EISDIR);
  return info;
}

std::string read_all(const Descriptor& d, const struct stat& info, const std::string& path) {
  std::string content;
  content.resize(static_cast<size_t>(info.st_size) + 1);  // one more: the read that finds the end needs no growing
  size_t size = 0;
  for (;;) {
    const ssize_t n = read(d.file, content.data() + size, content.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("read", path, errno);
    if (n == 0) break;
    size += static_cast<size_t>(n);
    if (size == content.size()) content.resize(2 * size + 4096);  // a pipe, or it grew meanwhile
  }
  content.resize(size);
  return content;
}

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor d{call_open(path.c_str(), O_RDONLY)};
  return read_all(d, stat_of(d, path), path);
}

std::string read_regular_file(const std::string& path, int64_t most) {
  // Not blocking: to open a pipe that nobody writes to would wait for ever.
  const Descriptor d{call_open(path.c_str(), O_RDONLY | O_NONBLOCK)};
  const struct stat info = stat_of(d, path);
  if (!S_ISREG(info.st_mode)) fail(ErrorKind::io, "cannot read {}: not a regular file", path);
  if (info.st_size > most)
    fail(ErrorKind::io, "cannot read {}: it has {}, and {} are too many for what it should be", path,
         human_bytes(info.st_size), human_bytes(most));
  return read_all(d, info, path);
}

void write_file(const std::string& path, std::string_view content) {
  FileWriter writer(path, static_cast<int64_t>(content.size()));
  writer.write(content);
  writer.commit();
}

FileWriter::FileWriter(const std::string& path, int64_t expected) : path_(path), expected_(expected) {
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail_io("write", path, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) {  // renaming over /dev/null would be a bad joke
    file_ = call_open(path.c_str(), O_WRONLY);
    if (file_ < 0) fail_io("write", path, errno);
    return;
  }
  std::error_code error;  // a link keeps pointing where it points
  if (exists) path_ = fs::canonical(path, error).string();
  if (error) fail_io("write", path, error.value());
  staged_ = staged_name(path_);
  file_ = call_open(staged_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file_ < 0) {
    const int e = errno;
    staged_.clear();
    if (e == ENOSPC || e == EDQUOT) fail_full(path_, expected_, e);
    fail_io("write", path, e);
  }
  if (exists && fchmod(file_, old.st_mode & 07777) != 0) fail_write(errno);
}

FileWriter::~FileWriter() {
  if (file_ >= 0) close(file_);
  if (!staged_.empty()) unlink(staged_.c_str());
}

void FileWriter::fail_write(int error) const {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) fail_full(path_, std::max(expected_, written_), error);
  fail_io("write", path_, error);
}

void FileWriter::write(const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = call_write(file_, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int e = errno;
      written_ += static_cast<int64_t>(bytes);  // what was to be written up to here
      fail_write(e);
    }
    at += n;
    bytes -= static_cast<size_t>(n);
    written_ += n;
  }
}

void FileWriter::commit() {
  check(file_ >= 0, "files", "{} is committed twice", path_);
  const bool in_place = staged_.empty();
  if (!in_place && call_sync(file_) != 0) fail_write(errno);
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail_write(errno);
  if (in_place) return;
  if (call_rename(staged_.c_str(), path_.c_str()) != 0) fail_write(errno);
  staged_.clear();
  sync_folder(folder_of(path_));
}

FolderWriter::FolderWriter(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  const std::string staged = staged_name(path_);
  std::error_code error;
  fs::create_directories(staged, error);
  if (error) fail_io("make the folder", path_, error.value());
  staged_ = staged;
}

FolderWriter::~FolderWriter() {
  std::error_code ignored;
  if (!staged_.empty()) fs::remove_all(staged_, ignored);
}

void FolderWriter::commit() {
  check(!staged_.empty(), "files", "{} is committed twice", path_);
  std::error_code error;
  for (fs::recursive_directory_iterator at(staged_, error), end; !error && at != end; at.increment(error))
    at->is_directory(error) ? sync_folder(at->path().string()) : sync_file(at->path().string());
  if (error) fail_io("read", staged_, error.value());
  sync_folder(staged_);
  std::string old;
  if (call_rename(staged_.c_str(), path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EEXIST && errno != ENOTEMPTY) fail_io("make the folder", path_, errno);
    // The two change places in one step; then the old one is in the way no more.
    if (call_rename(staged_.c_str(), path_.c_str(), RENAME_EXCHANGE) != 0) fail_io("replace the folder", path_, errno);
    old = staged_;
  }
  staged_.clear();
  sync_folder(folder_of(path_));
  std::error_code ignored;
  if (!old.empty()) fs::remove_all(old, ignored);
}

void write_drawing(const std::string& path, std::string_view content) {
  constexpr size_t kBegin = 5;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) > 0) {
    std::string begin(kBegin, '\0');
    if (std::ifstream in(path, std::ios::binary); in) in.read(begin.data(), static_cast<std::streamsize>(kBegin));
    if (begin != content.substr(0, kBegin))
      fail(ErrorKind::io, "{} is there, and is something else\n  fix: another name, or remove it", path);
  }
  write_file(path, content);
}

void refuse_link(const std::string& path) {
  std::error_code ignored;
  const fs::file_type to = fs::status(path, ignored).type();
  const bool device = to == fs::file_type::character || to == fs::file_type::fifo || to == fs::file_type::socket;
  if (fs::is_symlink(path, ignored) && !device)
    fail(ErrorKind::io, "cannot write {}: it is a link\n  fix: remove it, or choose another folder", path);
}

AppendedFile::AppendedFile(std::string path, Content content) : path_(std::move(path)) {
  refuse_link(path_);
  // To open a device may wait for ever; writing to a pipe waits for who reads it.
  file_ = call_open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK, 0666);
  if (file_ < 0) fail_io("write", path_, errno);
  fcntl(file_, F_SETFL, O_APPEND);
  if (content == Content::bytes) return;
  char last = '\n';
  const off_t size = lseek(file_, 0, SEEK_END);
  if (size > 0 && pread(file_, &last, 1, size - 1) == 1 && last != '\n') line("");
}

AppendedFile::~AppendedFile() { close(file_); }

void AppendedFile::write(std::string_view whole) {
  for (size_t at = 0; at < whole.size();) {
    const ssize_t n = call_write(file_, whole.data() + at, whole.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
      fail_full(path_, static_cast<int64_t>(whole.size() - at), errno);
    if (n < 0) fail_io("write", path_, errno);
    at += static_cast<size_t>(n);
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_io("make the folder", path, error.value());
}

bool move_file_if_there(const std::string& from, const std::string& to) {
  if (call_rename(from.c_str(), to.c_str()) != 0) {
    const int e = errno;
    if (e == ENOENT && access(from.c_str(), F_OK) != 0) return false;
    fail_io("rename", from, e);
  }
  sync_folder(folder_of(to));
  return true;
}

void move_file(const std::string& from, const std::string& to) {
  if (!move_file_if_there(from, to)) fail_io("rename", from, ENOENT);
}

void remove_path(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail_io("remove", path, error.value());
}

}  // namespace attune
