#include "attune/translator.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "base/function_ref.h"
#include "base/text.h"
#include "data/files/data_files.h"
#include "decode/search.h"
#include "inference/arenas.h"
#include "inference/line_pieces.h"
#include "inference/look.h"
#include "inference/model_files.h"
#include "inference/search_setup.h"
#include "inference/text_stream.h"
#include "inference/word_alignment.h"
#include "text/piece_words.h"

namespace attune {

namespace {

/// A line ready for the encoder.
struct Source {
  std::vector<int32_t> ids;                // with the end mark; empty for an empty line
  std::vector<int32_t> prefix = {};        // how its translation begins
  bool cropped = false, too_long = false;  // too_long: it waits to be cut
  uint64_t number = 0;                     // of its draws
};

void refuse_to_translate(const OpenedModel& opened, const std::string& model) {
  const Recipe& r = opened.recipe;
  if (r.task == Task::language && r.model.shape == ModelShape::decoder)
    fail(ErrorKind::model,
         "{} is a language model, which does not translate\n  fix: name a model whose task is translate; this one goes "
         "on with a text: `attune generate {}`",
         model, model);
  if (r.task != Task::translate || !reads_source(r.model.shape)) refuse_model(r, model);
}

/// What `translate` was asked for, and where the answers go.
struct Job {
  const std::vector<std::string>& lines;
  const TranslateOptions& options;
  SearchOptions search;
  AlignmentChoice align_by;
  std::vector<Source> sources;
  std::vector<Translation>& results;
  std::mutex telling = {};  // one at a time
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
    return {s.ids, s.prefix, s.number};
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
  std::vector<OpenedModel> others;   // of an ensemble
  std::vector<const Model*> models;  // all of them
  mutable ThreadPool pool;
  mutable Arenas arenas;

  explicit Body(int threads) : pool(threads) {}
  const Model& model() const { return *opened.model; }
  const text::Tokenizer& source_tokenizer() const { return *opened.tokenizers.source; }
  const text::Tokenizer& target_tokenizer() const { return *opened.tokenizers.target; }

  SearchOptions search_by(const TranslateOptions& options) const {
    SearchOptions s = search_options(options, target_tokenizer());
    s.expansion = opened.recipe.data.expansion;
    if (options.shortlist) s.shortlist = opened.shortlist.get();
    return s;
  }

