// Lines of text files, one file after another, for programs that read them as attune does.
//
//   attune::TextLines lines({"a.txt", "b.txt.gz", "-"});
//   for (std::string line; lines.next(line);) ...
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attune {

class TextLines {
 public:
  /// Names of files, plain or compressed by gzip; "-" is stdin, once. They are opened as they are reached.
  explicit TextLines(std::vector<std::string> files);
  ~TextLines();

  /// False at the end of the last file. A last line without a line end is a line too; "\r\n" ends lines as "\n" does; a
  /// byte-order mark is dropped. Throws ErrorKind::io when a file can't be opened, ErrorKind::data when it is damaged.
  bool next(std::string& line);
  /// Whether next() returns without waiting for whoever writes to stdin.
  bool ready() const;
  /// Read so far.
  int64_t count() const;
  /// "FILE:LINE" of the line just read.
  std::string place() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
