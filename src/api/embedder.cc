#include "attune/embedder.h"

#include <algorithm>
#include <utility>

#include "base/denormals.h"
#include "base/error.h"
#include "inference/arenas.h"
#include "inference/line_groups.h"
#include "inference/model_files.h"

namespace attune {

namespace {

/// Row by row, in double precision: the same for any batch.
std::vector<float> pooled(const Tensor& rows, int64_t from, int64_t count, Pool pool) {
  const int64_t width = rows.cols();
  const auto row = [&](int64_t i) { return rows.row<float>(from + i); };
  if (pool == Pool::first) return {row(0), row(0) + width};
  if (pool == Pool::last) return {row(count - 1), row(count - 1) + width};
  std::vector<float> out(row(0), row(0) + width);
  if (pool == Pool::max) {
    for (int64_t i = 1; i < count; ++i)
      for (int64_t j = 0; j < width; ++j)
        out[static_cast<size_t>(j)] = std::max(out[static_cast<size_t>(j)], row(i)[j]);
    return out;
  }
  std::vector<double> sum(static_cast<size_t>(width), 0.0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < width; ++j) sum[static_cast<size_t>(j)] += static_cast<double>(row(i)[j]);
  for (size_t j = 0; j < sum.size(); ++j) out[j] = static_cast<float>(sum[j] / static_cast<double>(count));
  return out;
}

}  // namespace

struct Embedder::Body {
  OpenedModel opened;
  mutable ThreadPool pool;
  mutable Arenas arenas;

  explicit Body(int threads) : pool(threads) {}
  bool encodes() const { return opened.model->encoder(); }
  /// Texts that are encoded alone have a mark before them and one after them.
  int64_t longest() const {
    const int64_t marks = opened.model->decoder() ? 1 : 2;
    return (encodes() ? longest_source(*opened.model) : longest_target(*opened.model)) - marks;
  }

  std::vector<int32_t> read(const std::string& line, Embedding& to) const {
    const auto most = static_cast<size_t>(longest());
    std::vector<int32_t> ids = (encodes() ? opened.tokenizers.source : opened.tokenizers.target)->encode(line);
    to.cropped = ids.size() > most;
    to.beyond = std::cmp_greater(ids.size(), opened.recipe.data.max_length);
    ids.resize(std::min(ids.size(), most));
    if (opened.model->options().shape != ModelShape::encoder_decoder)
      ids.insert(ids.begin(), opened.recipe.data.stream && !encodes() ? text::kEnd : text::kBegin);
    if (encodes()) ids.push_back(text::kEnd);
    return ids;
  }

  /// The vectors of lines [from, end).
  void run(const std::vector<std::vector<int32_t>>& lines, size_t from, size_t end, const EmbedOptions& options,
           std::vector<Embedding>& to, ThreadPool* inner) const {
    std::vector<int32_t> ids, lengths;
    for (size_t i = from; i < end; ++i) {
      ids.insert(ids.end(), lines[i].begin(), lines[i].end());
      lengths.push_back(static_cast<int32_t>(lines[i].size()));
    }
    const Segments segments = Segments::of_lengths(lengths);
    arenas.with([&](Arena& arena) {
      const FlushDenormals flushed;
      Ctx ctx(arena);
      ctx.pool = inner;
      Pass pass{ctx, opened.model->parameters()};
      const Rows rows = rows_of(ids, segments);
      const Var states =
          encodes() ? opened.model->encode(pass, rows).x : opened.model->decode(pass, Rows(), Encoded(), rows);
      for (size_t i = from; i < end; ++i) {
        const auto s = static_cast<int64_t>(i - from);
        to[i].vector = pooled(states.value(), segments.begin(s), segments.length(s), options.pool);
      }
    });
  }
};

Embedder::Embedder(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  body_->opened = open_model_files(model, &body_->pool);
  if (body_->opened.tokenizers.rows) refuse_model(body_->opened.recipe, model);
  if (is_bag(body_->opened.recipe.model))
    fail(ErrorKind::model, "{} is a bag of words: it has no vectors of texts\n  fix: name a model that has layers",
         model);
}
Embedder::Embedder(Embedder&&) noexcept = default;
Embedder& Embedder::operator=(Embedder&&) noexcept = default;
Embedder::~Embedder() = default;

int64_t Embedder::width() const { return body_->opened.recipe.model.d_model; }
int64_t Embedder::longest() const { return body_->longest(); }
int64_t Embedder::learned() const { return body_->opened.recipe.data.max_length; }

std::vector<Embedding> Embedder::embed(const std::vector<std::string>& lines, const EmbedOptions& options) const {
  if (options.batch_tokens < 1) fail(ErrorKind::usage, "batch_tokens = {}, wanted 1 or more", options.batch_tokens);
  ThreadPool& pool = body_->pool;
  std::vector<Embedding> results(lines.size());
  std::vector<std::vector<int32_t>> ids(lines.size());
  parallel_for(&pool, std::ssize(lines), [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    ids[at] = body_->read(lines[at], results[at]);
  });
  const auto cost = [&](size_t i) { return std::ssize(ids[i]); };
  for_line_groups(pool, ids.size(), options.batch_tokens, cost, [&](size_t from, size_t end, ThreadPool* inner) {
    body_->run(ids, from, end, options, results, inner);
  });
  return results;
}

}  // namespace attune