  /// The most tokens a line may have.
  int64_t longest() const {
    int64_t most = longest_source(model());
    for (const Model* m : models) most = std::min(most, longest_source(*m));
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

  int64_t longest_whole() const { return std::min(longest(), opened.recipe.data.max_length); }

  Translation finished(const Hypothesis& h) const {
    Translation t;
    t.text = target_tokenizer().decode(h.ids);
    t.score = h.score;
    for (const int32_t id : h.ids) t.tokens.push_back(target_tokenizer().piece(id));
    t.token_scores = h.token_log_probs;
    t.cut_off = !h.finished;
    return t;
  }

  /// The attention that words are aligned by, all of it named: what was chosen, else the one that was guided in
  /// training, if one was, else the one that tells it best. ErrorKind::usage for a layer or head there is not.
  AlignmentChoice aligned_by(AlignmentChoice by) const {
    const AttentionChoice guided = by_guide({}, opened.recipe.train.guide);
    if (by.layer < 0 || by.layer == guided.layer) {
      if (by.layer < 0) by.layer = guided.layer;
      if (by.heads.empty() && guided.head >= 0) by.heads = {guided.head};
    }
    if (by.layer < 0) by.layer = static_cast<int>(model().decoder()->alignment_layer());
    if (by.layer >= model().decoder()->cross_layers())
      fail(ErrorKind::usage, "there is no layer {} to align words by: the decoder has layers 0 to {}", by.layer,
           model().decoder()->cross_layers() - 1);
    for (const int h : by.heads)
      if (h < 0 || h >= model().decoder()->cross_heads())
        fail(ErrorKind::usage, "there is no head {} to align words by: there are heads 0 to {}", h,
             model().decoder()->cross_heads() - 1);
    return by;
  }

  /// ErrorKind::usage when that attention has no weights.
  void check_alignment(const AlignmentChoice& by) const {
    Arena arena;
    if (cross_attention(model(), {{text::kEnd}, {text::kEnd}}, by.layer, arena).empty())
      fail(ErrorKind::usage,
           "the attention from decoder to encoder of this model has no weights to align words by\n"
           "  fix: see `attune info mechanisms`");
  }

  /// What each token of the target looked at, [target, source]; nothing where there are no weights.
  std::vector<float> looked_at(const SentencePair& pair, const AlignmentChoice& by, Arena& arena) const {
    if (pair.target.empty() || pair.source.empty()) return {};
    const auto weights = cross_attention(model(), pair, by.layer, arena);
    const int64_t each = std::ssize(pair.source) * std::ssize(pair.target), heads = std::ssize(weights) / each;
    if (heads == 0) return {};
    if (by.heads.size() <= 1) return of_head(weights, heads, by.heads.empty() ? -1 : by.heads[0]);
    std::vector<float> mean(static_cast<size_t>(each), 0.0f);
    for (const int h : by.heads) {
      const std::vector<float> own = of_head(weights, heads, h);
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += own[i] / static_cast<float>(by.heads.size());
    }
    return mean;
  }

  WordPairs align(const std::string& line, const SentencePair& pair, const std::vector<int>& target_words,
                  const std::vector<float>& weights) const {
    if (weights.empty()) return {};
    std::vector<int> words = text::words_of_pieces(source_tokenizer(), line);
    words.resize(pair.source.size() - 1);  // what was cropped, and the end mark, is no word
    return align_words(weights, words, target_words, std::ssize(pair.source));
  }

  /// Adds what was asked for beside the text.
  void look(const Job& job, size_t line, const std::vector<int32_t>& said, Translation& t) const {
    const SentencePair pair{job.sources[line].ids, said};
    std::vector<float> weights;
    arenas.with([&](Arena& arena) { weights = looked_at(pair, job.align_by, arena); });
    if (job.options.alignment)
      t.alignment = align(job.lines[line], pair, words_of_target(target_tokenizer(), said), weights);
    if (!job.options.attention) return;
    t.source_tokens = pieces_of(source_tokenizer(), pair.source);
    t.attention = std::move(weights);
  }

  /// Writes down what was found of a line.
  void answer(Job& job, size_t line, const std::vector<Hypothesis>& best) const {
    for (size_t n = 0; n < best.size(); ++n) {
      Translation t = finished(best[n]);
      t.cropped = job.sources[line].cropped;
      if (job.options.alignment || job.options.attention) look(job, line, best[n].ids, t);
      if (n == 0)
        job.results[line] = std::move(t);
      else
        job.results[line].others.push_back(std::move(t));
    }
    if (!job.options.on_lines) return;
    const std::lock_guard lock(job.telling);
    job.options.on_lines(1);
  }

  /// Lets who watches see the tokens.
  void tell(Job& job, std::vector<TextStream>& streams) const {
    if (!job.options.on_token) return;
    const auto texts = static_cast<size_t>(job.options.sample ? job.options.n_best : 1);
    streams.assign(job.lines.size() * texts, TextStream(target_tokenizer(), {}));
    job.search.on_token = [this, &job, &streams, texts](int64_t s, int64_t number, int32_t id) {
      const auto line = static_cast<size_t>(s);
      const std::string more = streams[line * texts + static_cast<size_t>(number)].add(id);
      const std::lock_guard lock(job.telling);
      return job.options.on_token({line, static_cast<int>(number), target_tokenizer().piece(id), more});
    };
  }

  void translate_long(Job& job) const;

  void run(Job& job) const {
    std::vector<TextStream> streams;
    tell(job, streams);
    const auto note = [&](size_t line, const std::vector<Hypothesis>& best) { answer(job, line, best); };
    LineQueue queue(job, note);
    const auto empty = std::ssize(job.lines) - queue.lines();
    if (job.options.on_lines && empty > 0) job.options.on_lines(empty);
    const int64_t rows = job.options.sample ? job.options.n_best : job.options.beam;
    const auto search_on = [&](int64_t tokens, ThreadPool* inner) {
      arenas.with([&](Arena& arena) { search(models, queue, job.search, tokens, inner, arena); });
    };
    if (queue.lines() <= 1 || pool.threads() == 1) return search_on(job.options.batch_tokens / rows, &pool);
    // A search a thread: better than all threads on one. Small jobs are cut so that every thread has a part.
    const int64_t each = (queue.tokens() + pool.threads() - 1) / pool.threads();
    parallel_for(&pool, pool.threads(),
                 [&](int64_t, int) { search_on(std::min(job.options.batch_tokens / rows, each), nullptr); });
  }
};

/// Lines that are too long, in pieces; all pieces of all of them together.
void Translator::Body::translate_long(Job& job) const {
  std::vector<std::string_view> pieces;
  std::vector<size_t> first, long_lines;  // of each such line, and at last the end
  for (size_t i = 0; i < job.lines.size(); ++i) {
    if (!job.sources[i].too_long) continue;
    long_lines.push_back(i);
    first.push_back(pieces.size());
    const auto own = pieces_of_line(source_tokenizer(), job.lines[i], static_cast<size_t>(longest_whole()));
    pieces.insert(pieces.end(), own.begin(), own.end());
  }
  if (pieces.empty()) return;
  first.push_back(pieces.size());
  const std::vector<std::string> texts(pieces.begin(), pieces.end());
  TranslateOptions options = job.options;
  options.on_token = {};
  options.on_lines = {};
  options.attention = false;
  std::vector<Translation> said(texts.size());
  Job all{texts, options, search_by(options), job.align_by, std::vector<Source>(texts.size()), said};
  for (size_t l = 0; l < long_lines.size(); ++l) {
    const Source& whole = job.sources[long_lines[l]];
    for (size_t p = first[l]; p < first[l + 1]; ++p) {
      all.sources[p] = read(texts[p]);
      all.sources[p].number = ((whole.number + 1) << 32) + (p - first[l]);  // draws of its own
    }
    all.sources[first[l]].prefix = whole.prefix;
  }
  run(all);
  for (size_t l = 0; l < long_lines.size(); ++l) {
    const size_t count = first[l + 1] - first[l];
    job.results[long_lines[l]] =
        joined_translation(job.lines[long_lines[l]], std::span(pieces).subspan(first[l], count),
                           std::span<const Translation>(said).subspan(first[l], count), options.length_penalty);
  }
}

Translator::Translator(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  std::vector<OpenedModel> all = open_ensemble(model, &body_->pool, refuse_to_translate);
  for (const OpenedModel& m : all) body_->models.push_back(m.model.get());
  body_->opened = std::move(all.front());
  body_->others.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
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
  Job job{lines,
          options,
          body_->search_by(options),
          body_->aligned_by(options.align_by),
          std::vector<Source>(lines.size()),
          results};
  if (options.attention) body_->check_alignment(job.align_by);
  parallel_for(&pool, std::ssize(lines), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    Source& source = job.sources[at];
    source = body_->read(lines[at]);
    source.too_long = options.cut && std::ssize(source.ids) - 1 + (source.cropped ? 1 : 0) > body_->longest_whole();
    if (source.too_long) source.ids.clear();
    source.number = options.first_line + at;
    if (!options.prefixes.empty()) source.prefix = body_->target_tokenizer().encode(options.prefixes[at]);
  });
  body_->run(job);
  body_->translate_long(job);
  return results;
}

Translation Translator::translate(const std::string& line, const TranslateOptions& options) const {
  return std::move(translate(std::vector<std::string>{line}, options).front());
}

std::vector<WordPairs> Translator::align(const std::vector<std::string>& lines,
                                         const std::vector<std::string>& translations,
                                         const AlignmentChoice& chosen) const {
  check(lines.size() == translations.size(), "align", "{} lines, {} translations", lines.size(), translations.size());
  const AlignmentChoice by = body_->aligned_by(chosen);
  body_->check_alignment(by);
  std::vector<WordPairs> all(lines.size());
  parallel_for(&body_->pool, std::ssize(lines), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    const text::Tokenizer& target = body_->target_tokenizer();
    SentencePair pair{body_->read(lines[at]).ids, target.encode(translations[at])};
    std::vector<int> words = text::words_of_pieces(target, translations[at]);
    pair.target.resize(std::min(pair.target.size(), static_cast<size_t>(body_->model().longest_target() - 1)));
    words.resize(pair.target.size());
    body_->arenas.with(
        [&](Arena& arena) { all[at] = body_->align(lines[at], pair, words, body_->looked_at(pair, by, arena)); });
  });
  return all;
}

AttentionLook Translator::attention(const std::string& line, const AttentionChoice& choice) const {
  const Model& model = body_->model();
  const text::Tokenizer& target = body_->target_tokenizer();
  const LookedAt at(model, choice, body_->opened.recipe.train.guide);
  const Source read = body_->read(line);
  SentencePair pair{read.ids, {}};
  if (pair.source.empty()) fail(ErrorKind::usage, "the text is empty\n  fix: give a sentence to translate");
  AttentionLook look;
  body_->arenas.with([&](Arena& arena) {
    std::vector<int> words;
    if (choice.target.empty()) {
      const Rows source = rows_of(pair.source, Segments::single(std::ssize(pair.source)));
      pair.target = search(model, {source}, body_->search_by({}), &body_->pool, arena)[0][0].ids;
      words = words_of_target(target, pair.target);
    } else {
      pair.target = target.encode(choice.target);
      words = text::words_of_pieces(target, choice.target);
    }
    pair.target.resize(std::min(pair.target.size(), static_cast<size_t>(model.longest_target() - 1)));
    words.resize(pair.target.size());
    const std::string said = choice.target.empty() ? target.decode(pair.target) : choice.target;
    pair.target.push_back(text::kEnd);
    look = at(body_->opened.tokenizers, pair, arena);
    look.text = said;
    if (choice.at == AttentionSite::cross) look.alignment = body_->align(line, pair, words, look.weights);
  });
  look.task = "translate";
  look.source = line;
  look.cropped = read.cropped;
  return look;
}

std::pair<std::string, std::string> Translator::languages() const {
  const auto names = languages_of(body_->opened.recipe.data);
  return {names[0], names[1]};
}

int64_t Translator::longest() const { return body_->longest(); }
int64_t Translator::longest_whole() const { return body_->longest_whole(); }

}  // namespace attune
