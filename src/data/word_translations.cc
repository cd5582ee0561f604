#include "data/word_translations.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace attune {

namespace {

/// t(f | e) where it may be above 0: of each e, its f in ascending order.
struct Table {
  std::vector<int64_t> start;
  std::vector<int32_t> words;
  std::vector<double> probability, expected;

  /// Where (e, f) is; -1: nowhere.
  int64_t find(int32_t e, int32_t f) const {
    const auto from = words.begin() + start[static_cast<size_t>(e)],
               to = words.begin() + start[static_cast<size_t>(e) + 1];
    const auto at = std::lower_bound(from, to, f);
    return at != to && *at == f ? at - words.begin() : -1;
  }
};

/// The sentences that each word is in, in order, each once.
struct Places {
  std::vector<int64_t> start;
  std::vector<int32_t> sentences;

  Places(const Sentences& text, int64_t words) : start(static_cast<size_t>(words) + 1) {
    std::vector<int64_t> last(static_cast<size_t>(words), -1);
    const auto each_once = [&](auto f) {
      std::fill(last.begin(), last.end(), -1);
      for (int64_t s = 0; s < text.count(); ++s)
        for (const int32_t id : text[s])
          if (std::exchange(last[static_cast<size_t>(id)], s) != s) f(static_cast<size_t>(id), s);
    };
    each_once([&](size_t word, int64_t) { ++start[word + 1]; });
    for (size_t w = 1; w < start.size(); ++w) start[w] += start[w - 1];
    sentences.resize(static_cast<size_t>(start.back()));
    std::vector<int64_t> at = start;
    each_once([&](size_t word, int64_t s) { sentences[static_cast<size_t>(at[word]++)] = static_cast<int32_t>(s); });
  }
  int64_t count(int64_t word) const { return start[static_cast<size_t>(word) + 1] - start[static_cast<size_t>(word)]; }
};

/// Finds what is said where a word is. One for each thread.
class Companions {
 public:
  explicit Companions(int64_t words) : together_(static_cast<size_t>(words)), last_(static_cast<size_t>(words)) {}

