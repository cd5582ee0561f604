#include "data/corpus/stored_corpus.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"

namespace attune {

namespace {

constexpr size_t kWaiting = 1 << 20;  // bytes that are written at a time

uint32_t check_of(StoredEntry entry, std::string_view bytes) {
  entry.check = 0;
  const uint64_t place = hash64({reinterpret_cast<const char*>(&entry), sizeof(entry)});
  return static_cast<uint32_t>(hash64(bytes, place));
}

int open_of_size(const std::string& path, int64_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(ErrorKind::io, "cannot read {}: {}", path, std::strerror(errno));
  struct stat info {};
  if (::fstat(file, &info) == 0 && info.st_size == bytes) return file;
  ::close(file);
  fail(ErrorKind::io, "{} has {} bytes, not {}", path, info.st_size, bytes);
}

/// Ids of `width` bytes each, appended.
void pack(std::span<const int32_t> ids, int width, std::string& out) {
  const size_t at = out.size();
  out.resize(at + ids.size() * static_cast<size_t>(width));
  if (width == 4) {
    if (!ids.empty()) std::memcpy(out.data() + at, ids.data(), ids.size_bytes());
    return;
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<uint16_t>(ids[i]);
    std::memcpy(out.data() + at + 2 * i, &id, 2);
  }
}

void unpack(std::string_view bytes, int width, std::vector<int32_t>& out) {
  out.resize(bytes.size() / static_cast<size_t>(width));
  if (width == 4) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t id;
    std::memcpy(&id, bytes.data() + 2 * i, 2);
    out[i] = id;
  }
}

}  // namespace

// --- reading ---------------------------------------------------------------------------------------------------------

StoredCorpus::StoredCorpus(const std::string& folder, int width, int64_t tokens, int64_t entries)
    : folder_(folder), width_(width), all_(tokens) {
  tokens_ = open_of_size(folder + "/" + kTokens, tokens * width);
  try {
    index_ = open_of_size(folder + "/" + kIndex, entries * static_cast<int64_t>(sizeof(StoredEntry)));
  } catch (...) {
    ::close(tokens_);
    throw;
  }
  // Examples come in a random order: what lies behind them is of no use.
  ::posix_fadvise(tokens_, 0, 0, POSIX_FADV_RANDOM);
  ::posix_fadvise(index_, 0, 0, POSIX_FADV_RANDOM);
}

StoredCorpus::~StoredCorpus() {
  ::close(tokens_);
  ::close(index_);
}

void StoredCorpus::fail_damaged() const {
  try {
    write_file(folder_ + "/" + kDamaged, "");
  } catch (const Error&) {  // then the next run finds the damage where this one did
  }
  fail(ErrorKind::io, "{} is damaged: what is read is not what was written\n  fix: {}", folder_,
       "start the same command again: it goes on from the last checkpoint and makes these files anew");
}

void StoredCorpus::read_bytes(int file, void* to, size_t bytes, int64_t at) const {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = ::pread(file, out, bytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_damaged();  // it ends too early, or the disk can't give it
    out += n;
    bytes -= static_cast<size_t>(n);
    at += n;
  }
}

void StoredCorpus::entries(int64_t from, std::span<StoredEntry> out) const {
  read_bytes(index_, out.data(), out.size_bytes(), from * static_cast<int64_t>(sizeof(StoredEntry)));
}

Example StoredCorpus::read(int64_t which, ExampleBuffer& buffer) const {
  StoredEntry entry;
  entries(which, {&entry, 1});
  if (entry.start < 0 || entry.start > all_ || entry.source < 0 || entry.target < 0 ||
      int64_t{entry.source} + entry.target > all_ - entry.start)
    fail_damaged();
  buffer.bytes.resize((static_cast<size_t>(entry.source) + static_cast<size_t>(entry.target)) *
                      static_cast<size_t>(width_));
  read_bytes(tokens_, buffer.bytes.data(), buffer.bytes.size(), entry.start * width_);
  if (check_of(entry, buffer.bytes) != entry.check) fail_damaged();
  unpack(buffer.bytes, width_, buffer.ids);
  const std::span<const int32_t> all = buffer.ids;
  return {all.first(static_cast<size_t>(entry.source)), all.subspan(static_cast<size_t>(entry.source)), entry.weight};
}

std::span<const int32_t> StoredCorpus::tokens(int64_t from, int64_t end, ExampleBuffer& buffer) const {
  buffer.text.clear();
  constexpr int64_t kBlock = StoredEntry::kBlockTokens;
  for (int64_t block = from / kBlock; block * kBlock < end; ++block) {
    const auto all = read(block, buffer).target;
    const int64_t first = std::max<int64_t>(from - block * kBlock, 0), last = std::min(end - block * kBlock, kBlock);
    buffer.text.insert(buffer.text.end(), all.begin() + first, all.begin() + last);
  }
  return buffer.text;
}

// --- writing ---------------------------------------------------------------------------------------------------------

void StoredCorpusWriter::Buffered::write(std::string_view bytes) {
  waiting.append(bytes);
  if (waiting.size() < kWaiting) return;
  file.write(waiting);
  waiting.clear();
}

void StoredCorpusWriter::Buffered::finish() {
  file.write(waiting);
  file.commit();
}

StoredCorpusWriter::StoredCorpusWriter(std::string folder, int width)
    : folder_(std::move(folder)),
      width_(width),
      token_file_{FileWriter(folder_ + "/" + StoredCorpus::kTokens)},
      index_file_{FileWriter(folder_ + "/" + StoredCorpus::kIndex)} {}

void StoredCorpusWriter::put_entry(StoredEntry entry, std::string_view bytes) {
  entry.check = check_of(entry, bytes);
  index_file_.write({reinterpret_cast<const char*>(&entry), sizeof(entry)});
  token_file_.write(bytes);
  tokens_ += entry.source + entry.target;
  ++entries_;
}

void StoredCorpusWriter::add(std::span<const int32_t> source, std::span<const int32_t> target, float weight) {
  bytes_.clear();
  pack(source, width_, bytes_);
  pack(target, width_, bytes_);
  put_entry({tokens_, static_cast<int32_t>(source.size()), static_cast<int32_t>(target.size()), weight, 0}, bytes_);
}

void StoredCorpusWriter::extend(std::span<const int32_t> more) {
  while (!more.empty()) {
    const auto room = static_cast<size_t>(StoredEntry::kBlockTokens) - block_.size();
    const auto part = more.first(std::min(more.size(), room));
    block_.insert(block_.end(), part.begin(), part.end());
    more = more.subspan(part.size());
    if (std::ssize(block_) < StoredEntry::kBlockTokens) return;
    add({}, block_, 1);
    block_.clear();
  }
}

void StoredCorpusWriter::finish() {
  if (!block_.empty()) add({}, block_, 1);
  block_.clear();
  token_file_.finish();
  index_file_.finish();
}

}  // namespace attune
