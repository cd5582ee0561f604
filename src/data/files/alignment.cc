#include "data/files/alignment.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "text/piece_words.h"

namespace attune {

void Alignment::add(std::span<const int32_t> links) {
  sources.insert(sources.end(), links.begin(), links.end());
  start.push_back(static_cast<int64_t>(sources.size()));
}

void Alignment::erase(const std::vector<bool>& marked) {
  size_t kept = 0;
  int64_t to = 0;
  for (int64_t i = 0, n = tokens(); i < n; ++i) {
    if (marked[static_cast<size_t>(i)]) continue;
    const auto links = (*this)[i];
    std::copy(links.begin(), links.end(), sources.begin() + to);
    to += std::ssize(links);
    start[++kept] = to;  // at or before what was just read: the next token is still whole
  }
  sources.resize(static_cast<size_t>(to));
  start.resize(kept + 1);
}

void add_pair(std::span<const text::Link> links, std::span<const int> source_words, std::span<const int> target_words,
              Alignment& to) {
  std::vector<int32_t> sources;
  for (const int word : target_words) {
    sources.clear();
    for (const text::Link& link : links) {
      if (word < 0 || link.target != word) continue;
      for (size_t i = 0; i < source_words.size(); ++i)
        if (source_words[i] == link.source) sources.push_back(static_cast<int32_t>(i));
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    to.add(sources);
  }
}

AlignmentReader::AlignmentReader(const std::vector<std::string>& files, size_t pairs, bool truncate)
    : files_(files), truncate_(truncate) {
  if (files.size() != pairs)
    fail(ErrorKind::recipe,
         "data.alignment has {} file{} for {} pair{} of training files\n  fix: name one for each, in their order",
         files.size(), files.size() == 1 ? "" : "s", pairs, pairs == 1 ? "" : "s");
}

bool AlignmentReader::next_line(std::string_view& line) {
  if (!reader_->next(line)) return false;
  hash_.add(line);
  hash_.add("\n");
  return true;
}

/// The file of that pair of files; those before it are read to their ends.
void AlignmentReader::open_to(int32_t files, const std::vector<int64_t>& begins) {
  while (open_ < files) {
    const auto next = static_cast<size_t>(open_ + 1);
    if (open_ >= 0) finish_file(begins[next] - begins[next - 1]);
    reader_ = std::make_unique<LineReader>(files_[next]);
    ++open_;
  }
}

const std::vector<text::Link>& AlignmentReader::next(const TextPair& pair, const std::vector<int64_t>& begins) {
  open_to(pair.place.files, begins);
  std::string_view line;
  do {
    if (!next_line(line))
      fail(ErrorKind::data, "{} has {} line{}, the training files have more\n  fix: a line must stand for a line",
           reader_->file(), thousands(reader_->line()), reader_->line() == 1 ? "" : "s");
  } while (reader_->line() < pair.place.line);
  if (const std::string_view bad = text::read_links(line, links_); !bad.empty())
    fail(ErrorKind::data,
         "{}: '{}' is no link of two words\n  fix: write pairs of numbers, the source word first: 0-0 1-2",
         reader_->place(), bad.substr(0, 40));
  const int source = text::count_words(pair.source), target = text::count_words(pair.target);
  for (const text::Link& link : links_) {
    const bool of_source = link.source >= source;
    if (of_source || link.target >= target)
      fail(ErrorKind::data,
           "{}: the link {}-{} is out of range: the {} has {} word{}\n"
           "  fix: count words from 0, as they stand between spaces, the source word first",
           reader_->place(), link.source, link.target, of_source ? "source" : "target", of_source ? source : target,
           (of_source ? source : target) == 1 ? "" : "s");
  }
  return links_;
}

void AlignmentReader::finish_file(int64_t lines) {
  std::string_view line;
  while (next_line(line)) {}
  if (reader_->line() < lines || (reader_->line() > lines && !truncate_))
    fail(ErrorKind::data, "{} has {} line{}, its training files have {}\n  fix: a line must stand for a line",
         reader_->file(), thousands(reader_->line()), reader_->line() == 1 ? "" : "s", thousands(lines));
}

void AlignmentReader::finish(const std::vector<int64_t>& begins, int64_t read) {
  open_to(static_cast<int32_t>(begins.size()) - 1, begins);
  if (open_ >= 0) finish_file(read - begins.back());
}

}  // namespace attune
