#include "attune/translator.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "api/look.h"
#include "api/model_files.h"
#include "api/word_alignment.h"
#include "base/error.h"
#include "data/data_files.h"
#include "decode/search.h"
#include "text/piece_words.h"

namespace attune {

namespace {

/// A line ready for the encoder.
struct Source {
  std::vector<int32_t> ids;  // with the end mark; empty for an empty line
  bool cropped = false;
};

/// Indices of lines that are translated together.
using Group = std::vector<size_t>;

void check_options(const TranslateOptions& o) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value < least) fail(ErrorKind::usage, "{} = {}, wanted {} or more", name, value, least);
  };
  at_least("beam", o.beam, 1);
  at_least("n_best", o.n_best, 1);
  at_least("max_length", o.max_length, 0);
  at_least("batch_tokens", o.batch_tokens, 1);
  if (o.n_best > o.beam)
    fail(ErrorKind::usage, "the {} best of a beam of {} were asked for\n  fix: make the beam at least {}", o.n_best,
         o.beam, o.n_best);
}

/// Long lines first: they take longest, and lines of a group leave it at about the same time. Small jobs are cut so
/// that every thread has a part.
std::vector<Group> groups_of(const std::vector<Source>& sources, const TranslateOptions& options, int threads) {
  Group order;
  int64_t total = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].ids.empty()) continue;
    order.push_back(i);
    total += std::ssize(sources[i].ids);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].ids.size() > sources[b].ids.size(); });
  const int64_t most = std::min(options.batch_tokens / options.beam, (total + threads - 1) / threads);
  std::vector<Group> groups;
  int64_t tokens = 0;
  for (const size_t i : order) {
    const int64_t own = std::ssize(sources[i].ids);
    if (groups.empty() || tokens + own > most) {
      groups.emplace_back();
      tokens = 0;
    }
    groups.back().push_back(i);
    tokens += own;
  }
  return groups;
}

SearchOptions search_options(const TranslateOptions& o) {
  SearchOptions s;
  s.beam = o.beam;
  s.length_penalty = o.length_penalty;
  s.n_best = o.n_best;
  s.longest = o.max_length;
  s.begin = text::kBegin;
  s.end = text::kEnd;
  s.hidden = {text::kPad, text::kBegin, text::kUnknown};
  return s;
}

}  // namespace

struct Translator::Body {
  OpenedModel opened;
  mutable ThreadPool pool;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Arena>> spare;  // memory that calls before have warmed

  explicit Body(int threads) : pool(threads) {}
  const Transformer& model() const { return *opened.model; }
  const text::Tokenizer& source_tokenizer() const { return *opened.tokenizers.source; }
  const text::Tokenizer& target_tokenizer() const { return *opened.tokenizers.target; }

  Source read(const std::string& line) const {
    Source s{source_tokenizer().encode(line)};
    if (s.ids.empty()) return s;
    const auto most = static_cast<size_t>(model().longest_source() - 1);
    s.cropped = s.ids.size() > most;
    if (s.cropped) s.ids.resize(most);
    s.ids.push_back(text::kEnd);
    return s;
  }

  /// f(arena) with an arena that nobody else uses.
  template <class F>
  void with_arena(F f) const {
    std::unique_ptr<Arena> arena;
    {
      const std::lock_guard lock(mutex);
      if (!spare.empty()) {
        arena = std::move(spare.back());
        spare.pop_back();
      }
    }
    if (!arena) arena = std::make_unique<Arena>();
    f(*arena);
    const std::lock_guard lock(mutex);
    spare.push_back(std::move(arena));
  }

  Translation finished(const Hypothesis& h) const {
    Translation t;
    t.text = target_tokenizer().decode(h.ids);
    t.score = h.score;
    for (const int32_t id : h.ids) t.tokens.push_back(target_tokenizer().piece(id));
    t.cut_off = !h.finished;
    return t;
  }

  /// The attention that words are aligned by: the one that was guided in training, if one was; else the one that tells
  /// it best.
  AttentionChoice aligned_by() const {
    AttentionChoice by = by_guide({}, opened.recipe.train.guide);
    if (by.layer < 0) by.layer = static_cast<int>(model().alignment_layer());
    return by;
  }

  /// Whether that attention has weights.
  bool tells_alignment() const {
    Arena arena;
    return !cross_attention(model(), {{text::kEnd}, {text::kEnd}}, aligned_by().layer, arena).empty();
  }

  WordPairs align(const std::string& line, const SentencePair& pair, const std::vector<int>& target_words,
                  Arena& arena) const {
    if (pair.target.empty() || pair.source.empty()) return {};
    const AttentionChoice by = aligned_by();
    auto weights = cross_attention(model(), pair, by.layer, arena);
    const int64_t each = std::ssize(pair.source) * std::ssize(pair.target), heads = std::ssize(weights) / each;
    if (heads == 0) return {};
    weights = of_head(weights, heads, by.head);
    std::vector<int> words = text::words_of_pieces(source_tokenizer(), line);
    words.resize(pair.source.size() - 1);  // what was cropped, and the end mark, is no word
    return align_words(weights, words, target_words, std::ssize(pair.source));
  }

