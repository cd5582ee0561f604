#include "attune/translator.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "api/look.h"
#include "api/model_files.h"
#include "api/word_alignment.h"
#include "base/error.h"
#include "base/function_ref.h"
#include "base/text.h"
#include "data/data_files.h"
#include "decode/search.h"
#include "text/piece_words.h"

namespace attune {

namespace {

/// A line ready for the encoder.
struct Source {
  std::vector<int32_t> ids;          // with the end mark; empty for an empty line
  std::vector<int32_t> prefix = {};  // how its translation begins
  bool cropped = false;
};

void check_options(const TranslateOptions& o) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value < least) fail(ErrorKind::usage, "{} = {}, wanted {} or more", name, value, least);
  };
  at_least("beam", o.beam, 1);
  at_least("n_best", o.n_best, 1);
  at_least("min_length", o.min_length, 0);
  at_least("max_length", o.max_length, 0);
  at_least("top_k", o.top_k, 0);
  at_least("no_repeat_ngram", o.no_repeat_ngram, 0);
  at_least("batch_tokens", o.batch_tokens, 1);
  const auto above_0 = [](const char* name, double value) {
    if (!(value > 0)) fail(ErrorKind::usage, "{} = {}, wanted more than 0", name, value);
  };
  if (!(o.coverage_penalty >= 0)) fail(ErrorKind::usage, "coverage_penalty = {}, wanted 0 or more", o.coverage_penalty);
  above_0("temperature", o.temperature);
  above_0("top_p", o.top_p);
  above_0("repetition_penalty", o.repetition_penalty);
  if (o.max_length > 0 && o.min_length >= o.max_length)
    fail(ErrorKind::usage, "min_length = {} leaves no room below max_length = {}\n  fix: lower min_length",
         o.min_length, o.max_length);
  if (!o.sample && o.n_best > o.beam)
    fail(ErrorKind::usage, "the {} best of a beam of {} were asked for\n  fix: make the beam at least {}", o.n_best,
         o.beam, o.n_best);
}

SearchOptions search_options(const TranslateOptions& o) {
  SearchOptions s;
  s.beam = o.beam;
  s.length_penalty = o.length_penalty;
  s.coverage_penalty = o.coverage_penalty;
  s.n_best = o.n_best;
  s.shortest = o.min_length;
  s.longest = o.max_length;
  s.begin = text::kBegin;
  s.end = text::kEnd;
  s.hidden = {text::kPad, text::kBegin, text::kUnknown};
  s.repetition_penalty = o.repetition_penalty;
  s.no_repeat = o.no_repeat_ngram;
  s.sample = o.sample;
  s.sampling = {o.temperature, o.top_k, o.top_p, o.seed};
  return s;
}

}  // namespace

namespace {

OpenedModel open_translator(const std::string& model, ThreadPool* pool) {
  OpenedModel opened = open_model_files(model, pool);
  const Recipe& r = opened.recipe;
  if (r.task == Task::language)
    fail(ErrorKind::model,
         "{} is a language model, which does not translate\n  fix: name a model whose task is translate; how well this "
         "one knows a text tells `attune test {} --set 'data.test=[\"FILE\"]'`",
         model, model);
  if (r.task != Task::translate || r.model.shape != ModelShape::encoder_decoder)
    fail(ErrorKind::model, "{} is not a model that translates: its recipe says otherwise\n  fix: see `attune info {}`",
         model, model);
  return opened;
}

/// What `translate` was asked for, and where the answers go.
struct Job {
  const std::vector<std::string>& lines;
  const TranslateOptions& options;
  SearchOptions search;
  std::vector<Source> sources;
  std::vector<Translation>& results;
};

/// Lines that wait, long ones first: they take longest, and lines that enter together leave at about the same time.
class LineQueue : public SearchQueue {
 public:
  using Found = FunctionRef<void(size_t line, const std::vector<Hypothesis>&)>;
  LineQueue(const Job& job, Found found) : job_(job), found_(found) {
    for (size_t i = 0; i < job.sources.size(); ++i)
      if (!job.sources[i].ids.empty()) order_.push_back(static_cast<int64_t>(i));
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) { return tokens(a) > tokens(b); });
  }
  int64_t lines() const { return std::ssize(order_); }
  int64_t tokens() const {
    return std::accumulate(order_.begin(), order_.end(), int64_t{0},
                           [&](int64_t n, int64_t i) { return n + tokens(i); });
  }

  std::vector<int64_t> take(int64_t together, int64_t alone) override {
    const std::lock_guard lock(mutex_);
    std::vector<int64_t> some;
    for (int64_t sum = 0; next_ < order_.size(); some.push_back(order_[next_++])) {
      sum += tokens(order_[next_]);
      if (sum > (some.empty() ? std::max(together, alone) : together)) break;
    }
    return some;
  }
  SearchSentence sentence(int64_t id) const override {
    const Source& s = job_.sources[static_cast<size_t>(id)];
    return {s.ids, s.prefix, job_.options.first_line + static_cast<uint64_t>(id)};
  }
  void found(int64_t id, std::vector<Hypothesis> best) override { found_(static_cast<size_t>(id), best); }

 private:
  int64_t tokens(int64_t line) const { return std::ssize(job_.sources[static_cast<size_t>(line)].ids); }

  const Job& job_;
  Found found_;
  std::vector<int64_t> order_;
  std::mutex mutex_;  // guards what follows
  size_t next_ = 0;
};

}  // namespace

