#include "data/corpus/large_corpus.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

constexpr const char *kHeldSource = "/held-out.source", *kHeldTarget = "/held-out.target";
constexpr int64_t kMostTokensHeldOut = 100'000;

/// Of texts with the given borders: those of the tokens before `at`.
Sentences borders_before(const std::vector<int64_t>& borders, int64_t at) {
  Sentences head;
  for (size_t i = 1; i < borders.size(); ++i) {
    const int64_t end = std::min(borders[i], at), begin = head.start.back();
    if (end == begin) continue;
    head.start.push_back(end);
    head.longest = static_cast<int32_t>(std::clamp<int64_t>(end - begin, head.longest, INT32_MAX));
  }
  return head;
}

/// Where the end of texts begins that is held out, at the begin of a line where one begins; the end when there is none.
int64_t held_out_from(const Corpus& corpus) {
  const int64_t n = corpus.target.tokens();
  const int64_t count = std::min(n / static_cast<int64_t>(HoldOut::kShare), kMostTokensHeldOut);
  if (count == 0) return n;
  ExampleBuffer buffer;
  const int64_t from = n - count;
  const auto ids = corpus.tokens(from - 1, n - count / 2 - 1, buffer);  // each stands before a place to begin at
  const auto line_end = std::find(ids.begin(), ids.end(), text::kEnd);
  return line_end == ids.end() ? from : from + (line_end - ids.begin());
}

/// data.train has all texts: their end becomes data.valid.
void hold_out_end(int64_t at, TrainingData& data) {
  Corpus& all = data.train;
  if (at == all.target.tokens()) return;
  ExampleBuffer buffer;
  for (size_t i = 1; i < all.target.start.size(); ++i)
    if (const int64_t from = std::max(at, all.target.start[i - 1]), end = all.target.start[i]; from < end)
      data.valid.target.add(all.tokens(from, end, buffer));
  Sentences head = borders_before(all.target.start, at);
  head.ids = std::move(all.target.ids);
  if (!all.stored) head.ids.resize(static_cast<size_t>(at));
  all.target = std::move(head);
  data.valid.window = std::min(all.window, data.valid.target.tokens());
  data.held_out = true;
}

/// Moves chosen examples from data.train to data.valid.
void hold_out_chosen(HoldOut::Chosen chosen, Sides sides, TrainingData& data) {
  if (chosen.all.empty()) return;
  ExampleBuffer buffer;
  for (const int64_t i : chosen.first) data.valid.add(data.train.example(i, buffer), sides);
  data.valid.weights.clear();  // what is validated on counts alike
  data.train.erase(chosen.all);
  data.valid_source = std::move(chosen.source);
  data.valid_target = std::move(chosen.target);
  data.held_out = true;
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  write_file(path, all);
}

std::string hash_of_lines(const std::vector<std::string>& source, const std::vector<std::string>& target) {
  ContentHash hash;
  for (const auto* lines : {&source, &target})
    for (const std::string& line : *lines) hash.add(line + "\n");
  return hash.hex();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines = split(read_file(path), '\n');
  if (!lines.empty()) lines.pop_back();  // behind the last end
  return lines;
}

/// Fills in what a folder has.
void fill(const std::string& folder, const CorpusManifest& m, int64_t longest, TrainingData& data) {
  data.train.stored = std::make_shared<const StoredCorpus>(folder, m.width, m.tokens, m.entries);
  data.train.stored_sizes = m.sizes;
  data.train.stored_weights = m.weighted;
  data.train.file_starts = m.file_starts;
  data.train.source_layout = m.source_layout;
  data.train.target_layout = m.target_layout;
  data.train_report = m.report;
  data.content_hash = m.content_hash;
  if (!m.texts.empty()) {
    data.train.target.start = m.texts;
    data.train.window = std::min(longest, m.tokens);
    hold_out_end(m.tokens - m.held_out, data);
    return;
  }
  ExampleBuffer buffer;
  for (int64_t i = 0; i < m.held_out; ++i)
    data.valid.add(data.train.stored->read(m.sizes.examples + i, buffer), m.report.sides);
  data.valid.weights.clear();
  if (m.held_out == 0) return;
  data.valid_source = lines_of(folder + kHeldSource);
  data.valid_target = lines_of(folder + kHeldTarget);
  if (hash_of_lines(data.valid_source, data.valid_target) != m.held_out_text)
    fail(ErrorKind::io, "{}{} is not what was written", folder, kHeldSource);
  data.held_out = true;
}

std::string path_of(const CorpusPlace& place) { return place.folder + "/" + CorpusPlace::kName; }

}  // namespace

void LargeCorpus::add(const Example& example) {
  sizes_.add(std::ssize(example.source), std::ssize(example.target));
  weighted_ |= example.weight != 1;
  if (on_disk()) return writer_->add(example.source, example.target, example.weight);
  corpus_.add(example, sides_);
  spill_when_large();
}

void LargeCorpus::begin_text() {
  ++sizes_.examples;
  corpus_.target.start.push_back(corpus_.target.start.back());
}

