#include "decode/search.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "decode/beam.h"
#include "decode/rules.h"
#include "decode/samples.h"
#include "kernels/candidates.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace attune {

namespace {

constexpr int64_t kRowsAtOnce = 256;  // rows whose logits exist at the same time

/// One model of an ensemble, and what it remembers of the sentences.
struct Member {
  const Transformer& model;
  Pass pass;
  DecoderState state;
};

class Search {
 public:
  Search(std::span<const Transformer* const> models, const SearchInput& input, const SearchOptions& options, Ctx& ctx)
      : options_(options), rules_(options), ctx_(ctx), sources_(*input.sources.segments) {
    int64_t most = INT64_MAX, longest = 0;
    for (const Transformer* m : models) most = std::min(most, m->longest_target());
    const Segments& sources = sources_;
    std::vector<int32_t> source_of;
    for (int64_t s = 0; s < sources.count(); ++s) {
      const auto at = static_cast<size_t>(s);
      const std::span<const int32_t> prefix = input.prefixes.empty() ? std::span<const int32_t>() : input.prefixes[at];
      const int64_t free = !input.longest.empty() ? input.longest[at]
                           : options.longest      ? options.longest
                                                  : 2 * sources.length(s) + 10;
      const int64_t own = free + std::ssize(prefix);
      add_sentence(std::min(own, most), prefix, input.keys.empty() ? at : input.keys[at]);
      if (!input.begins.empty()) sentences_.back()->begin_with(input.begins[at]);
      source_of.push_back(static_cast<int32_t>(s));
      longest = std::max(longest, own);
    }
    active_ = source_of;
    for (const Transformer* m : models) {
      Member member{*m, {ctx, m->parameters()}, {}};
      const bool reads = m->options().shape == ModelShape::encoder_decoder;
      const Var encoded = reads ? m->encode(member.pass, input.sources) : Var();
      member.state = m->start(member.pass, encoded, sources, source_of, longest);
      members_.push_back(std::move(member));
    }
    if (options.coverage_penalty == 0) return;
    tap_.place = fmt::format("decoder.{}.cross", models[0]->alignment_layer());
    members_[0].pass.tap = &tap_;
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (!active_.empty()) step();
    std::vector<std::vector<Hypothesis>> all;
    for (const auto& s : sentences_) all.push_back(s->result());
    return all;
  }

 private:
  void add_sentence(int64_t longest, std::span<const int32_t> prefix, uint64_t key) {
    if (options_.sample)
      sentences_.push_back(std::make_unique<Samples>(options_, longest, prefix, key));
    else
      sentences_.push_back(std::make_unique<Beam>(options_, longest, prefix));
  }
  Hypotheses& sentence(int32_t s) { return *sentences_[static_cast<size_t>(s)]; }

  void step() {
    rows_.clear();
    last_.clear();
    wanted_ = 1;
    for (const int32_t s : active_) {
      const Hypotheses& h = sentence(s);
      for (int64_t i = 0; i < h.living(); ++i) {
        rows_.push_back({&h, i});
        last_.push_back(h.last(i));
      }
      wanted_ = std::max(wanted_, h.wanted());
    }
    limit();
    find_ways();

    // Rows of the next step, sentence by sentence. Sentences that are done have none.
    parents_.clear();
    int64_t row = 0;
    size_t kept = 0;
    for (const int32_t s : active_) {
      Hypotheses& h = sentence(s);
      const int64_t first = row, rows = h.living();
      row += rows;
      gather(h, first);
      h.advance(ways_);
      if (options_.on_token) tell(s);
      if (h.done()) continue;
      for (int64_t i = 0; i < h.living(); ++i) parents_.push_back(static_cast<int32_t>(first) + h.parent(i));
      active_[kept++] = s;
    }
    active_.resize(kept);
    for (Member& m : members_) m.state.reorder(parents_);
  }

  void tell(int32_t s) {
    bool more = true;
    sentence(s).settle([&](int64_t number, int32_t token) { more &= options_.on_token(s, number, token); });
    if (!more) sentence(s).stop();
  }