struct Translator::Body {
  OpenedModel opened;
  std::vector<OpenedModel> others;         // of an ensemble
  std::vector<const Transformer*> models;  // all of them
  mutable ThreadPool pool;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Arena>> spare;  // memory that calls before have warmed

  explicit Body(int threads) : pool(threads) {}
  const Transformer& model() const { return *opened.model; }
  const text::Tokenizer& source_tokenizer() const { return *opened.tokenizers.source; }
  const text::Tokenizer& target_tokenizer() const { return *opened.tokenizers.target; }

  /// The most tokens a line may have.
  int64_t longest() const {
    int64_t most = model().longest_source();
    for (const Transformer* m : models) most = std::min(most, m->longest_source());
    return most - 1;
  }

  Source read(const std::string& line) const {
    Source s{source_tokenizer().encode(line)};
    if (s.ids.empty()) return s;
    const auto most = static_cast<size_t>(longest());
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
    t.token_scores = h.token_log_probs;
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

  SearchOptions search_for(const TranslateOptions& options) const {
    SearchOptions s = search_options(options);
    for (const std::string& piece : options.suppressed) {
      const int32_t id = target_tokenizer().id(piece);
      if (id < text::kMarks)
        fail(ErrorKind::usage, "\"{}\" is no piece of this model's vocabulary\n  fix: see its tokenizer/vocabulary.txt",
             piece);
      s.hidden.push_back(id);
    }
    return s;
  }

  /// Writes down what was found of a line.
  void answer(Job& job, size_t line, const std::vector<Hypothesis>& best) const {
    for (size_t n = 0; n < best.size(); ++n) {
      Translation t = finished(best[n]);
      t.cropped = job.sources[line].cropped;
      const std::vector<int32_t>& said = best[n].ids;
      if (job.options.alignment)
        with_arena([&](Arena& arena) {
          t.alignment =
              align(job.lines[line], {job.sources[line].ids, said}, words_of_target(target_tokenizer(), said), arena);
        });
      if (n == 0)
        job.results[line] = std::move(t);
      else
        job.results[line].others.push_back(std::move(t));
    }
  }

  void run(Job& job) const {
    const auto note = [&](size_t line, const std::vector<Hypothesis>& best) { answer(job, line, best); };
    LineQueue queue(job, note);
    const int64_t rows = job.options.sample ? job.options.n_best : job.options.beam;
    const auto search_on = [&](int64_t tokens, ThreadPool* inner) {
      with_arena([&](Arena& arena) { search(models, queue, job.search, tokens, inner, arena); });
    };
    if (queue.lines() <= 1 || pool.threads() == 1) return search_on(job.options.batch_tokens / rows, &pool);
    // A search a thread: better than all threads on one. Small jobs are cut so that every thread has a part.
    const int64_t each = (queue.tokens() + pool.threads() - 1) / pool.threads();
    parallel_for(&pool, pool.threads(),
                 [&](int64_t, int) { search_on(std::min(job.options.batch_tokens / rows, each), nullptr); });
  }
};

Translator::Translator(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  std::error_code ignored;  // a folder may have a comma in its name
  const std::vector<std::string> names =
      std::filesystem::is_directory(model, ignored) ? std::vector{model} : split(model, ',');
  body_->opened = open_translator(names[0], &body_->pool);
  body_->models = {body_->opened.model.get()};
  const Tokenizers& first = body_->opened.tokenizers;
  for (size_t i = 1; i < names.size(); ++i) {
    OpenedModel other = open_translator(names[i], &body_->pool);
    if (other.tokenizers.source->hash() != first.source->hash() ||
        other.tokenizers.target->hash() != first.target->hash())
      fail(ErrorKind::model,
           "{} and {} do not share a vocabulary, as the models of an ensemble must\n"
           "  fix: train them with one tokenizer: the same data and [tokenizer], another train.seed",
           names[0], names[i]);
    body_->models.push_back(other.model.get());
    body_->others.push_back(std::move(other));
  }
}
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;
Translator::~Translator() = default;

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               const TranslateOptions& options) const {
  check_options(options);
  if (!options.prefixes.empty() && options.prefixes.size() != lines.size())
    fail(ErrorKind::usage, "{} prefixes for {} lines\n  fix: one for each line, empty where there is none",
         options.prefixes.size(), lines.size());
  ThreadPool& pool = body_->pool;
  std::vector<Translation> results(lines.size());
  Job job{lines, options, body_->search_for(options), std::vector<Source>(lines.size()), results};
  parallel_for(&pool, std::ssize(lines), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    job.sources[at] = body_->read(lines[at]);
    if (!options.prefixes.empty()) job.sources[at].prefix = body_->target_tokenizer().encode(options.prefixes[at]);
  });
  body_->run(job);
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

int64_t Translator::longest() const { return body_->longest(); }

}  // namespace attune
