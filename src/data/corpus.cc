#include "data/corpus.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

constexpr int64_t kBlock = 256;         // pairs that one thread encodes at a time
constexpr int64_t kRound = 32;          // blocks that are read before all threads encode
constexpr size_t kRoundText = 8 << 20;  // or as many bytes

/// Pairs that wait to be encoded; their text lies in one string.
struct Round {
  struct Item {
    size_t at, source, target;  // where the text begins, and the bytes of both sides
    PairPlace place;
    size_t first_link;
  };
  std::string text;
  std::vector<Item> items;
  std::vector<text::Link> links;

  void add(const TextPair& p) {
    items.push_back({text.size(), p.source.size(), p.target.size(), p.place, links.size()});
    text.append(p.source).append(p.target);
  }
  std::span<const text::Link> links_of(int64_t i) const {
    const auto item = static_cast<size_t>(i);
    const size_t from = items[item].first_link,
                 to = item + 1 < items.size() ? items[item + 1].first_link : links.size();
    return std::span(links).subspan(from, to - from);
  }
  std::string_view side(const Item& i, int which) const {
    return std::string_view(text).substr(i.at + (which ? i.source : 0), which ? i.target : i.source);
  }
  bool full() const { return std::ssize(items) == kBlock * kRound || text.size() >= kRoundText; }
  void clear() {
    text.clear();
    items.clear();
    links.clear();
  }
};

class Loader {
 public:
  Loader(PairReader& reader, AlignmentReader* alignment, const DataSettings& options, const Encoders& encoders,
         const OnPair& on_pair)
      : reader_(reader),
        alignment_(alignment),
        options_(options),
        encoders_(encoders),
        on_pair_(on_pair),
        stream_(options.stream && encoders.sides() == Sides::one),
        encoded_(kRound) {}

  void load(ThreadPool* pool, Corpus& corpus) {
    Round round;
    for (bool more = true; more;) {
      round.clear();
      for (TextPair pair; !round.full() && (more = reader_.next(pair));) {
        round.add(pair);
        if (!alignment_) continue;
        const auto& links = alignment_->next(pair, reader_.report().pairs);
        round.links.insert(round.links.end(), links.begin(), links.end());
      }
      const int64_t pairs = std::ssize(round.items), blocks = (pairs + kBlock - 1) / kBlock;
      parallel_for(pool, blocks, [&](int64_t block, int) { encode(round, block); });
      for (int64_t i = 0; i < pairs; ++i) keep(round, i, corpus);
    }
    if (alignment_) alignment_->finish(reader_.report().pairs);
  }

 private:
  void encode(const Round& round, int64_t block) {
    Corpus& to = encoded_[static_cast<size_t>(block)];
    to = {};
    const int64_t end = std::min<int64_t>((block + 1) * kBlock, std::ssize(round.items));
    for (int64_t i = block * kBlock; i < end; ++i) {
      const Round::Item& item = round.items[static_cast<size_t>(i)];
      if (encoders_.source) to.source.add(encoders_.source(round.side(item, 0)));
      to.target.add(encoders_.target(round.side(item, 1)));
      if (alignment_)
        add_pair(round.links_of(i), encoders_.source_words(round.side(item, 0)),
                 encoders_.target_words(round.side(item, 1)), to.alignment);
    }
  }

  void keep(const Round& round, int64_t i, Corpus& corpus) {
    const Round::Item& item = round.items[static_cast<size_t>(i)];
    const Corpus& block = encoded_[static_cast<size_t>(i / kBlock)];
    const bool two = encoders_.sides() == Sides::two;
    std::span<const int32_t> source, target = block.target[i % kBlock];
    if (two) source = block.source[i % kBlock];
    PairReport& report = reader_.report();
    if (stream_) {
      if (corpus.target.count() == 0 || item.place.files != text_) corpus.target.add({});
      text_ = item.place.files;
      corpus.target.extend(target);
      corpus.target.extend({&text::kEnd, 1});
      ++report.kept;
      return;
    }
    const bool no_source = two && source.empty();
    if (no_source || target.empty()) {  // the encoder may see nothing where there are odd blanks
      report.empty.add(reader_.place(item.place, no_source ? 0 : 1));
      return;
    }
    const auto most = static_cast<size_t>(options_.max_length);
    if (source.size() > most || target.size() > most) {
      const int side = source.size() > most ? 0 : 1;
      const std::string place = reader_.place(item.place, side);
      if (options_.overlong == Overlong::error)
        fail(ErrorKind::data,
             "{}: {} tokens, more than data.max_length = {}\n"
             "  fix: raise data.max_length, or set data.overlong to \"skip\" or \"crop\"",
             place, thousands(std::ssize(side ? target : source)), most);
      report.overlong.add(place);
      if (options_.overlong == Overlong::skip) return;
      source = source.first(std::min(source.size(), most));
      target = target.first(std::min(target.size(), most));
    }
    if (two) corpus.source.add(source);
    corpus.target.add(target);
    if (alignment_) {
      const int64_t first = block.target.start[static_cast<size_t>(i % kBlock)];
      for (int64_t t = 0; t < std::ssize(target); ++t) {
        auto links = block.alignment[first + t];
        while (!links.empty() && links.back() >= std::ssize(source)) links = links.first(links.size() - 1);  // cropped
        corpus.alignment.add(links);
      }
    }
    ++report.kept;
    if (on_pair_) on_pair_(round.side(item, 0), round.side(item, 1));
  }

