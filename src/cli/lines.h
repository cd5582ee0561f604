// Lines of text files, one after another. A last line without a line end is a line too.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace attune::cli {

class LineReader {
 public:
  /// Names of files; "-" is stdin. They are opened as they are reached.
  explicit LineReader(std::vector<std::string> files);
  /// False at the end of the last file. Throws ErrorKind::io when a file can't be read, ErrorKind::data when it is
  /// compressed.
  bool next(std::string& line);
  /// Whether there is more that can be read without waiting for whoever writes it.
  bool ready() const;
  int64_t lines() const { return lines_; }
  /// "FILE:LINE" of the line just read.
  std::string place() const;

 private:
  bool open();
  std::vector<std::string> files_;
  size_t file_ = 0;
  std::ifstream opened_;
  std::istream* in_ = nullptr;
  int64_t lines_ = 0, line_ = 0;
};

}  // namespace attune::cli
