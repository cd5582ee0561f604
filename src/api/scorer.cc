#include "attune/scorer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/denormals.h"
#include "base/error.h"
#include "decode/search.h"
#include "inference/arenas.h"
#include "inference/line_groups.h"
#include "inference/model_files.h"
#include "text/utf8.h"

namespace attune {

void ScoreTotals::add(const LineScore& line) {
  ++lines;
  tokens += std::ssize(line.token_scores);
  characters += line.characters;
  nats -= line.log_prob;
}
double ScoreTotals::perplexity() const { return tokens ? std::exp(nats / static_cast<double>(tokens)) : 0; }
double ScoreTotals::bits_per_token() const {
  return tokens ? nats / std::numbers::ln2 / static_cast<double>(tokens) : 0;
}
double ScoreTotals::bits_per_character() const {
  return characters ? nats / std::numbers::ln2 / static_cast<double>(characters) : 0;
}

namespace {

/// A pair or a line as the model reads it.
struct Asked {
  std::vector<int32_t> source;  // with the end mark; none for a language model
  std::vector<int32_t> target;  // what is to be said, the end mark at last unless it is cropped
};

void refuse_to_score(const OpenedModel& m, const std::string& name) {
  const ModelShape shape = m.recipe.model.shape;
  const bool translates = m.recipe.task == Task::translate && reads_source(shape);
  const bool goes_on = m.recipe.task == Task::language && shape == ModelShape::decoder;
  if (!translates && !goes_on) refuse_model(m.recipe, name);
}

int64_t rows_of(const Asked& e) { return std::max(std::ssize(e.source), std::ssize(e.target)); }

int64_t characters_in(std::string_view text) {
  int64_t n = 0;
  for ([[maybe_unused]] const text::Character c : text::Characters(text)) ++n;
  return n;
}

}  // namespace

struct Scorer::Body {
  std::vector<OpenedModel> opened;  // several: an ensemble
  mutable ThreadPool pool;
  mutable Arenas arenas;

  explicit Body(int threads) : pool(threads) {}
  const OpenedModel& first() const { return opened.front(); }
  bool has_source() const { return first().recipe.task == Task::translate; }

  int64_t longest() const {
    int64_t most = INT64_MAX;
    for (const OpenedModel& m : opened) {
      most = std::min(most, longest_target(*m.model));
      if (has_source()) most = std::min(most, longest_source(*m.model));
    }
    return most - 1;
  }
  int64_t learned() const {
    int64_t most = INT64_MAX;
    for (const OpenedModel& m : opened) most = std::min(most, m.recipe.data.max_length);
    return most;
  }

  /// Fills in what is known before the model has read it.
  Asked read(const std::string* source, const std::string& target, LineScore& to) const {
    Asked e;
    const auto most = static_cast<size_t>(longest()), usual = static_cast<size_t>(learned());
    const text::Tokenizer& tokenizer = *first().tokenizers.target;
    if (source) {
      e.source = first().tokenizers.source->encode(*source);
      to.cropped = e.source.size() > most;
      to.beyond = e.source.size() > usual;
      e.source.resize(std::min(e.source.size(), most));
    }
    text::Encoded encoded = tokenizer.encode_with_spans(target);
    if (source && e.source.empty() && encoded.ids.empty()) return e;
    e.source.push_back(text::kEnd);
    e.target = std::move(encoded.ids);
    const bool whole = e.target.size() <= most;
    to.cropped |= !whole;
    to.beyond |= e.target.size() > usual;
    to.characters = whole ? characters_in(target) + 1 : encoded.spans[most - 1].end;
    e.target.resize(std::min(e.target.size(), most));
    for (const int32_t id : e.target) to.tokens.push_back(tokenizer.piece(id));
    if (whole) e.target.push_back(text::kEnd);
    return e;
  }

