#include "data/batches.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "text/vocabulary.h"

namespace attune {

void check_budget(const Corpus& corpus, const BatchOptions& options) {
  if (corpus.window > options.tokens)
    fail(ErrorKind::recipe,
         "train.batch_tokens = {} is less than a window of data.max_length = {} tokens\n"
         "  fix: raise train.batch_tokens, or lower data.max_length",
         options.tokens, corpus.window);
  const bool marks = corpus.source_layout.empty();
  const int64_t longest = std::max(corpus.longest_source() + marks * (options.end_source + corpus.answers),
                                   corpus.longest_target() + !corpus.answers + (corpus.masked > 0));
  if (!marks && longest > options.tokens)
    fail(ErrorKind::recipe,
         "train.batch_tokens = {} is less than the {} rows of the largest example\n  fix: raise train.batch_tokens",
         options.tokens, thousands(longest));
  if (corpus.window == 0 && longest > options.tokens)
    fail(ErrorKind::recipe,
         "train.batch_tokens = {} is less than the longest sentence needs: {} tokens with its end mark\n"
         "  fix: raise train.batch_tokens, or lower data.max_length",
         options.tokens, thousands(longest));
}

Batches::Batches(const Corpus& corpus, const BatchOptions& options) : corpus_(corpus), options_(options) {
  check(corpus.size() > 0, "batches", "the corpus is empty");
  check((corpus.window > 0 || corpus.size() <= INT32_MAX) && options.tokens <= INT32_MAX, "batches",
        "more than {} examples, or tokens in a batch", INT32_MAX);
  check_budget(corpus, options);
  check(options.piece_dropout == 0 || (corpus.window == 0 && corpus.source_halves && corpus.target_halves), "batches",
        "nothing says what pieces fall apart into");
  if (corpus.window > 0)
    streams_.emplace(corpus.target.tokens(), corpus.window, options.tokens);
  else
    order_.resize(static_cast<size_t>(corpus.size()));
  shuffle();
}

void Batches::shuffle() {
  std::iota(order_.begin(), order_.end(), 0);
  if (!options_.shuffle) return;
  if (corpus_.mixture.count() > 0) mix_corpora();
  Random random(mix(options_.seed, static_cast<uint64_t>(position_.epoch)));
  // Streams that begin elsewhere are cut elsewhere: no token stands at the begin of a window in every epoch.
  if (streams_) offset_ = static_cast<int64_t>(random.below(static_cast<uint64_t>(corpus_.target.tokens())));
  for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);  // Fisher-Yates
}

/// The examples of this epoch, corpus by corpus; they are shuffled among each other after that.
void Batches::mix_corpora() {
  const std::vector<int64_t> shares = corpus_.mixture.shares();
  auto to = order_.begin();
  for (size_t c = 0; c < shares.size(); ++c) {
    const int64_t first = corpus_.mixture.borders[c], size = corpus_.mixture.borders[c + 1] - first;
    int64_t at = position_.epoch * shares[c], left = shares[c];  // of all that was ever drawn from it
    pass_.resize(static_cast<size_t>(size));
    while (left > 0) {
      std::iota(pass_.begin(), pass_.end(), static_cast<int32_t>(first));
      Random random(mix(mix(options_.seed, 0x6d6978 + c), static_cast<uint64_t>(at / size)));
      for (size_t i = pass_.size(); i > 1; --i) std::swap(pass_[i - 1], pass_[random.below(i)]);
      const int64_t from = at % size, count = std::min(left, size - from);
      to = std::copy_n(pass_.begin() + from, count, to);
      at += count;
      left -= count;
    }
  }
}

void Batches::seek(const DataPosition& position) {
  check(position.epoch >= 0 && position.example >= 0 && position.example < corpus_.size(), "batches",
        "position (epoch {}, example {}) is not in a corpus of {} examples", position.epoch, position.example,
        corpus_.size());
  check(!streams_ || streams_->batch_after(position.example) >= 0, "batches", "no batch begins at token {}",
        position.example);
  const bool other = position.epoch != position_.epoch;
  position_ = position;
  if (other) shuffle();
}

void Batches::next(Batch& b) {
  b.at = position_;
  b.clear();
  b.first = position_.example == 0;
  streams_ ? add_windows(b) : add_examples(b);
  if (position_.example == corpus_.size()) {
    position_ = {position_.epoch + 1, 0};
    shuffle();
  }
  b.next = position_;
}