  /// What each row may not say, or must.
  void limit() {
    forced_.clear();
    banned_.clear();
    banned_start_.assign(1, 0);
    chances_.clear();
    bool any = false;
    for (const auto& [h, i] : rows_) {
      forced_.push_back(h->forced());
      any |= h->forced() >= 0;
      if (options_.no_repeat > 0) h->said(i, said_);
      rules_.ban(h->length(), said_, banned_);
      banned_start_.push_back(static_cast<int32_t>(banned_.size()));
      if (options_.sample)
        for (int64_t w = 0; w < wanted_; ++w) chances_.push_back(h->chance(i, w));
    }
    if (!any) forced_.clear();
    if (banned_.empty()) banned_start_.clear();
  }

  /// The best ways to go on of every row, or those that chance chose.
  void find_ways() {
    std::vector<Var> hidden;
    for (Member& m : members_) hidden.push_back(m.model.step(m.pass, m.state, last_));
    if (!tap_.place.empty()) cover();
    const int64_t rows = std::ssize(last_), k = wanted_;
    ids_.resize(static_cast<size_t>(rows * k));
    log_probs_.resize(ids_.size());
    for (int64_t from = 0; from < rows; from += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, rows - from);
      const Var all = logits(hidden, from, count);
      const Tensor x = all.value();
      if (options_.repetition_penalty != 1) weigh(x, from);
      const kernels::Unsaid unsaid = limits(from, count);
      const Tensor ids(ids_.data() + from * k, Shape{count, k}), probs(log_probs_.data() + from * k, Shape{count, k});
      if (!options_.sample) {
        kernels::candidates({x, unsaid, ids, probs}, ctx_.pool);
        continue;
      }
      const SamplingOptions& s = options_.sampling;
      const std::span<const double> chances(chances_.data() + from * k, static_cast<size_t>(count * k));
      kernels::draws({x, unsaid, s.temperature, s.top_k, s.top_p, chances, ids, probs}, ctx_.pool);
    }
  }

  /// Tells the hypotheses what they attended to.
  void cover() {
    if (tap_.weights.empty())
      fail(ErrorKind::usage,
           "the attention from decoder to encoder of this model has no weights that a coverage penalty could go by\n"
           "  fix: leave the coverage penalty out");
    const float* from = tap_.weights.data();
    for (const int32_t s : active_) {
      const auto cells = static_cast<size_t>(sentence(s).living() * sources_.length(s));
      mean_.assign(cells, 0);
      for (int64_t h = 0; h < tap_.heads; ++h)
        for (size_t c = 0; c < cells; ++c) mean_[c] += *from++ / static_cast<float>(tap_.heads);
      sentence(s).attended(mean_);
    }
  }

  /// [count, V]. Of several models the logarithm of the sum of what they think probable: a constant is no matter.
  Var logits(const std::vector<Var>& hidden, int64_t from, int64_t count) {
    const auto of = [&](size_t m) {
      return members_[m].model.logits(members_[m].pass, ctx_.input(hidden[m].value().row_range(from, count)));
    };
    Var mean = of(0);
    if (members_.size() == 1) return mean;
    const Tensor sum = mean.value();
    kernels::softmax(sum, false, sum, ctx_.pool);
    for (size_t m = 1; m < members_.size(); ++m) {
      const Var other = of(m);
      kernels::softmax(other.value(), false, other.value(), ctx_.pool);
      kernels::pairwise(kernels::Pairwise::add, kernels::Spread::none, sum, other.value(), sum, ctx_.pool);
    }
    kernels::unary(kernels::Unary::log, 0, sum, sum, ctx_.pool);
    return mean;
  }

  void weigh(const Tensor& x, int64_t from) {
    for (int64_t row = 0; row < x.rows(); ++row) {
      const auto& [h, i] = rows_[static_cast<size_t>(from + row)];
      h->said(i, said_);
      rules_.weigh(said_, x.row<float>(row));
    }
  }

  kernels::Unsaid limits(int64_t from, int64_t count) const {
    kernels::Unsaid u{.hidden = options_.hidden};
    const auto at = static_cast<size_t>(from), n = static_cast<size_t>(count);
    if (!banned_start_.empty()) {
      u.start = std::span(banned_start_).subspan(at, n + 1);
      u.banned = banned_;
    }
    if (!forced_.empty()) u.forced = std::span(forced_).subspan(at, n);
    return u;
  }