  /// log p of all tokens of the targets by one model, one after another.
  void log_probs(const OpenedModel& m, std::span<const Asked> examples, Ctx& ctx, std::vector<float>& to) const {
    std::vector<int32_t> source, in, out, source_lengths, target_lengths;
    // After the end of a line, another one begins in a text; its very begin is a rare thing.
    const int32_t begin = m.recipe.task == Task::language && m.recipe.data.stream ? text::kEnd : text::kBegin;
    for (const Asked& e : examples) {
      if (has_source()) {
        source.insert(source.end(), e.source.begin(), e.source.end());
        source_lengths.push_back(static_cast<int32_t>(e.source.size()));
      }
      target_lengths.push_back(static_cast<int32_t>(e.target.size()));
      in.push_back(begin);
      in.insert(in.end(), e.target.begin(), e.target.end() - 1);
      out.insert(out.end(), e.target.begin(), e.target.end());
    }
    Batch batch;
    batch.source = rows_of(source, Segments::of_lengths(source_lengths));
    batch.read = rows_of(in, Segments::of_lengths(target_lengths));
    batch.target().right = rows_of(out, batch.read.segments);
    to.resize(out.size());
    Pass pass{ctx, m.model->parameters()};
    const FlushDenormals flushed;
    m.model->loss(pass, batch, {.log_probs = Tensor(to.data(), Shape{std::ssize(to)})});
  }

  /// The same by all of them: the logarithm of the mean of what they find probable.
  std::vector<double> log_probs(std::span<const Asked> examples, ThreadPool* inner) const {
    std::vector<double> all;
    std::vector<float> own;
    arenas.with([&](Arena& arena) {
      Ctx ctx(arena);
      ctx.pool = inner;
      for (const OpenedModel& m : opened) {
        log_probs(m, examples, ctx, own);
        if (opened.size() == 1)
          all.assign(own.begin(), own.end());
        else
          all.resize(own.size());
        for (size_t i = 0; i < own.size() && opened.size() > 1; ++i) all[i] += std::exp(static_cast<double>(own[i]));
      }
    });
    if (opened.size() > 1)
      for (double& p : all) p = std::log(p / static_cast<double>(opened.size()));
    return all;
  }

  std::vector<LineScore> score(const std::vector<std::string>* sources, const std::vector<std::string>& targets,
                               const ScoreOptions& o) const;
};

std::vector<LineScore> Scorer::Body::score(const std::vector<std::string>* sources,
                                           const std::vector<std::string>& targets, const ScoreOptions& o) const {
  if (o.batch_tokens < 1) fail(ErrorKind::usage, "batch_tokens = {}, wanted 1 or more", o.batch_tokens);
  std::vector<LineScore> results(targets.size());
  std::vector<Asked> examples(targets.size());
  parallel_for(&pool, std::ssize(targets), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    examples[at] = read(sources ? &(*sources)[at] : nullptr, targets[at], results[at]);
  });
  std::vector<Asked> said;  // those with something to say
  std::vector<size_t> line;
  for (size_t i = 0; i < examples.size(); ++i) {
    if (examples[i].target.empty()) continue;
    said.push_back(std::move(examples[i]));
    line.push_back(i);
  }
  const auto cost = [&](size_t i) { return rows_of(said[i]); };
  for_line_groups(pool, said.size(), o.batch_tokens, cost, [&](size_t from, size_t end, ThreadPool* inner) {
    const std::vector<double> found = log_probs(std::span(said).subspan(from, end - from), inner);
    const double* next = found.data();
    for (size_t i = from; i < end; ++i) {
      LineScore& to = results[line[i]];
      to.token_scores.assign(next, next + said[i].target.size());
      next += said[i].target.size();
      for (const double x : to.token_scores) to.log_prob += x;
      to.score = to.log_prob / length_penalty(std::ssize(to.token_scores), o.length_penalty);
    }
  });
  return results;
}

Scorer::Scorer(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  body_->opened = open_ensemble(model, &body_->pool, refuse_to_score);
}
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;
Scorer::~Scorer() = default;

bool Scorer::wants_sources() const { return body_->has_source(); }
int64_t Scorer::longest() const { return body_->longest(); }
int64_t Scorer::learned() const { return body_->learned(); }

std::vector<LineScore> Scorer::score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                     const ScoreOptions& options) const {
  if (!wants_sources())
    fail(ErrorKind::usage, "this is a language model, which knows no sources\n  fix: give it lines alone");
  if (sources.size() != targets.size())
    fail(ErrorKind::usage, "{} sources, {} targets\n  fix: one target for each source", sources.size(), targets.size());
  return body_->score(&sources, targets, options);
}

std::vector<LineScore> Scorer::score_lines(const std::vector<std::string>& lines, const ScoreOptions& options) const {
  if (wants_sources())
    fail(ErrorKind::usage,
         "this model scores translations: it needs a source for each\n  fix: give it sources and translations");
  return body_->score(nullptr, lines, options);
}

}  // namespace attune