void Batches::add_windows(Batch& b) {
  const int64_t batch = streams_->batch_after(position_.example), tokens = corpus_.target.tokens();
  for (int64_t s = 0; s < streams_->count(); ++s) {
    const auto [begin, end] = streams_->window(s, batch);
    if (begin == end) continue;  // where windows are of one token, a stream may be one shorter than another
    documents_.clear();
    const int64_t from = (begin + offset_) % tokens, to = from + end - begin;  // the text goes round
    add_text(b, from, std::min(to, tokens));
    if (to > tokens) add_text(b, 0, to - tokens);
    const auto add_segment = [&](int64_t rows) {
      b.read.segments.add(rows);
      b.target().right.segments.add(rows);
      b.read.streams.push_back(static_cast<int32_t>(s));
    };
    const int64_t last = b.read.segments.rows() + end - begin;
    for (const int64_t row : documents_)
      if (row > b.read.segments.rows()) add_segment(row - b.read.segments.rows());
    add_segment(last - b.read.segments.rows());
  }
  position_.example += b.target_tokens();
}

/// Each token is to be said after the one before it, the first of a text after the mark of its begin.
void Batches::add_text(Batch& b, int64_t from, int64_t end) {
  const auto& starts = corpus_.target.start;
  const int64_t row = std::ssize(b.read.ids) - from;  // in the batch, of the text's token 0
  auto ids = corpus_.tokens(std::max<int64_t>(from - 1, 0), end, buffer_);
  std::vector<int32_t>& read = b.read.ids.own();
  read.push_back(from > 0 ? ids[0] : options_.begin);
  if (from > 0) ids = ids.subspan(1);
  read.insert(read.end(), ids.begin(), ids.end() - 1);
  b.target().right.ids.append(ids);
  for (auto s = std::lower_bound(starts.begin(), starts.end(), from); s != starts.end() && *s < end; ++s)
    read[static_cast<size_t>(row + *s)] = options_.begin;
  if (corpus_.documents) find_documents(b, row + from, row + end);
}

/// The rows at which one begins: where a blank line was read before, or the mark of a file's begin.
void Batches::find_documents(const Batch& b, int64_t first, int64_t end) {
  const auto at = [](const Column<int32_t>& ids, int64_t i) { return ids[static_cast<size_t>(i)]; };
  for (int64_t i = first; i < end; ++i) {
    const int32_t read = at(b.read.ids, i);
    const bool blank = i > first && read == options_.end && at(b.read.ids, i - 1) == options_.end &&
                       at(b.target().right.ids, i) != options_.end;
    if (blank || (read == options_.begin && options_.begin != options_.end)) documents_.push_back(i);
  }
}

/// The same words with some pieces in parts. Depends on the epoch and the example's number alone, not on its batch.
Example Batches::fall_apart(const Example& example, int32_t number) {
  const uint64_t epoch = mix(mix(options_.seed, 0x7069656365), static_cast<uint64_t>(position_.epoch));
  Random random(mix(epoch, static_cast<uint64_t>(number)));
  const CorpusSizes sizes = corpus_.sizes();
  drop_pieces(example.source, *corpus_.source_halves, options_.piece_dropout, sizes.longest_source, random,
              source_parts_);
  drop_pieces(example.target, *corpus_.target_halves, options_.piece_dropout, sizes.longest_target, random,
              target_parts_);
  return {source_parts_.ids, target_parts_.ids, example.weight};
}

void Batches::add_links(Batch& b, int64_t example) const {
  const Sentences& target = corpus_.target;
  const bool whole = options_.piece_dropout == 0;
  Edges& links = b.target().right.edges;
  if (links.start.empty()) links.start.push_back(0);
  for (int64_t i = 0; i < target.length(example); ++i) {
    const auto own = corpus_.alignment[target.start[static_cast<size_t>(example)] + i];
    if (whole) {
      links.to.append(own);
      links.start.push_back(static_cast<int32_t>(links.to.size()));
      continue;
    }
    // Every part of a word goes with every part of what the word goes with.
    const auto at = static_cast<size_t>(i);
    for (int32_t part = target_parts_.start[at]; part < target_parts_.start[at + 1]; ++part) {
      for (const int32_t j : own)
        for (int32_t k = source_parts_.start[static_cast<size_t>(j)];
             k < source_parts_.start[static_cast<size_t>(j) + 1]; ++k)
          links.to.push_back(k);
      links.start.push_back(static_cast<int32_t>(links.to.size()));
    }
  }
  links.start.push_back(int32_t{links.start.back()});  // the end mark goes with nothing
}