  PairReader& reader_;
  AlignmentReader* alignment_;
  const DataSettings& options_;
  const Encoders& encoders_;
  const OnPair& on_pair_;
  bool stream_;
  int32_t text_ = 0;             // which file the last text is
  std::vector<Corpus> encoded_;  // a small one per block
};

}  // namespace

void Sentences::add(std::span<const int32_t> sentence) {
  ids.insert(ids.end(), sentence.begin(), sentence.end());
  start.push_back(static_cast<int64_t>(ids.size()));
  longest = std::max(longest, static_cast<int32_t>(sentence.size()));
}

void Sentences::extend(std::span<const int32_t> more) {
  ids.insert(ids.end(), more.begin(), more.end());
  start.back() = static_cast<int64_t>(ids.size());
  const int64_t length = start.back() - start[start.size() - 2];
  longest = static_cast<int32_t>(std::clamp<int64_t>(length, longest, INT32_MAX));
}

Sentences Sentences::split_off(int64_t at) {
  Sentences head, tail;
  int64_t done = 0;
  const auto all = std::span(std::as_const(ids));
  const auto move_to = [&](Sentences& to, int64_t end) {
    if (end > done) to.add(all.subspan(static_cast<size_t>(done), static_cast<size_t>(end - done)));
    done = std::max(done, end);
  };
  for (size_t i = 1; i < start.size(); ++i) {
    move_to(head, std::min(start[i], at));
    if (start[i] > at) move_to(tail, start[i]);
  }
  *this = std::move(head);
  return tail;
}

void Sentences::erase(const std::vector<bool>& marked) {
  size_t kept = 0;
  int64_t to = 0;
  longest = 0;
  for (int64_t i = 0, n = count(); i < n; ++i) {
    if (marked[static_cast<size_t>(i)]) continue;
    const int64_t from = start[static_cast<size_t>(i)];
    const int32_t tokens = length(i);
    std::copy_n(ids.begin() + from, tokens, ids.begin() + to);
    start[++kept] = to += tokens;  // at or before what was just read: the next sentence is still whole
    longest = std::max(longest, tokens);
  }
  ids.resize(static_cast<size_t>(to));
  start.resize(kept + 1);
}

LoadedCorpus read_corpus(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                         const Encoders& encoders, ThreadPool* pool, const OnPair& on_pair) {
  const bool two = encoders.sides() == Sides::two;
  PairReader reader(files, options, key, encoders.sides());
  std::optional<AlignmentReader> alignment;
  if (!options.alignment.empty() && key == "data.train")
    alignment.emplace(options.alignment, pair_files(files, options.format, key, encoders.sides()).size(),
                      options.truncate);
  LoadedCorpus out;
  Loader(reader, alignment ? &*alignment : nullptr, options, encoders, on_pair).load(pool, out.corpus);
  out.report = reader.report();
  out.content_hash = reader.content_hash();
  if (alignment) out.content_hash += "-" + alignment->content_hash();
  if (options.stream && !two) out.corpus.window = std::min(options.max_length, out.corpus.target.tokens());
  if (out.corpus.target.count() > 0) return out;
  const auto why = out.report.sentences(options.overlong);
  fail(ErrorKind::data, "{}: no {} is left of {} read from {}\n  fix: {}", key, two ? "pair of lines" : "line",
       thousands(out.report.pairs), join(files, ", "), why.empty() ? "the files are empty" : why.front());
}

}  // namespace attune