  /// Translates one group; kernels use `inner`.
  void run(const Group& group, const std::vector<std::string>& lines, const std::vector<Source>& sources,
           const TranslateOptions& options, ThreadPool* inner, std::vector<Translation>& results) const {
    std::vector<int32_t> ids, lengths;
    for (const size_t i : group) {
      ids.insert(ids.end(), sources[i].ids.begin(), sources[i].ids.end());
      lengths.push_back(static_cast<int32_t>(sources[i].ids.size()));
    }
    const Segments segments = Segments::of_lengths(lengths);
    with_arena([&](Arena& arena) {
      const auto found = search(model(), {{Tensor(ids.data(), Shape{std::ssize(ids)}), &segments}},
                                search_options(options), inner, arena);
      for (size_t g = 0; g < group.size(); ++g) {
        const size_t i = group[g];
        for (size_t n = 0; n < found[g].size(); ++n) {
          Translation t = finished(found[g][n]);
          t.cropped = sources[i].cropped;
          const std::vector<int32_t>& said = found[g][n].ids;
          if (options.alignment)
            t.alignment = align(lines[i], {sources[i].ids, said}, words_of_target(target_tokenizer(), said), arena);
          if (n == 0)
            results[i] = std::move(t);
          else
            results[i].others.push_back(std::move(t));
        }
      }
    });
  }
};

Translator::Translator(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  body_->opened = open_model_files(model, &body_->pool);
  const Recipe& r = body_->opened.recipe;
  if (r.task == Task::language)
    fail(ErrorKind::model,
         "{} is a language model, which does not translate\n  fix: name a model whose task is translate; how well this "
         "one knows a text tells `attune test {} --set 'data.test=[\"FILE\"]'`",
         model, model);
  if (r.task != Task::translate || r.model.shape != ModelShape::encoder_decoder)
    fail(ErrorKind::model, "{} is not a model that translates: its recipe says otherwise\n  fix: see `attune info {}`",
         model, model);
}
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;
Translator::~Translator() = default;

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               const TranslateOptions& options) const {
  check_options(options);
  ThreadPool& pool = body_->pool;
  std::vector<Source> sources(lines.size());
  parallel_for(&pool, std::ssize(lines),
               [&](int64_t i, int) { sources[static_cast<size_t>(i)] = body_->read(lines[static_cast<size_t>(i)]); });
  std::vector<Translation> results(lines.size());
  const std::vector<Group> groups = groups_of(sources, options, pool.threads());
  if (groups.size() == 1) {
    body_->run(groups[0], lines, sources, options, &pool, results);
  } else {  // a group a thread: better than all threads on one
    parallel_for(&pool, std::ssize(groups), [&](int64_t g, int) {
      body_->run(groups[static_cast<size_t>(g)], lines, sources, options, nullptr, results);
    });
  }
  return results;
}

Translation Translator::translate(const std::string& line, const TranslateOptions& options) const {
  return std::move(translate(std::vector<std::string>{line}, options).front());
}

std::vector<WordPairs> Translator::align(const std::vector<std::string>& lines,
                                         const std::vector<std::string>& translations) const {
  check(lines.size() == translations.size(), "align", "{} lines, {} translations", lines.size(), translations.size());
  if (!body_->tells_alignment())
    fail(ErrorKind::usage,
         "the attention from decoder to encoder of this model has no weights to align words by\n"
         "  fix: see `attune info mechanisms`");
  std::vector<WordPairs> all(lines.size());
  parallel_for(&body_->pool, std::ssize(lines), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    const text::Tokenizer& target = body_->target_tokenizer();
    SentencePair pair{body_->read(lines[at]).ids, target.encode(translations[at])};
    std::vector<int> words = text::words_of_pieces(target, translations[at]);
    pair.target.resize(std::min(pair.target.size(), static_cast<size_t>(body_->model().longest_target() - 1)));
    words.resize(pair.target.size());
    body_->with_arena([&](Arena& arena) { all[at] = body_->align(lines[at], pair, words, arena); });
  });
  return all;
}

AttentionLook Translator::attention(const std::string& line, const AttentionChoice& choice) const {
  const Transformer& model = body_->model();
  const LookedAt at(model, by_guide(choice, body_->opened.recipe.train.guide));
  SentencePair pair{body_->read(line).ids, {}};
  if (pair.source.empty()) fail(ErrorKind::usage, "the text is empty\n  fix: give a sentence to translate");
  AttentionLook look;
  body_->with_arena([&](Arena& arena) {
    if (choice.target.empty()) {
      const Segments one = Segments::single(std::ssize(pair.source));
      pair.target = search(model, {{Tensor(pair.source.data(), Shape{std::ssize(pair.source)}), &one}},
                           search_options({}), &body_->pool, arena)[0][0]
                        .ids;
    } else {
      pair.target = body_->target_tokenizer().encode(choice.target);
    }
    pair.target.resize(std::min(pair.target.size(), static_cast<size_t>(model.longest_target() - 1)));
    pair.target.push_back(text::kEnd);
    look = at(body_->opened.tokenizers, pair, arena);
  });
  return look;
}

std::pair<std::string, std::string> Translator::languages() const {
  const auto names = languages_of(body_->opened.recipe.data);
  return {names[0], names[1]};
}

int64_t Translator::longest() const { return body_->model().longest_source() - 1; }

}  // namespace attune
