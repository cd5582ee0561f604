#include "attune/generator.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "inference/arenas.h"
#include "inference/line_groups.h"
#include "inference/model_files.h"
#include "inference/search_setup.h"
#include "inference/text_stream.h"

namespace attune {

namespace {

constexpr int64_t kUsualLength = 256;

void refuse_to_generate(const OpenedModel& m, const std::string& name) {
  if (m.recipe.task == Task::translate)
    fail(ErrorKind::model,
         "{} translates: it goes on with nothing\n  fix: name a language model; for this one `attune translate {}`",
         name, name);
  if (m.recipe.task != Task::language || m.recipe.model.shape != ModelShape::decoder) refuse_model(m.recipe, name);
}

TranslateOptions as_translation(const GenerateOptions& o) {
  TranslateOptions t;
  t.beam = o.beam;
  t.length_penalty = o.length_penalty;
  t.n_best = o.n_best;
  t.min_length = o.min_length;
  t.max_length = o.max_length;
  t.batch_tokens = o.batch_tokens;
  t.sample = o.sample;
  t.temperature = o.temperature;
  t.top_k = o.top_k;
  t.top_p = o.top_p;
  t.seed = o.seed;
  t.repetition_penalty = o.repetition_penalty;
  t.no_repeat_ngram = o.no_repeat_ngram;
  t.suppressed = o.suppressed;
  return t;
}

/// A text that grows: a sample of a prompt, or all that a beam makes of one.
struct Growing {
  size_t prompt = 0;
  int number = 0;
  uint64_t key = 0;
  std::vector<int32_t> ids;  // with the prompt
  size_t given = 0;          // of which the prompt is so many
  std::vector<double> token_scores = {};
  bool finished = false, stopped = false, cropped = false;
  std::vector<Growing> others = {};  // of a beam: the second best, the third ...

  /// What a search said after the `seen` tokens it was given.
  void take(const Hypothesis& h, size_t seen) {
    const auto from = static_cast<ptrdiff_t>(std::min(seen, h.ids.size()));
    ids.insert(ids.end(), h.ids.begin() + from, h.ids.end());
    token_scores.insert(token_scores.end(), h.token_log_probs.begin() + from, h.token_log_probs.end());
    finished = h.finished;
  }
  int64_t said() const { return std::ssize(ids) - static_cast<int64_t>(given); }
};

}  // namespace

struct Generator::Body {
  std::vector<OpenedModel> opened;   // several: an ensemble
  std::vector<const Model*> models;  // all of them
  mutable ThreadPool pool;
  mutable Arenas arenas;

  explicit Body(int threads) : pool(threads) {}
  const Recipe& recipe() const { return opened.front().recipe; }
  const text::Tokenizer& tokenizer() const { return *opened.front().tokenizers.target; }
  bool texts() const { return recipe().data.stream; }
  int32_t begin() const { return texts() ? text::kEnd : text::kBegin; }

  /// Tokens that the model sees at a time, the one it reads first counted.
  int64_t window() const {
    int64_t most = texts() ? recipe().data.max_length : INT64_MAX;
    for (const Model* m : models) most = std::min(most, longest_target(*m));
    return std::max<int64_t>(most, 2);
  }

  std::vector<int32_t> read(const std::string& prompt) const {
    if (!texts()) return tokenizer().encode(prompt);
    std::vector<int32_t> ids;
    const std::vector<std::string> lines = split(prompt, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) ids.push_back(text::kEnd);
      const std::vector<int32_t> line = tokenizer().encode(lines[i]);
      ids.insert(ids.end(), line.begin(), line.end());
    }
    return ids;
  }

  void say(std::span<Growing> texts, const SearchOptions& search, const GenerateOptions& options, std::mutex& telling,
           ThreadPool* inner) const;
  GeneratedText told(const Growing& text, const GenerateOptions& options) const;
};

