#include "cli/lines.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "attune/error.h"

namespace attune::cli {

LineReader::LineReader(std::vector<std::string> files) : files_(std::move(files)) {
  std::ios::sync_with_stdio(false);  // nobody else reads stdin; this way it is buffered
}

bool LineReader::open() {
  if (file_ >= files_.size()) return false;
  const std::string& name = files_[file_];
  line_ = 0;
  if (name == "-") {
    in_ = &std::cin;
    return true;
  }
  opened_ = {};
  opened_.open(name, std::ios::binary);
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(name, ignored);
  if (!opened_ || folder)
    throw Error(ErrorKind::io, fmt::format("cannot read {}: {}\n  fix: check the name", name,
                                           folder ? "it is a folder" : std::strerror(errno)));
  in_ = &opened_;
  bool compressed = false;
  if (in_->peek() == 0x1f) {  // the mark of gzip is 1f 8b
    in_->get();
    compressed = in_->peek() == 0x8b;
    in_->clear();
    in_->seekg(0);
  }
  if (compressed)
    throw Error(ErrorKind::data, fmt::format("{} is compressed\n  fix: zcat {} | attune ... -", name, name));
  return true;
}

bool LineReader::next(std::string& line) {
  for (;;) {
    if (!in_ && !open()) return false;
    if (std::getline(*in_, line)) {
      ++lines_;
      ++line_;
      return true;
    }
    if (in_->bad()) throw Error(ErrorKind::io, fmt::format("cannot read {}", files_[file_]));
    in_ = nullptr;
    ++file_;
  }
}

bool LineReader::ready() const { return in_ == &opened_ || (in_ && in_->rdbuf()->in_avail() > 0); }

std::string LineReader::place() const {
  const std::string& name = files_[file_];
  return fmt::format("{}:{}", name == "-" ? "stdin" : name, line_);
}

}  // namespace attune::cli