/// Answers have no marks; the text they belong to begins with one.
void Batches::add_answers(Batch& b, const Example& example) const {
  Rows& answers = b.target().right;
  answers.ids.append(example.target);
  answers.segments.add(std::ssize(example.target));
  if (!corpus_.word_begins) return;
  Edges& words = answers.edges;
  if (words.start.empty()) words.start.push_back(0);
  for (size_t i = 0; i < example.source.size(); ++i) {
    if (!(*corpus_.word_begins)[static_cast<size_t>(example.source[i])]) continue;
    words.to.push_back(static_cast<int32_t>(i + 1));
    words.start.push_back(static_cast<int32_t>(words.to.size()));
  }
  check(std::ssize(words.start) == answers.rows() + 1, "batches", "{} words have answers, and {} begin", answers.rows(),
        std::ssize(words.start) - 1);
}

/// Devlin et al. 2019, section 3.1: of the words that are to be guessed, 80 % are missing, 10 % are another word, 10 %
/// are there. Depends on the epoch and the text's number alone, not on its batch; in order, on the number.
void Batches::add_masked(Batch& b, std::span<const int32_t> ids, int32_t number) const {
  const uint64_t epoch = options_.shuffle ? static_cast<uint64_t>(position_.epoch) + 1 : 0;
  Random random(mix(mix(mix(options_.seed, 0x6d61736b), epoch), static_cast<uint64_t>(number)));
  const auto sure = static_cast<size_t>(random.below(ids.size()));  // one at least
  std::vector<int32_t>& text = b.source.ids.own();
  Rows& missing = b.target().right;
  if (missing.edges.start.empty()) missing.edges.start.push_back(0);
  text.push_back(options_.begin);
  int64_t answers = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    text.push_back(ids[i]);
    if (random.uniform() >= options_.mask && i != sure) continue;
    const double how = random.uniform();
    if (how < 0.8) text.back() = text::kPad;
    if (how >= 0.9 && corpus_.masked > text::kMarks)
      text.back() =
          text::kMarks + static_cast<int32_t>(random.below(static_cast<uint64_t>(corpus_.masked - text::kMarks)));
    missing.ids.push_back(ids[i]);
    missing.edges.to.push_back(static_cast<int32_t>(i + 1));
    missing.edges.start.push_back(static_cast<int32_t>(missing.edges.to.size()));
    ++answers;
  }
  text.push_back(options_.end);
  b.source.segments.add(std::ssize(ids) + 2);
  missing.segments.add(answers);
}

void Batches::add_examples(Batch& b) {
  const bool two = !corpus_.one_sided(), answers = corpus_.answers;
  const bool weighted = corpus_.weighted() || !corpus_.label_weights.empty();
  while (position_.example < corpus_.size()) {
    const int32_t number = order_[static_cast<size_t>(position_.example)];
    Example example = corpus_.example(number, buffer_);
    if (options_.piece_dropout > 0) example = fall_apart(example, number);
    const auto [s, t, weight] = example;
    if (corpus_.masked) {
      if (b.source_tokens() + std::ssize(t) + 2 > options_.tokens) break;
      add_masked(b, t, number);
      b.examples.push_back(number);
      if (weighted) b.target().weights.own().resize(b.target().right.ids.size(), weight);
      ++position_.example;
      continue;
    }
    const bool rows = !corpus_.source_layout.empty(), columns = !corpus_.target_layout.empty();
    const int64_t source = rows  ? corpus_.source_layout.rows(s)
                           : two ? std::ssize(s) + options_.end_source + answers
                                 : 0;
    const int64_t target = columns ? corpus_.target_layout.rows(t) : std::ssize(t) + !answers;
    if (std::max(b.source_tokens() + source, b.target_tokens() + target) > options_.tokens) break;
    if (rows) {
      corpus_.source_layout.unpack(s, b.source);
    } else if (two) {
      if (answers) b.source.ids.push_back(options_.begin);
      b.source.ids.append(s);
      if (options_.end_source) b.source.ids.push_back(options_.end);
      b.source.segments.add(source);
    }
    if (columns) {
      corpus_.target_layout.unpack(t, b.target().right, &b.target().weights);
    } else if (answers) {
      add_answers(b, example);
    } else {
      b.read.ids.push_back(options_.begin);
      b.read.ids.append(t);
      b.target().right.ids.append(t);
      b.target().right.ids.push_back(options_.end);
      b.read.segments.add(target);
      b.target().right.segments.add(target);
    }
    b.examples.push_back(number);
    if (weighted) {
      std::vector<float>& weights = b.target().weights.own();
      const Column<int32_t>& ids = b.target().right.ids;
      weights.resize(ids.size(), weight);
      if (!corpus_.label_weights.empty())
        for (size_t w = ids.size() - static_cast<size_t>(target); w < ids.size(); ++w)
          weights[w] *= ids[w] < 0 ? 0 : corpus_.label_weights[static_cast<size_t>(ids[w])];
    }
    if (!corpus_.alignment.empty()) add_links(b, number);
    ++position_.example;
  }
}

}  // namespace attune
