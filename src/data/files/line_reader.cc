#include "data/files/line_reader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace attune {

namespace {

constexpr size_t kChunk = 1 << 16;
constexpr size_t kLongestLine = 64 << 20;  // more than this is not a line but another kind of file

}  // namespace

LineReader::LineReader(std::vector<std::string> files) : files_(std::move(files)), buffer_(kChunk, '\0') {
  if (std::count(files_.begin(), files_.end(), "-") > 1)
    fail(ErrorKind::data, "the standard input (-) can be read only once\n  fix: put it into a file");
}

void LineReader::open_next() {
  current_ = std::make_unique<TextFile>(files_[opened_++], encoding_ == Encoding::utf_16);
  if (encoding_ != Encoding::utf_8) decoder_ = std::make_unique<TextDecoder>(encoding_);
  name_ = current_->name();
  line_ = 0;
  at_ = size_ = 0;
  while (size_ < 3 && !std::memchr(buffer_.data(), '\n', size_) && grow()) {}
  const std::string_view head(buffer_.data(), size_);
  if (head.starts_with("\xef\xbb\xbf")) at_ = 3;
  if (!decoder_ &&
      (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")))  // in a .gz; plain ones are told before
    fail(ErrorKind::data, "{} is in UTF-16, not in UTF-8\n  fix: {}", name_,
         "convert it by iconv -f utf-16 -t utf-8; in a recipe, set data.encoding = \"utf-16\"");
}

bool LineReader::grow() {
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, size_ - at_);
    size_ -= at_;
    at_ = 0;
  }
  if (size_ > kLongestLine)
    fail(ErrorKind::data, "{}:{}: a line of more than 64 MB\n  fix: check that this is a text file", name_, line_ + 1);
  if (buffer_.size() - size_ < kChunk / 2) buffer_.resize(2 * buffer_.size());
  const size_t n = decoder_ ? read_decoded() : current_->read(buffer_.data() + size_, buffer_.size() - size_);
  if (n == 0 && !current_->trouble().empty())
    fail(ErrorKind::data, "{}:{}: {}\n  fix: fetch the file again, or compress it again", name_, line_ + 1,
         current_->trouble());
  size_ += n;
  return n > 0;
}

/// Into the buffer, which has room for what a piece becomes.
size_t LineReader::read_decoded() {
  decoded_.clear();
  raw_.resize(kChunk / 8);  // a letter has up to three bytes in UTF-8, and one where it comes from
  for (size_t n = 1; n > 0 && decoded_.empty();) {
    n = current_->read(raw_.data(), raw_.size());
    n > 0 ? decoder_->add({raw_.data(), n}, decoded_) : decoder_->finish(decoded_);
    if (decoder_->trouble().empty()) continue;
    const auto lines = std::count(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
                                  buffer_.begin() + static_cast<std::ptrdiff_t>(size_), '\n') +
                       std::count(decoded_.begin(), decoded_.end(), '\n');
    fail(ErrorKind::data, "{}:{}: {}", name_, line_ + 1 + lines, decoder_->trouble());
  }
  std::memcpy(buffer_.data() + size_, decoded_.data(), decoded_.size());
  return decoded_.size();
}

bool LineReader::next(std::string_view& line) {
  size_t searched = 0;  // of what lies in the buffer
  for (;;) {
    if (current_) {
      const char* begin = buffer_.data() + at_;
      const void* found = std::memchr(begin + searched, '\n', size_ - at_ - searched);
      searched = size_ - at_;
      const bool ended = !found && !grow();
      if (!found && !ended) continue;
      begin = buffer_.data() + at_;
      const size_t length = found ? static_cast<size_t>(static_cast<const char*>(found) - begin) : size_ - at_;
      at_ += length + (found ? 1 : 0);
      if (found || length > 0) {  // the last line may lack its end; nothing behind the last end is not a line
        line = {begin, length > 0 && begin[length - 1] == '\r' ? length - 1 : length};
        ++line_;
        return true;
      }
      current_.reset();
    }
    if (opened_ == files_.size()) return false;
    open_next();
    searched = 0;
  }
}

bool LineReader::ready() const {
  const bool waits = current_ ? files_[opened_ - 1] == "-" : opened_ < files_.size() && files_[opened_] == "-";
  return !waits || (current_ && std::memchr(buffer_.data() + at_, '\n', size_ - at_));
}

std::vector<std::string> read_lines(const std::string& file) {
  std::vector<std::string> lines;
  LineReader reader(file);
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

}  // namespace attune