  /// How the hypotheses of a sentence, whose first row is `first`, can go on.
  void gather(const Hypotheses& h, int64_t first) {
    ways_.clear();
    const bool given = options_.prompts && h.forced() >= 0;
    for (int64_t i = 0; i < h.living(); ++i)
      for (int64_t j = (first + i) * wanted_; j < (first + i) * wanted_ + h.wanted(); ++j)
        if (const int32_t token = ids_[static_cast<size_t>(j)]; token >= 0)
          ways_.push_back({h.log_prob(i) + (given ? 0 : static_cast<double>(log_probs_[static_cast<size_t>(j)])),
                           static_cast<int32_t>(i), token});
  }

  const SearchOptions& options_;
  Rules rules_;
  Ctx& ctx_;
  const Segments& sources_;
  std::vector<Member> members_;
  std::vector<std::unique_ptr<Hypotheses>> sentences_;
  std::vector<int32_t> active_;  // sentences that are not done, in order
  struct Row {
    const Hypotheses* sentence;
    int64_t i;  // of its living
  };
  std::vector<Row> rows_;  // of this step
  int64_t wanted_ = 1;     // ways to go on that are looked at, of each row
  std::vector<int32_t> last_, said_, parents_, ids_, forced_, banned_, banned_start_;
  std::vector<float> log_probs_;
  std::vector<double> chances_;
  std::vector<Continuation> ways_;
  AttentionTap tap_;  // for the coverage penalty, if there is one
  std::vector<float> mean_;
};

void check_search(std::span<const Transformer* const> models, const SearchInput& input, const SearchOptions& o) {
  check(!models.empty(), "search", "no model");
  const int64_t vocabulary = models[0]->sizes().target_vocabulary;
  for (const Transformer* m : models)
    check(m->sizes().target_vocabulary == vocabulary, "search", "models of {} and of {} target tokens", vocabulary,
          m->sizes().target_vocabulary);
  check(o.beam >= 1, "search", "a beam of {}", o.beam);
  check(o.n_best >= 1 && (o.sample || o.n_best <= o.beam), "search", "the {} best of a beam of {}", o.n_best, o.beam);
  check(o.sampling.temperature > 0 && o.sampling.top_p > 0 && o.sampling.top_k >= 0, "search",
        "draws at temperature {}, top_k {}, top_p {}", o.sampling.temperature, o.sampling.top_k, o.sampling.top_p);
  const auto count = static_cast<size_t>(input.sources.segments->count());
  check(input.prefixes.empty() || input.prefixes.size() == count, "search", "{} prefixes of {} sentences",
        input.prefixes.size(), count);
  check(input.begins.empty() || input.begins.size() == count, "search", "{} begins of {} sentences",
        input.begins.size(), count);
  check(input.longest.empty() || input.longest.size() == count, "search", "{} lengths of {} sentences",
        input.longest.size(), count);
  check(input.keys.empty() || input.keys.size() == count, "search", "{} keys of {} sentences", input.keys.size(),
        count);
  const auto known = [&](int32_t id, const char* what) {
    check(id >= 0 && id < vocabulary, "search", "token {} can't be {}: there are {}", id, what, vocabulary);
  };
  for (const int32_t id : o.hidden) known(id, "hidden");
  for (const std::vector<int32_t>& p : input.prefixes)
    for (const int32_t id : p) known(id, "said first");
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(std::span<const Transformer* const> models, const SearchInput& input,
                                            const SearchOptions& options, ThreadPool* pool, Arena& arena) {
  check_search(models, input, options);
  Ctx ctx(arena);
  ctx.pool = pool;
  return Search(models, input, options, ctx).run();
}

std::vector<std::vector<Hypothesis>> search(const Transformer& model, const SearchInput& input,
                                            const SearchOptions& options, ThreadPool* pool, Arena& arena) {
  const Transformer* one = &model;
  return search({&one, 1}, input, options, pool, arena);
}

}  // namespace attune
