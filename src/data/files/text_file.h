// The bytes of one text file, plain or compressed by gzip (told by its content, not by its name). Read it through
// LineReader unless lines are not what is wanted.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace attune {

class TextFile {
 public:
  /// "-" is the standard input. ErrorKind::io when the file can't be opened, with the closest name there is;
  /// ErrorKind::data when it is compressed by something else or in UTF-16, unless that is wanted.
  explicit TextFile(const std::string& path, bool utf_16 = false);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Up to `bytes` of the text; 0 at its end, or where it is broken.
  size_t read(char* out, size_t bytes);
  /// Why it can't be read further, "" unless it is broken.
  const std::string& trouble() const { return trouble_; }
  /// As messages call it.
  const std::string& name() const { return name_; }

 private:
  struct Inflater;
  bool fill();  // more input; false at its end
  void refuse_other_formats(bool utf_16);
  size_t read_plain(char* out, size_t bytes);
  size_t read_gzip(char* out, size_t bytes);

  std::string name_, trouble_;
  int file_ = -1;
  bool own_ = true;          // to be closed
  std::vector<char> input_;  // as it is in the file: [at_, size_) is still to be used
  size_t at_ = 0, size_ = 0;
  std::unique_ptr<Inflater> gzip_;
};

}  // namespace attune
