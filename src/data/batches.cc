#include "data/batches.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

/// Empties, but keeps the memory.
void clear(Segments& s) {
  s.start.assign(1, 0);
  s.longest = 0;
}

void add(Segments& s, int64_t rows) {
  s.start.push_back(s.start.back() + static_cast<int32_t>(rows));
  s.longest = std::max(s.longest, static_cast<int32_t>(rows));
}

}  // namespace

void check_budget(const Corpus& corpus, const BatchOptions& options) {
  if (corpus.window > options.tokens)
    fail(ErrorKind::recipe,
         "train.batch_tokens = {} is less than a window of data.max_length = {} tokens\n"
         "  fix: raise train.batch_tokens, or lower data.max_length",
         options.tokens, corpus.window);
  const CorpusSizes sizes = corpus.sizes();
  const int64_t longest = std::max(sizes.longest_source + options.end_source + corpus.answers,
                                   sizes.longest_target + !corpus.answers + (corpus.masked > 0));
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
  b.source.clear();
  b.target_in.clear();
  b.target_out.clear();
  b.examples.clear();
  b.weights.clear();
  b.streams.clear();
  b.link_start.clear();
  b.links.clear();
  b.first = position_.example == 0;
  clear(b.source_segments);
  clear(b.target_segments);
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
    const int64_t from = (begin + offset_) % tokens, to = from + end - begin;  // the text goes round
    add_text(b, from, std::min(to, tokens));
    if (to > tokens) add_text(b, 0, to - tokens);
    add(b.target_segments, end - begin);
    b.streams.push_back(static_cast<int32_t>(s));
  }
  position_.example += b.target_tokens();
}

/// Each token is to be said after the one before it, the first of a text after the mark of its begin.
void Batches::add_text(Batch& b, int64_t from, int64_t end) {
  const auto& starts = corpus_.target.start;
  const auto row = static_cast<int64_t>(b.target_in.size()) - from;  // in the batch, of the text's token 0
  auto ids = corpus_.tokens(std::max<int64_t>(from - 1, 0), end, buffer_);
  b.target_in.push_back(from > 0 ? ids[0] : options_.begin);
  if (from > 0) ids = ids.subspan(1);
  b.target_in.insert(b.target_in.end(), ids.begin(), ids.end() - 1);
  b.target_out.insert(b.target_out.end(), ids.begin(), ids.end());
  for (auto s = std::lower_bound(starts.begin(), starts.end(), from); s != starts.end() && *s < end; ++s)
    b.target_in[static_cast<size_t>(row + *s)] = options_.begin;
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
  if (b.link_start.empty()) b.link_start.push_back(0);
  for (int64_t i = 0; i < target.length(example); ++i) {
    const auto links = corpus_.alignment[target.start[static_cast<size_t>(example)] + i];
    if (whole) {
      b.links.insert(b.links.end(), links.begin(), links.end());
      b.link_start.push_back(static_cast<int32_t>(b.links.size()));
      continue;
    }
    // Every part of a word goes with every part of what the word goes with.
    const auto at = static_cast<size_t>(i);
    for (int32_t part = target_parts_.start[at]; part < target_parts_.start[at + 1]; ++part) {
      for (const int32_t j : links)
        for (int32_t k = source_parts_.start[static_cast<size_t>(j)];
             k < source_parts_.start[static_cast<size_t>(j) + 1]; ++k)
          b.links.push_back(k);
      b.link_start.push_back(static_cast<int32_t>(b.links.size()));
    }
  }
  b.link_start.push_back(b.link_start.back());  // the end mark goes with nothing
}

/// Answers have no marks; the text they belong to begins with one.
void Batches::add_answers(Batch& b, const Example& example) const {
  b.target_in.insert(b.target_in.end(), example.target.begin(), example.target.end());
  b.target_out.insert(b.target_out.end(), example.target.begin(), example.target.end());
  add(b.target_segments, std::ssize(example.target));
  if (!corpus_.word_begins) return;
  if (b.link_start.empty()) b.link_start.push_back(0);
  for (size_t i = 0; i < example.source.size(); ++i) {
    if (!(*corpus_.word_begins)[static_cast<size_t>(example.source[i])]) continue;
    b.links.push_back(static_cast<int32_t>(i + 1));
    b.link_start.push_back(static_cast<int32_t>(b.links.size()));
  }
  check(std::ssize(b.link_start) == b.target_segments.rows() + 1, "batches", "{} words have answers, and {} begin",
        b.target_segments.rows(), std::ssize(b.link_start) - 1);
}

/// Devlin et al. 2019, section 3.1: of the words that are to be guessed, 80 % are missing, 10 % are another word, 10 %
/// are there. Depends on the epoch and the text's number alone, not on its batch; in order, on the number.
void Batches::add_masked(Batch& b, std::span<const int32_t> ids, int32_t number) const {
  const uint64_t epoch = options_.shuffle ? static_cast<uint64_t>(position_.epoch) + 1 : 0;
  Random random(mix(mix(mix(options_.seed, 0x6d61736b), epoch), static_cast<uint64_t>(number)));
  const auto sure = static_cast<size_t>(random.below(ids.size()));  // one at least
  if (b.link_start.empty()) b.link_start.push_back(0);
  b.source.push_back(options_.begin);
  int64_t answers = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    b.source.push_back(ids[i]);
    if (random.uniform() >= options_.mask && i != sure) continue;
    const double how = random.uniform();
    if (how < 0.8) b.source.back() = text::kPad;
    if (how >= 0.9 && corpus_.masked > text::kMarks)
      b.source.back() =
          text::kMarks + static_cast<int32_t>(random.below(static_cast<uint64_t>(corpus_.masked - text::kMarks)));
    b.target_in.push_back(ids[i]);
    b.target_out.push_back(ids[i]);
    b.links.push_back(static_cast<int32_t>(i + 1));
    b.link_start.push_back(static_cast<int32_t>(b.links.size()));
    ++answers;
  }
  b.source.push_back(options_.end);
  add(b.source_segments, std::ssize(ids) + 2);
  add(b.target_segments, answers);
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
      if (weighted) b.weights.resize(b.target_out.size(), weight);
      ++position_.example;
      continue;
    }
    const int64_t source = two ? std::ssize(s) + options_.end_source + answers : 0, target = std::ssize(t) + !answers;
    if (std::max(b.source_tokens() + source, b.target_tokens() + target) > options_.tokens) break;
    if (two) {
      if (answers) b.source.push_back(options_.begin);
      b.source.insert(b.source.end(), s.begin(), s.end());
      if (options_.end_source) b.source.push_back(options_.end);
      add(b.source_segments, source);
    }
    if (answers) {
      add_answers(b, example);
    } else {
      b.target_in.push_back(options_.begin);
      b.target_in.insert(b.target_in.end(), t.begin(), t.end());
      b.target_out.insert(b.target_out.end(), t.begin(), t.end());
      b.target_out.push_back(options_.end);
      add(b.target_segments, target);
    }
    b.examples.push_back(number);
    if (weighted) {
      b.weights.resize(b.target_out.size(), weight);
      if (!corpus_.label_weights.empty())
        for (size_t w = b.weights.size() - t.size(), j = 0; j < t.size(); ++w, ++j)
          b.weights[w] *= t[j] < 0 ? 0 : corpus_.label_weights[static_cast<size_t>(t[j])];
    }
    if (!corpus_.alignment.empty()) add_links(b, number);
    ++position_.example;
  }
}

}  // namespace attune