void LargeCorpus::extend(std::span<const int32_t> more) {
  sizes_.target_tokens += std::ssize(more);
  if (on_disk()) {
    writer_->extend(more);
    corpus_.target.start.back() += std::ssize(more);
    return;
  }
  corpus_.target.extend(more);
  spill_when_large();
}

void LargeCorpus::spill_when_large() {
  if (place_ && corpus_.source.tokens() + corpus_.target.tokens() > place_->in_memory) spill();
}

void LargeCorpus::spill() {
  place_->open();
  folder_.emplace(path_of(*place_));
  writer_.emplace(folder_->path(), StoredCorpus::width_for(place_->vocabulary));
  if (texts_) {
    writer_->extend(corpus_.target.ids);
    corpus_.target.ids = {};
    return;
  }
  ExampleBuffer buffer;
  for (int64_t i = 0; i < corpus_.target.count(); ++i) {
    const Example e = corpus_.example(i, buffer);
    writer_->add(e.source, e.target, e.weight);
  }
  corpus_ = {};
}

/// Writes the index again: first what stays, then what is held out. Returns how much stays.
CorpusSizes LargeCorpus::drop_from_index(const HoldOut::Chosen& chosen) {
  const StoredCorpus old(folder_->path(), writer_->width(), writer_->tokens(), writer_->entries());
  FileWriter out(folder_->path() + "/" + StoredCorpus::kIndex);
  CorpusSizes sizes;
  std::vector<StoredEntry> some(1 << 14), kept;
  size_t next = 0;
  for (int64_t from = 0; from < writer_->entries(); from += std::ssize(some)) {
    some.resize(static_cast<size_t>(std::min<int64_t>(std::ssize(some), writer_->entries() - from)));
    old.entries(from, some);
    kept.clear();
    for (int64_t i = 0; i < std::ssize(some); ++i) {
      if (next < chosen.all.size() && chosen.all[next] == from + i) {
        ++next;
        continue;
      }
      kept.push_back(some[static_cast<size_t>(i)]);
      sizes.add(kept.back().source, kept.back().target);
    }
    out.write(kept.data(), kept.size() * sizeof(StoredEntry));
  }
  for (const int64_t i : chosen.first) {
    old.entries(i, {some.data(), 1});
    out.write(some.data(), sizeof(StoredEntry));
  }
  out.commit();
  return sizes;
}

void LargeCorpus::finish(const HoldOut& hold_out, bool hold, int64_t longest, CorpusManifest m, TrainingData& data) {
  HoldOut::Chosen chosen;
  if (hold && !texts_) chosen = hold_out.choose();
  for (int64_t& start : file_starts_)
    start -= std::lower_bound(chosen.all.begin(), chosen.all.end(), start) - chosen.all.begin();
  if (!on_disk()) {
    data.train = std::move(corpus_);
    data.train.file_starts = std::move(file_starts_);
    data.train.source_layout = m.source_layout;
    data.train.target_layout = m.target_layout;
    data.train_report = std::move(m.report);
    data.content_hash = std::move(m.content_hash);
    if (texts_) data.train.window = std::min(longest, data.train.target.tokens());
    if (hold && texts_) hold_out_end(held_out_from(data.train), data);
    return hold_out_chosen(std::move(chosen), sides_, data);
  }
  writer_->finish();
  m.width = writer_->width();
  m.tokens = writer_->tokens();
  m.sizes = sizes_;
  m.entries = writer_->entries();
  m.file_starts = file_starts_;
  m.weighted = weighted_;
  if (texts_) {
    m.texts = corpus_.target.start;
    corpus_.stored = std::make_shared<const StoredCorpus>(folder_->path(), m.width, m.tokens, m.entries);
    if (hold) m.held_out = m.tokens - held_out_from(corpus_);
  } else if (!chosen.all.empty()) {
    m.sizes = drop_from_index(chosen);
    m.held_out = std::ssize(chosen.first);
    m.entries = m.sizes.examples + m.held_out;
    m.held_out_text = hash_of_lines(chosen.source, chosen.target);
    write_lines(folder_->path() + kHeldSource, chosen.source);
    write_lines(folder_->path() + kHeldTarget, chosen.target);
  }
  m.write(folder_->path());
  folder_->commit();
  fill(path_of(*place_), m, longest, data);
}

bool open_large_corpus(const CorpusPlace& place, const CorpusManifest& wanted, int64_t longest, TrainingData& data) {
  std::error_code ignored;
  const std::string folder = path_of(place);
  if (place.read_again || !std::filesystem::exists(folder, ignored) ||
      std::filesystem::exists(folder + "/" + StoredCorpus::kDamaged, ignored))
    return false;
  const auto m = CorpusManifest::read(folder);
  if (!m || m->made_by != wanted.made_by || m->inputs != wanted.inputs) return false;
  try {
    fill(folder, *m, longest, data);
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::io) throw;
    data = {};  // damaged: it is made again
    return false;
  }
}

}  // namespace attune
