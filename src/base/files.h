// Files that are either whole or not there. Everything is written beside its final name, checked, forced to the disk
// and then renamed: a crash or a full disk at any moment leaves the old content or the new one, never half of it.
// All errors are ErrorKind::io and name the file and the reason.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

/// The whole content of a file.
std::string read_file(const std::string& path);
/// The same of a regular file of at most so many bytes: one that a link leads to a device or a pipe, or a larger one,
/// is ErrorKind::io before anything is read.
std::string read_regular_file(const std::string& path, int64_t most);

/// Replaces the content of a file in one step, keeping its permissions. A device or a pipe is written in place.
void write_file(const std::string& path, std::string_view content);

/// The same for a picture or a page, which takes the place of one of its kind alone: ErrorKind::io where a file of that
/// name begins otherwise, since it is something else.
void write_drawing(const std::string& path, std::string_view content);

/// The same for content that comes in pieces. Without commit() nothing happens to `path`.
class FileWriter {
 public:
  /// `expected` bytes, when known, make the message of a full disk more useful.
  explicit FileWriter(const std::string& path, int64_t expected = 0);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  int64_t written() const { return written_; }
  /// Makes the new content the file's. Once.
  void commit();

 private:
  [[noreturn]] void fail_write(int error) const;

  std::string path_, staged_;  // staged_ is empty when written in place
  int file_ = -1;
  int64_t expected_, written_ = 0;
};

/// A folder that appears in one step with all its files: a checkpoint. Write into path(), then commit().
class FolderWriter {
 public:
  explicit FolderWriter(const std::string& path);
  /// Without a commit, removes what was written.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  /// Where to write: a folder beside the final one.
  const std::string& path() const { return staged_; }
  /// Forces every file to the disk and gives the folder its name. A folder of that name is replaced, in one step too.
  void commit();

 private:
  std::string path_, staged_;
};

/// A file that only grows, line by line: a log. A line that a crash or a full disk cut short is ended by the next one.
class AppendedFile {
 public:
  enum class Content { lines, bytes };
  explicit AppendedFile(std::string path, Content content = Content::lines);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  /// Written before it returns, but not forced to the disk.
  void line(const std::string& text) { write(text + "\n"); }
  void write(std::string_view bytes);

 private:
  std::string path_;
  int file_ = -1;
};

/// ErrorKind::io for a link, to a file or to nothing: it would lead out of the folder, to something of somebody else.
/// One to a device or a pipe is meant.
void refuse_link(const std::string& path);

/// What to do about a name that is not there: the one beside it that was meant, if any is like it.
std::string fix_for_missing(const std::string& path);

/// Makes a folder and those above it; one that exists is fine.
void make_folder(const std::string& path);
/// Gives a file or folder another name on the same disk, replacing a file of that name, and forces that to the disk.
void move_file(const std::string& from, const std::string& to);
/// The same where somebody else may have moved it first: false when there is no `from` any more.
bool move_file_if_there(const std::string& from, const std::string& to);
/// Removes a file or a folder with all it holds; one that is not there is fine.
void remove_path(const std::string& path);

/// For tests: makes the n-th (from 1) call of one kind fail, after that none.
struct FileFault {
  enum class Call { none, open, write, sync, rename } call = Call::none;
  int nth = 1;
  int error = 0;             // an errno
  bool short_write = false;  // not an error: the write takes only half
};
void inject_file_fault(const FileFault& fault);

}  // namespace attune
