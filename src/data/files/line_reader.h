// Lines of text files, plain or .gz, one file after another. "\n" and "\r\n" end a line, the end of a file does too;
// a byte-order mark is dropped. Other encodings are turned into UTF-8; otherwise bytes are handed on as they are: what
// is no UTF-8 is the tokenizer's business.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/encoding.h"
#include "data/files/text_file.h"

namespace attune {

class LineReader {
 public:
  /// "-" is the standard input; it may stand there once.
  explicit LineReader(std::vector<std::string> files);
  explicit LineReader(const std::string& file, Encoding encoding = Encoding::utf_8)
      : LineReader(std::vector<std::string>{file}) {
    encoding_ = encoding;
  }

  /// The next line without its end, valid until the next call; false after the last one. ErrorKind::io for a file that
  /// can't be opened, ErrorKind::data with file and line for one that is broken or a line over 64 MB.
  bool next(std::string_view& line);
  /// Whether next() returns without waiting for whoever writes to the standard input.
  bool ready() const;

  /// Where the last line stood: its file, its number there from 1, and both as "train.en:17".
  const std::string& file() const { return name_; }
  int64_t line() const { return line_; }
  std::string place() const { return name_ + ":" + std::to_string(line_); }

 private:
  bool grow();  // more text into the buffer; false at the end of the file
  void open_next();
  size_t read_decoded();

  std::vector<std::string> files_;
  size_t opened_ = 0;
  std::unique_ptr<TextFile> current_;
  Encoding encoding_ = Encoding::utf_8;
  std::unique_ptr<TextDecoder> decoder_;  // none for UTF-8
  std::string raw_, decoded_;
  std::string name_;
  int64_t line_ = 0;
  std::string buffer_;
  size_t at_ = 0, size_ = 0;  // text that is still to be used
};

/// All lines of a file.
std::vector<std::string> read_lines(const std::string& file);

}  // namespace attune