  /// The most closely bound ones, ascending.
  std::vector<int32_t> of(int64_t e, const Places& sources, const Places& targets, const Sentences& target,
                          int64_t most) {
    std::vector<int32_t> found;
    for (int64_t i = sources.start[static_cast<size_t>(e)]; i < sources.start[static_cast<size_t>(e) + 1]; ++i) {
      ++looks_;
      for (const int32_t f : target[sources.sentences[static_cast<size_t>(i)]]) {
        const auto at = static_cast<size_t>(f);
        if (std::exchange(last_[at], looks_) == looks_) continue;
        if (together_[at]++ == 0) found.push_back(f);
      }
    }
    const auto dice = [&](int32_t f) {
      return 2.0 * static_cast<double>(together_[static_cast<size_t>(f)]) /
             static_cast<double>(sources.count(e) + targets.count(f));
    };
    if (std::ssize(found) > most) {
      std::nth_element(found.begin(), found.begin() + most, found.end(), [&](int32_t a, int32_t b) {
        const double x = dice(a), y = dice(b);
        return x != y ? x > y : a < b;
      });
      for (auto f = found.begin() + most; f != found.end(); ++f) forget(*f);
      found.resize(static_cast<size_t>(most));
    }
    for (const int32_t f : found) forget(f);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  void forget(int32_t f) { together_[static_cast<size_t>(f)] = 0; }
  std::vector<int64_t> together_, last_;  // of each word: sentences with e; which look found it last
  int64_t looks_ = 0;
};

Table candidates(const Sentences& source, const Sentences& target, const WordTranslationOptions& o, ThreadPool* pool) {
  const Places sources(source, o.source_words), targets(target, o.target_words);
  std::vector<std::vector<int32_t>> found(static_cast<size_t>(o.source_words));
  std::vector<Companions> companions(static_cast<size_t>(workers_of(pool)), Companions(o.target_words));
  parallel_for(pool, o.source_words, [&](int64_t e, int worker) {
    found[static_cast<size_t>(e)] =
        companions[static_cast<size_t>(worker)].of(e, sources, targets, target, o.candidates);
  });
  Table t;
  t.start.push_back(0);
  for (const std::vector<int32_t>& own : found) {
    t.words.insert(t.words.end(), own.begin(), own.end());
    t.start.push_back(std::ssize(t.words));
    for (size_t i = 0; i < own.size(); ++i) t.probability.push_back(1.0 / static_cast<double>(own.size()));
  }
  t.expected.resize(t.words.size());
  return t;
}

/// One round of EM, sentence by sentence: sums have one order, whatever the threads. `none` is t(f | no word).
void improve(const Sentences& source, const Sentences& target, Table& t, std::vector<double>& none) {
  std::fill(t.expected.begin(), t.expected.end(), 0.0);
  std::vector<double> from_none(none.size());
  std::vector<int64_t> places;
  double all_none = 0;
  for (int64_t s = 0; s < source.count(); ++s)
    for (const int32_t f : target[s]) {
      double sum = none[static_cast<size_t>(f)];
      places.clear();
      for (const int32_t e : source[s])
        if (const int64_t at = t.find(e, f); at >= 0) {
          places.push_back(at);
          sum += t.probability[static_cast<size_t>(at)];
        }
      if (!(sum > 0)) continue;
      for (const int64_t at : places)
        t.expected[static_cast<size_t>(at)] += t.probability[static_cast<size_t>(at)] / sum;
      from_none[static_cast<size_t>(f)] += none[static_cast<size_t>(f)] / sum;
      all_none += none[static_cast<size_t>(f)] / sum;
    }
  for (size_t f = 0; f < none.size(); ++f) none[f] = all_none > 0 ? from_none[f] / all_none : 0;
  for (size_t e = 0; e + 1 < t.start.size(); ++e) {
    double sum = 0;
    for (int64_t i = t.start[e]; i < t.start[e + 1]; ++i) sum += t.expected[static_cast<size_t>(i)];
    for (int64_t i = t.start[e]; i < t.start[e + 1]; ++i)
      t.probability[static_cast<size_t>(i)] = sum > 0 ? t.expected[static_cast<size_t>(i)] / sum : 0;
  }
}

}  // namespace

WordTranslations learn_translations(const Sentences& source, const Sentences& target, const WordTranslationOptions& o,
                                    ThreadPool* pool) {
  check(source.count() == target.count(), "translations", "{} sentences, {} translations", source.count(),
        target.count());
  WordTranslations result;
  result.of.resize(static_cast<size_t>(o.source_words));
  result.counts.resize(static_cast<size_t>(o.target_words));
  for (const int32_t id : target.ids) ++result.counts[static_cast<size_t>(id)];
  std::vector<double> none;
  for (const int64_t n : result.counts)
    none.push_back(static_cast<double>(n) / static_cast<double>(std::max<int64_t>(1, target.tokens())));
  Table t = candidates(source, target, o, pool);
  for (int64_t round = 0; round < o.rounds; ++round) improve(source, target, t, none);
  for (size_t e = 0; e + 1 < t.start.size(); ++e) {
    std::vector<WordTranslation>& own = result.of[e];
    for (int64_t i = t.start[e]; i < t.start[e + 1]; ++i)
      if (const double p = t.probability[static_cast<size_t>(i)]; p >= o.least)
        own.push_back({t.words[static_cast<size_t>(i)], static_cast<float>(p)});
    std::stable_sort(own.begin(), own.end(),
                     [](const WordTranslation& a, const WordTranslation& b) { return a.probability > b.probability; });
  }
  return result;
}

void PairSample::add(const Example& example) {
  if (seen_++ % stride_ != 0) return;
  source.add(example.source);
  target.add(example.target);
  while (source.tokens() + target.tokens() > most_ && source.count() > 1) {
    std::vector<int64_t> odd;
    for (int64_t i = 1; i < source.count(); i += 2) odd.push_back(i);
    source.erase(odd);
    target.erase(odd);
    stride_ *= 2;
  }
}

}  // namespace attune
