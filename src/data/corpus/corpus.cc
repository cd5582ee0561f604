#include "data/corpus/corpus.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "data/corpus/row_corpus.h"
#include "data/files/guess_encoding.h"
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
    float weight;
    size_t first_link;
  };
  std::string text;
  std::vector<Item> items;
  std::vector<text::Link> links;

  void add(const TextPair& p) {
    items.push_back({text.size(), p.source.size(), p.target.size(), p.place, p.weight, links.size()});
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
        stream_(has_texts(options, encoders.sides())),
        encoded_(kRound) {}

  void load(ThreadPool* pool, CorpusSink& to) {
    Round round;
    for (bool more = true; more;) {
      round.clear();
      for (TextPair pair; !round.full() && (more = reader_.next(pair));) {
        round.add(pair);
        if (!alignment_) continue;
        const auto& links = alignment_->next(pair, reader_.begins());
        round.links.insert(round.links.end(), links.begin(), links.end());
      }
      const int64_t pairs = std::ssize(round.items), blocks = (pairs + kBlock - 1) / kBlock;
      parallel_for(pool, blocks, [&](int64_t block, int) { encode(round, block); });
      for (int64_t i = 0; i < pairs; ++i) keep(round, i, to);
    }
    if (alignment_) alignment_->finish(reader_.begins(), reader_.report().pairs);
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

  void keep(const Round& round, int64_t i, CorpusSink& to) {
    const Round::Item& item = round.items[static_cast<size_t>(i)];
    const Corpus& block = encoded_[static_cast<size_t>(i / kBlock)];
    const bool two = has_source(encoders_.sides());
    std::span<const int32_t> source, target = block.target[i % kBlock];
    if (two) source = block.source[i % kBlock];
    PairReport& report = reader_.report();
    for (; files_ < item.place.files; ++files_) to.begin_files();
    if (stream_) {
      if (item.place.files != text_) to.begin_text();
      text_ = item.place.files;
      to.extend(target);
      to.extend({&text::kEnd, 1});
      ++report.kept;
      return;
    }
    if (encoders_.fault)
      if (const std::string fault = encoders_.fault(round.side(item, 0), round.side(item, 1)); !fault.empty())
        fail(ErrorKind::data, "{}: {}", reader_.place(item.place, 1), fault);
    const bool no_source = two && source.empty();
    const bool no_target = target.empty() && !options_.empty_answers;
    if (no_source || no_target) {  // the encoder may see nothing where there are odd blanks
      report.empty.add(reader_.place(item.place, no_source ? 0 : 1));
      return;
    }
    const auto most = static_cast<size_t>(options_.max_length * encoders_.ids_per_token);
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
      if (encoders_.word_begins)  // words that are left
        target = target.first(static_cast<size_t>(std::count_if(source.begin(), source.end(), [&](int32_t id) {
          return (*encoders_.word_begins)[static_cast<size_t>(id)];
        })));
    }
    to.add({source, target, item.weight});
    if (alignment_) {
      const int64_t first = block.target.start[static_cast<size_t>(i % kBlock)];
      for (int64_t t = 0; t < std::ssize(target); ++t) {
        auto links = block.alignment[first + t];
        while (!links.empty() && links.back() >= std::ssize(source)) links = links.first(links.size() - 1);  // cropped
        to.align(links);
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
  int32_t files_ = -1;           // which one the last pair was of
  int32_t text_ = -1;            // which file the last text is
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

void Sentences::erase(const std::vector<int64_t>& numbers) {
  size_t kept = 0, next = 0;
  int64_t to = 0;
  longest = 0;
  for (int64_t i = 0, n = count(); i < n; ++i) {
    if (next < numbers.size() && numbers[next] == i) {
      ++next;
      continue;
    }
    const int64_t from = start[static_cast<size_t>(i)];
    const int32_t tokens = length(i);
    std::copy_n(ids.begin() + from, tokens, ids.begin() + to);
    start[++kept] = to += tokens;  // at or before what was just read: the next sentence is still whole
    longest = std::max(longest, tokens);
  }
  ids.resize(static_cast<size_t>(to));
  start.resize(kept + 1);
}

void CorpusSizes::add(int64_t source, int64_t target) {
  ++examples;
  source_tokens += source;
  target_tokens += target;
  longest_source = std::max(longest_source, static_cast<int32_t>(source));
  longest_target = std::max(longest_target, static_cast<int32_t>(target));
}

CorpusSizes Corpus::sizes() const {
  if (stored && window == 0) return stored_sizes;
  return {target.count(), source.tokens(), target.tokens(), source.longest, target.longest};
}

int64_t Corpus::rows() const {
  const CorpusSizes s = sizes();
  if (!target_layout.empty()) return s.examples * target_layout.longest;
  return s.target_tokens + (window > 0 || answers ? 0 : s.examples);
}

int64_t Corpus::source_rows() const {
  const CorpusSizes s = sizes();
  return source_layout.empty() ? s.source_tokens : s.examples * source_layout.longest;
}

int64_t Corpus::longest() const {
  if (!source_layout.empty()) return std::max(longest_source(), longest_target());
  const CorpusSizes s = sizes();
  return window > 0 ? window : std::max(s.longest_source + answers, s.longest_target + (masked > 0)) + 1;
}

Example Corpus::example(int64_t i, ExampleBuffer& buffer) const {
  if (stored) return stored->read(i, buffer);
  return {one_sided() ? std::span<const int32_t>() : source[i], target[i],
          weights.empty() ? 1 : weights[static_cast<size_t>(i)]};
}

void Corpus::add(const Example& example, Sides sides) {
  if (example.weight != 1 && weights.empty()) weights.resize(static_cast<size_t>(target.count()), 1);
  if (has_source(sides)) source.add(example.source);
  target.add(example.target);
  if (example.weight != 1 || !weights.empty()) weights.push_back(example.weight);
}

void Corpus::erase(const std::vector<int64_t>& numbers) {
  if (!alignment.empty()) {
    std::vector<bool> tokens(static_cast<size_t>(target.tokens()));
    for (const int64_t n : numbers)
      std::fill_n(tokens.begin() + target.start[static_cast<size_t>(n)], target.length(n), true);
    alignment.erase(tokens);
  }
  if (!one_sided()) source.erase(numbers);
  target.erase(numbers);
  if (weights.empty()) return;
  size_t kept = 0, next = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (next < numbers.size() && numbers[next] == static_cast<int64_t>(i))
      ++next;
    else
      weights[kept++] = weights[i];
  }
  weights.resize(kept);
}

std::span<const int32_t> Corpus::tokens(int64_t from, int64_t end, ExampleBuffer& buffer) const {
  if (stored) return stored->tokens(from, end, buffer);
  return std::span(target.ids).subspan(static_cast<size_t>(from), static_cast<size_t>(end - from));
}

void encode_pairs(const PairSource& from, const DataSettings& options, const Encoders& encoders, ThreadPool* pool,
                  const OnPair& on_pair, CorpusSink& to) {
  Loader(from.reader, from.alignment, options, encoders, on_pair).load(pool, to);
}

void refuse_empty(const PairReport& report, const std::vector<std::string>& files, const std::string& key,
                  Overlong overlong) {
  if (report.kept > 0) return;
  const auto why = report.sentences(overlong);
  const bool too_long = report.overlong.count > 0 && overlong == Overlong::skip;
  fail(ErrorKind::data, "{}: no {} is left of {} read from {}{}\n  fix: {}", key,
       has_source(report.sides) ? "pair of lines" : "line", thousands(report.pairs), join(files, ", "),
       why.empty() ? "" : ": " + why.front(),
       too_long            ? "raise data.max_length, or set data.overlong = \"crop\""
       : report.pairs == 0 ? "the files are empty: name others"
                           : "name files that have text");
}

void refuse_other_letters(const PairReport& report, const std::string& key) {
  if (report.broken.count < 10 || 10 * report.broken.count < report.pairs) return;
  const std::string& place = report.broken.places.front();
  const std::string file = place.substr(0, place.rfind(':'));
  const EncodingGuess guess = file == "stdin" ? EncodingGuess{.name = ""} : guess_encoding(file);
  fail(ErrorKind::data, "{}: {} of {} lines are not UTF-8, the first at {}\n  fix: {}", key,
       thousands(report.broken.count), thousands(report.pairs), place,
       guess.name.empty()      ? "set data.encoding as the files are written, or convert them by iconv"
       : guess.name == "utf-8" ? "most lines are UTF-8: look at the others"
       : guess.known           ? fmt::format("set data.encoding = \"{}\"{}, or whatever it is", guess.name,
                                   guess.language.empty() ? "" : " (" + guess.language + ")")
                               : fmt::format("convert it: {}", guess.conversion(file)));
}

std::vector<int64_t> Mixture::shares() const {
  std::vector<int64_t> out;
  const auto all = static_cast<double>(borders.back());
  double total = 0, before = 0;
  for (const double r : ratio) total += r;
  int64_t done = 0;
  for (const double r : ratio) {
    before += r;
    const int64_t end = out.size() + 1 == ratio.size() ? borders.back() : static_cast<int64_t>(all * before / total);
    out.push_back(end - done);
    done = end;
  }
  return out;
}

std::optional<AlignmentReader> alignment_of(const std::vector<std::string>& files, const std::string& key,
                                            const DataSettings& options, Sides sides) {
  if (options.alignment.empty() || key != "data.train") return std::nullopt;
  return std::optional<AlignmentReader>(std::in_place, options.alignment,
                                        pair_files(files, options.format, key, sides).size(), options.truncate);
}

LoadedCorpus read_corpus(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                         const Encoders& encoders, ThreadPool* pool, const OnPair& on_pair) {
  if (encoders.rows)
    return read_row_corpus({files, key, true, key != "data.train" && files == options.train}, options.format, encoders,
                           on_pair);
  PairReader reader(files, options, key, encoders.sides());
  CorpusInMemory to(encoders.sides());
  auto alignment = alignment_of(files, key, options, encoders.sides());
  encode_pairs({reader, alignment ? &*alignment : nullptr}, options, encoders, pool, on_pair, to);
  refuse_other_letters(reader.report(), key);
  refuse_empty(reader.report(), files, key, options.overlong);
  to.corpus.weights.clear();
  LoadedCorpus out{std::move(to.corpus), reader.report(), reader.content_hash()};
  if (alignment) out.content_hash += "+" + alignment->content_hash();
  out.corpus.masked = encoders.masked;
  out.corpus.answers = encoders.answers;
  out.corpus.word_begins = encoders.word_begins;
  out.corpus.documents = options.documents;
  if (has_texts(options, encoders.sides()))
    out.corpus.window = std::min(options.max_length, out.corpus.target.tokens());
  return out;
}

}  // namespace attune
