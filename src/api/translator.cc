#include "attune/translator.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "api/arenas.h"
#include "api/look.h"
#include "api/model_files.h"
#include "api/search_setup.h"
#include "api/text_stream.h"
#include "api/word_alignment.h"
#include "base/error.h"
#include "base/text.h"
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
  const int64_t rows = options.sample ? options.n_best : options.beam;
  const int64_t most = std::min(options.batch_tokens / rows, (total + threads - 1) / threads);
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

void refuse_others(const OpenedModel& opened, const std::string& model) {
  const Recipe& r = opened.recipe;
  if (r.task == Task::language)
    fail(ErrorKind::model,
         "{} is a language model, which does not translate\n  fix: name a model whose task is translate; this one goes "
         "on with a text: `attune generate {}`",
         model, model);
  if (r.task != Task::translate || r.model.shape != ModelShape::encoder_decoder)
    fail(ErrorKind::model, "{} is not a model that translates: its recipe says otherwise\n  fix: see `attune info {}`",
         model, model);
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

}  // namespace

struct Translator::Body {
  OpenedModel opened;
  std::vector<OpenedModel> others;         // of an ensemble
  std::vector<const Transformer*> models;  // all of them
  mutable ThreadPool pool;
  mutable Arenas arenas;

  explicit Body(int threads) : pool(threads) {}
  const Transformer& model() const { return *opened.model; }
  const text::Tokenizer& source_tokenizer() const { return *opened.tokenizers.source; }
  const text::Tokenizer& target_tokenizer() const { return *opened.tokenizers.target; }

  /// The most tokens a line may have.
  int64_t longest() const {
    int64_t most = longest_source(model());
    for (const Transformer* m : models) most = std::min(most, longest_source(*m));
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
    if (by.layer < 0) by.layer = static_cast<int>(model().alignment_layer());
    if (by.layer >= model().options().decoder_layers)
      fail(ErrorKind::usage, "there is no layer {} to align words by: the decoder has layers 0 to {}", by.layer,
           model().options().decoder_layers - 1);
    for (const int h : by.heads)
      if (h < 0 || h >= model().cross_heads())
        fail(ErrorKind::usage, "there is no head {} to align words by: there are heads 0 to {}", h,
             model().cross_heads() - 1);
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

  /// Translates one group; kernels use `inner`.
  void run(const Group& group, Job& job, ThreadPool* inner) const {
    std::vector<int32_t> ids, lengths;
    std::vector<std::vector<int32_t>> prefixes;
    std::vector<uint64_t> keys;
    for (const size_t i : group) {
      const std::vector<int32_t>& source = job.sources[i].ids;
      ids.insert(ids.end(), source.begin(), source.end());
      lengths.push_back(static_cast<int32_t>(source.size()));
      keys.push_back(job.options.first_line + i);
      if (!job.options.prefixes.empty()) prefixes.push_back(target_tokenizer().encode(job.options.prefixes[i]));
    }
    const Segments segments = Segments::of_lengths(lengths);
    const SearchInput input{{Tensor(ids.data(), Shape{std::ssize(ids)}), &segments}, prefixes, keys};
    SearchOptions options = job.search;
    const auto texts = static_cast<size_t>(options.sample ? options.n_best : 1);
    std::vector<TextStream> streams;
    if (job.options.on_token) {
      streams.assign(group.size() * texts, TextStream(target_tokenizer(), {}));
      options.on_token = [&](int64_t s, int64_t number, int32_t id) {
        const auto g = static_cast<size_t>(s);
        const std::string more = streams[g * texts + static_cast<size_t>(number)].add(id);
        const std::lock_guard lock(job.telling);
        return job.options.on_token({group[g], static_cast<int>(number), target_tokenizer().piece(id), more});
      };
    }
    arenas.with([&](Arena& arena) {
      const auto found = search(models, input, options, inner, arena);
      for (size_t g = 0; g < group.size(); ++g) {
        const size_t i = group[g];
        for (size_t n = 0; n < found[g].size(); ++n) {
          Translation t = finished(found[g][n]);
          t.cropped = job.sources[i].cropped;
          if (job.options.alignment || job.options.attention) {
            const SentencePair pair{job.sources[i].ids, found[g][n].ids};
            std::vector<float> weights = looked_at(pair, job.align_by, arena);
            if (job.options.alignment)
              t.alignment = align(job.lines[i], pair, words_of_target(target_tokenizer(), pair.target), weights);
            if (job.options.attention) {
              t.source_tokens = pieces_of(source_tokenizer(), pair.source);
              t.attention = std::move(weights);
            }
          }
          if (n == 0)
            job.results[i] = std::move(t);
          else
            job.results[i].others.push_back(std::move(t));
        }
      }
    });
    if (!job.options.on_lines) return;
    const std::lock_guard lock(job.telling);
    job.options.on_lines(std::ssize(group));
  }
};

Translator::Translator(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  std::vector<OpenedModel> all = open_ensemble(model, &body_->pool, refuse_others);
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
          search_options(options, body_->target_tokenizer()),
          body_->aligned_by(options.align_by),
          std::vector<Source>(lines.size()),
          results};
  if (options.attention) body_->check_alignment(job.align_by);
  parallel_for(&pool, std::ssize(lines), [&](int64_t i, int) {
    job.sources[static_cast<size_t>(i)] = body_->read(lines[static_cast<size_t>(i)]);
  });
  const std::vector<Group> groups = groups_of(job.sources, options, pool.threads());
  const auto empty =
      std::count_if(job.sources.begin(), job.sources.end(), [](const Source& x) { return x.ids.empty(); });
  if (options.on_lines && empty > 0) options.on_lines(empty);
  if (groups.size() == 1) {
    body_->run(groups[0], job, &pool);
  } else {  // a group a thread: better than all threads on one
    parallel_for(&pool, std::ssize(groups),
                 [&](int64_t g, int) { body_->run(groups[static_cast<size_t>(g)], job, nullptr); });
  }
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
  const Transformer& model = body_->model();
  const LookedAt at(model, by_guide(choice, body_->opened.recipe.train.guide));
  SentencePair pair{body_->read(line).ids, {}};
  if (pair.source.empty()) fail(ErrorKind::usage, "the text is empty\n  fix: give a sentence to translate");
  AttentionLook look;
  body_->arenas.with([&](Arena& arena) {
    if (choice.target.empty()) {
      const Segments one = Segments::single(std::ssize(pair.source));
      pair.target = search(model, {{Tensor(pair.source.data(), Shape{std::ssize(pair.source)}), &one}},
                           search_options({}, body_->target_tokenizer()), &body_->pool, arena)[0][0]
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