/// Says texts side by side to their ends, in as many rounds as they are longer than the window.
void Generator::Body::say(std::span<Growing> texts, const SearchOptions& common, const GenerateOptions& options,
                          std::mutex& telling, ThreadPool* inner) const {
  std::vector<TextStream> streams;
  const bool watched = options.on_token || !options.stop.empty();
  if (watched)
    for (const Growing& t : texts) streams.emplace_back(tokenizer(), t.ids, options.stop);
  const bool one_by_one = options.sample || options.beam == 1;
  const int64_t most = common.longest, all = window();
  std::vector<size_t> going(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) going[i] = i;
  for (uint64_t round = 0; !going.empty(); ++round) {
    std::vector<std::vector<int32_t>> prefixes;
    std::vector<int32_t> begins;
    std::vector<uint64_t> keys;
    std::vector<int64_t> longest;
    for (const size_t i : going) {
      Growing& t = texts[i];
      const int64_t have = std::ssize(t.ids), seen = have < all ? have : all / 2;
      t.cropped |= round == 0 && seen < have;
      prefixes.emplace_back(t.ids.end() - seen, t.ids.end());
      begins.push_back(seen < have ? t.ids[static_cast<size_t>(have - seen - 1)] : begin());
      keys.push_back(round == 0 ? t.key : mix(t.key, round));
      longest.push_back(std::min(most - t.said(), all - seen));
    }
    SearchOptions search = common;
    if (watched)
      search.on_token = [&](int64_t s, int64_t, int32_t id) {
        const size_t at = going[static_cast<size_t>(s)];
        const std::string more = streams[at].add(id);
        bool go_on = !streams[at].stopped();
        if (options.on_token) {
          const std::lock_guard lock(telling);
          go_on &= options.on_token({texts[at].prompt, texts[at].number, tokenizer().piece(id), more});
        }
        texts[at].stopped |= !go_on;
        return go_on;
      };
    const Rows none = rows_of({}, Segments::of_lengths(std::vector<int32_t>(going.size(), 0)));
    std::vector<std::vector<Hypothesis>> found;
    arenas.with([&](Arena& arena) {
      found = attune::search(models, {none, prefixes, keys, begins, longest}, search, inner, arena);
    });
    std::vector<size_t> next;
    for (size_t g = 0; g < going.size(); ++g) {
      Growing& t = texts[going[g]];
      const size_t seen = prefixes[g].size();
      for (size_t n = 1; n < found[g].size(); ++n) {
        Growing other = t;
        other.others.clear();
        other.take(found[g][n], seen);
        t.others.push_back(std::move(other));
      }
      t.take(found[g].front(), seen);
      const bool more = !t.finished && !t.stopped && t.said() < most && found[g].front().ids.size() > seen;
      if (more && this->texts() && one_by_one) next.push_back(going[g]);
    }
    going = std::move(next);
  }
}

GeneratedText Generator::Body::told(const Growing& t, const GenerateOptions& options) const {
  GeneratedText out;
  const std::string prompt = text_of(tokenizer(), std::span(t.ids).first(t.given));
  out.text = text_of(tokenizer(), t.ids);
  const size_t at = std::min(prompt.size(), out.text.size());
  if (!options.stop.empty())
    if (const size_t stop = out.text.find(options.stop, at); stop != std::string::npos) out.text.resize(stop);
  out.continuation = out.text.substr(at);
  for (size_t i = t.given; i < t.ids.size(); ++i) out.tokens.push_back(tokenizer().piece(t.ids[i]));
  out.token_scores = t.token_scores;
  double sum = 0;
  for (const double x : t.token_scores) sum += x;
  out.score = sum / length_penalty(std::max<int64_t>(1, std::ssize(t.token_scores)), options.length_penalty);
  out.cut_off = !t.finished && !t.stopped;
  out.cropped = t.cropped;
  out.unknown = std::count(t.ids.begin(), t.ids.begin() + static_cast<ptrdiff_t>(t.given), text::kUnknown);
  return out;
}

Generator::Generator(const std::string& model, int threads) : body_(std::make_unique<Body>(threads)) {
  body_->opened = open_ensemble(model, &body_->pool, refuse_to_generate);
  for (const OpenedModel& m : body_->opened) body_->models.push_back(m.model.get());
}
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

bool Generator::says_lines() const { return body_->texts(); }

std::vector<GeneratedText> Generator::generate(const std::vector<std::string>& prompts,
                                               const GenerateOptions& options) const {
  const TranslateOptions checked = as_translation(options);
  check_options(checked);
  SearchOptions search = search_options(checked, body_->tokenizer(), body_->texts() ? -1 : text::kEnd);
  search.prompts = true;
  search.begin = body_->begin();
  if (options.max_length == 0) search.longest = kUsualLength;
  const int samples = options.sample ? options.n_best : 1;
  if (options.sample) search.n_best = 1;
  std::vector<Growing> texts;
  for (size_t p = 0; p < prompts.size(); ++p) {
    const std::vector<int32_t> ids = body_->read(prompts[p]);
    const uint64_t key = mix(options.first_line + p, 0x67656e);
    for (int n = 0; n < samples; ++n) texts.push_back({p, n, mix(key, static_cast<uint64_t>(n)), ids, ids.size()});
  }
  const auto cost = [&](size_t i) {
    const int64_t length = std::min(body_->window(), std::ssize(texts[i].ids) + search.longest + 1);
    return (options.sample ? 1 : options.beam) * length;
  };
  std::mutex telling;
  for_line_groups(body_->pool, texts.size(), options.batch_tokens, cost,
                  [&](size_t from, size_t end, ThreadPool* inner) {
                    body_->say(std::span(texts).subspan(from, end - from), search, options, telling, inner);
                  });

  std::vector<GeneratedText> results(prompts.size());
  for (const Growing& t : texts) {
    GeneratedText told = body_->told(t, options);
    if (t.number > 0)
      results[t.prompt].others.push_back(std::move(told));
    else
      results[t.prompt] = std::move(told);
    for (const Growing& o : t.others) results[t.prompt].others.push_back(body_->told(o, options));
  }
  return results;
}

GeneratedText Generator::generate(const std::string& prompt, const GenerateOptions& options) const {
  return std::move(generate(std::vector<std::string>{prompt}, options).front());
}

}  // namespace attune
