#include "decode/search.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "decode/beam.h"
#include "decode/ensemble.h"
#include "decode/listed_words.h"
#include "decode/samples.h"
#include "decode/shortlist.h"
#include "kernels/vocabulary/candidates.h"

namespace attune {

namespace {

/// Rows whose logits exist at the same time. Those of few are still near when they are looked at; but then the weights
/// are read more often, and only int8 ones are quick to read.
constexpr int64_t kRowsAtOnce = 256, kRowsAtOnceInt8 = 48;

/// The share of what is under way that enters together. Memory comes back when all of it is done: less keeps less of
/// what is no longer needed, but the encoder wants some rows.
constexpr int64_t kCohorts = 4, kLeastCohort = 128;
/// What is kept, of sentences that are done too, is up to so many times what may be under way.
constexpr int64_t kHeld = 2;

/// One model of an ensemble.
struct Member {
  const Model& model;
  Pass pass;
};

/// Sentences that entered together: they have said equally much.
struct Cohort {
  std::vector<int64_t> names;  // of the sentences, in the queue
  Rows sources;
  std::vector<std::unique_ptr<Hypotheses>> sentences;
  std::vector<std::unique_ptr<ListedWords>> words;    // of each sentence, where there is a shortlist
  std::vector<int32_t> active;                        // sentences that are not done, in order
  std::vector<std::unique_ptr<DecoderState>> states;  // what each model remembers

  Hypotheses& sentence(int32_t s) const { return *sentences[static_cast<size_t>(s)]; }
};

class Search {
 public:
  Search(std::span<const Model* const> models, SearchQueue& queue, const SearchOptions& options, int64_t tokens,
         Ctx& ctx)
      : options_(options), ctx_(ctx), queue_(queue), most_(std::min(tokens, INT64_MAX / kHeld)), models_(models) {
    for (const Model* m : models) {
      members_.push_back({*m, {ctx, m->parameters()}});
      const bool after = m->options().shape == ModelShape::prefix;
      int64_t& longest = after ? longest_after_source_ : longest_;
      longest = std::min(longest, m->longest_target());
      after_source_ |= after;
    }
    for (const auto& p : options.processors) {
      looks_back_ |= p->looks_back();
      weighs_ |= p->weighs();
    }
    if (options.coverage_penalty == 0) return;
    tap_.place = fmt::format("decoder.{}.cross", models[0]->decoder()->alignment_layer());
  }

  void run() {
    for (enter(); !cohorts_.empty(); enter()) step();
  }

 private:
  /// Lets waiting sentences in while there is room.
  void enter() {
    for (;;) {
      // Where nothing is under way all that fits enters at once.
      const int64_t together = held_ == 0 ? most_ : std::max(most_ / kCohorts, std::min(most_, kLeastCohort));
      const int64_t room = std::min(most_ - active_, kHeld * most_ - held_);
      if (held_ > 0 && room < together) return;
      std::vector<int64_t> names = queue_.take(together, held_ == 0 ? INT64_MAX : room);
      if (names.empty()) return;
      if (after_source_)
        for (const int64_t name : names) begin({name});  // each is as far as its own source is long
      else
        begin(std::move(names));
    }
  }

  void begin(std::vector<int64_t> names) {
    auto c = std::make_unique<Cohort>();
    c->names = std::move(names);
    int64_t longest = 0;
    for (const int64_t name : c->names) {
      const SearchSentence s = queue_.sentence(name);
      c->sources.ids.append(s.source);
      c->sources.segments.add(std::ssize(s.source));
      check_prefix(s.prefix);
      const auto by_source = static_cast<int64_t>(options_.expansion * static_cast<double>(s.source.size())) + 10;
      const int64_t free = s.longest ? s.longest : options_.longest ? options_.longest : by_source;
      const int64_t own = free + std::ssize(s.prefix);
      const int64_t room = std::min(longest_, longest_after_source_ - std::ssize(s.source));
      longest = std::max(longest, own);
      c->sentences.push_back(hypotheses(std::min(own, room), s));
      c->active.push_back(static_cast<int32_t>(c->active.size()));
      if (options_.shortlist)
        c->words.push_back(std::make_unique<ListedWords>(ctx_, models_, listed_words(options_, s)));
    }
    parallel_for(ctx_.pool, std::ssize(c->words), [&](int64_t i, int) { c->words[static_cast<size_t>(i)]->gather(); });
    for (Member& m : members_) c->states.push_back(m.model.start(m.pass, c->sources, longest));
    held_ += c->sources.rows();
    active_ += c->sources.rows();
    cohorts_.push_back(std::move(c));
  }

  void check_prefix(std::span<const int32_t> prefix) const {
    const int64_t vocabulary = members_[0].model.sizes().target_vocabulary;
    for (const int32_t id : prefix)
      check(id >= 0 && id < vocabulary, "search", "token {} can't be said first: there are {}", id, vocabulary);
  }

  std::unique_ptr<Hypotheses> hypotheses(int64_t longest, const SearchSentence& s) const {
    std::unique_ptr<Hypotheses> h;
    if (options_.sample)
      h = std::make_unique<Samples>(options_, longest, s.prefix, s.key);
    else
      h = std::make_unique<Beam>(options_, longest, s.prefix);
    if (s.begin >= 0) h->begin_with(s.begin);
    return h;
  }

  void step() {
    rows_.clear();
    last_.clear();
    wanted_ = 1;
    for (const auto& c : cohorts_)
      for (const int32_t s : c->active) {
        const Hypotheses& h = c->sentence(s);
        for (int64_t i = 0; i < h.living(); ++i) {
          rows_.push_back({&h, i});
          last_.push_back(h.last(i));
        }
        wanted_ = std::max(wanted_, h.wanted());
      }
    limit();
    find_ways();
    int64_t row = 0;
    for (const auto& c : cohorts_) row = advance(*c, row);
    std::erase_if(cohorts_, [&](const std::unique_ptr<Cohort>& c) {
      if (!c->active.empty()) return false;
      held_ -= c->sources.rows();
      return true;
    });
  }

  /// The rows of a cohort, of which `first` is the first, grow by the ways that were found. Returns the row after them.
  int64_t advance(Cohort& c, int64_t first) {
    // Rows of the next step, sentence by sentence. Sentences that are done have none.
    parents_.clear();
    int64_t row = first;
    size_t kept = 0;
    for (const int32_t s : c.active) {
      Hypotheses& h = c.sentence(s);
      const int64_t own = row;
      row += h.living();
      gather(h, own);
      h.advance(ways_);
      if (options_.on_token) tell(c.names[static_cast<size_t>(s)], h);
      if (h.done()) {
        queue_.found(c.names[static_cast<size_t>(s)], h.result());
        active_ -= c.sources.segments.length(s);
        c.sentences[static_cast<size_t>(s)].reset();
        if (!c.words.empty()) c.words[static_cast<size_t>(s)].reset();
        continue;
      }
      for (int64_t i = 0; i < h.living(); ++i) parents_.push_back(static_cast<int32_t>(own - first) + h.parent(i));
      c.active[kept++] = s;
    }
    c.active.resize(kept);
    if (kept > 0)
      for (const auto& s : c.states) s->reorder(parents_);
    return row;
  }

  void tell(int64_t name, Hypotheses& h) {
    bool more = true;
    h.settle([&](int64_t number, int32_t token) { more &= options_.on_token(name, number, token); });
    if (!more) h.stop();
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
      if (looks_back_) h->said(i, said_);
      for (const auto& p : options_.processors) p->ban(h->length(), said_, banned_);
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
    for (size_t m = 0; m < members_.size(); ++m) {
      std::vector<DecoderState*> states;
      for (const auto& c : cohorts_) states.push_back(c->states[m].get());
      Pass& pass = members_[m].pass;
      pass.tap = m == 0 && !tap_.place.empty() ? &tap_ : nullptr;
      hidden.push_back(members_[m].model.step(pass, states, last_));
    }
    if (!tap_.place.empty()) cover();
    const int64_t rows = std::ssize(last_), k = wanted_;
    ids_.resize(static_cast<size_t>(rows * k));
    log_probs_.resize(ids_.size());
    if (options_.shortlist) return find_listed(hidden);
    const int64_t at_once = members_[0].model.parameters().holds_int8() ? kRowsAtOnceInt8 : kRowsAtOnce;
    for (int64_t from = 0; from < rows; from += at_once) {
      const int64_t count = std::min(at_once, rows - from);
      const Var all = logits(hidden, from, count);
      const Tensor x = all.value();
      if (weighs_) weigh(x, from);
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

  /// The same where each sentence has words of its own: never by those of a batch mate.
  void find_listed(const std::vector<Var>& hidden) {
    parts_.clear();
    int64_t row = 0, floats = 0;
    for (const auto& c : cohorts_)
      for (const int32_t s : c->active) {
        const Hypotheses& h = c->sentence(s);
        const ListedWords& words = *c->words[static_cast<size_t>(s)];
        parts_.push_back({h, words, row, floats});
        row += h.living();
        floats += words.floats(h.living());
      }
    const Scratch room(ctx_.arena, floats * int64_t{sizeof(float)});
    parallel_for(ctx_.pool, std::ssize(parts_), [&](int64_t i, int) {
      const Part& p = parts_[static_cast<size_t>(i)];
      const int64_t from = p.row, count = p.sentence.living(), k = wanted_;
      std::vector<Tensor> rows;
      for (const Var& h : hidden) rows.push_back(h.value().row_range(from, count));
      ListedRows r{p.sentence, rows, limits(from, count)};
      if (options_.sample) r.chances = {chances_.data() + from * k, static_cast<size_t>(count * k)};
      r.ids = Tensor(ids_.data() + from * k, Shape{count, k});
      r.log_probs = Tensor(log_probs_.data() + from * k, Shape{count, k});
      r.room = room.as<float>() + p.floats;
      p.words.choose(r, options_);
    });
  }

  /// Tells the hypotheses what they attended to.
  void cover() {
    if (tap_.weights.empty())
      fail(ErrorKind::usage,
           "the attention from decoder to encoder of this model has no weights that a coverage penalty could go by\n"
           "  fix: leave the coverage penalty out");
    const float* from = tap_.weights.data();
    for (const auto& c : cohorts_)
      for (const int32_t s : c->active) {
        const auto cells = static_cast<size_t>(c->sentence(s).living() * c->sources.segments.length(s));
        mean_.assign(cells, 0);
        for (int64_t h = 0; h < tap_.heads; ++h)
          for (size_t i = 0; i < cells; ++i) mean_[i] += *from++ / static_cast<float>(tap_.heads);
        c->sentence(s).attended(mean_);
      }
  }

  /// [count, V]; of several models mixed.
  Var logits(const std::vector<Var>& hidden, int64_t from, int64_t count) {
    const auto of = [&](size_t m) {
      return members_[m].model.logits(members_[m].pass, ctx_.input(hidden[m].value().row_range(from, count)));
    };
    Var mean = of(0);
    if (members_.size() == 1) return mean;
    Var other;
    const auto next = [&](size_t m) { return (other = of(m)).value(); };
    mix_models(mean.value(), members_.size(), next, ctx_.pool);
    return mean;
  }

  void weigh(const Tensor& x, int64_t from) {
    for (int64_t row = 0; row < x.rows(); ++row) {
      const auto& [h, i] = rows_[static_cast<size_t>(from + row)];
      h->said(i, said_);
      weigh_by(options_.processors, said_, x.row<float>(row));
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
  bool looks_back_ = false, weighs_ = false;  // any of the processors
  Ctx& ctx_;
  SearchQueue& queue_;
  int64_t most_, active_ = 0;  // source tokens that may be, and are, under way
  bool after_source_ = false;  // a decoder reads sources before what it says
  int64_t held_ = 0;           // source tokens of the cohorts, those of sentences that are done among them
  std::span<const Model* const> models_;
  int64_t longest_ = INT64_MAX;               // tokens that all models can say ...
  int64_t longest_after_source_ = INT64_MAX;  // ... and, of decoders that read sources, together with these
  std::vector<Member> members_;
  std::vector<std::unique_ptr<Cohort>> cohorts_;
  struct Row {
    const Hypotheses* sentence;
    int64_t i;  // of its living
  };
  std::vector<Row> rows_;  // of this step
  struct Part {
    const Hypotheses& sentence;
    const ListedWords& words;
    int64_t row, floats;  // where its rows, and its room, begin
  };
  std::vector<Part> parts_;  // its sentences, where they have words of their own
  int64_t wanted_ = 1;       // ways to go on that are looked at, of each row
  std::vector<int32_t> last_, said_, parents_, ids_, forced_, banned_, banned_start_;
  std::vector<float> log_probs_;
  std::vector<double> chances_;
  std::vector<Continuation> ways_;
  AttentionTap tap_;  // for the coverage penalty, if there is one
  std::vector<float> mean_;
};

void check_search(std::span<const Model* const> models, const SearchOptions& o) {
  check(!models.empty(), "search", "no model");
  const int64_t vocabulary = models[0]->sizes().target_vocabulary;
  for (const Model* m : models)
    check(m->sizes().target_vocabulary == vocabulary, "search", "models of {} and of {} target tokens", vocabulary,
          m->sizes().target_vocabulary);
  check(o.beam >= 1, "search", "a beam of {}", o.beam);
  check(o.n_best >= 1 && (o.sample || o.n_best <= o.beam), "search", "the {} best of a beam of {}", o.n_best, o.beam);
  check(o.sampling.temperature > 0 && o.sampling.top_p > 0 && o.sampling.top_k >= 0, "search",
        "draws at temperature {}, top_k {}, top_p {}", o.sampling.temperature, o.sampling.top_k, o.sampling.top_p);
  for (const int32_t id : o.hidden)
    check(id >= 0 && id < vocabulary, "search", "token {} can't be hidden: there are {}", id, vocabulary);
  check(!o.shortlist || o.shortlist->target_words() == vocabulary, "search",
        "a shortlist of {} words, the model has {}", o.shortlist ? o.shortlist->target_words() : 0, vocabulary);
  check(!o.shortlist || models[0]->options().shape == ModelShape::encoder_decoder, "search",
        "a shortlist of a model that reads nothing");
}

}  // namespace

void search(std::span<const Model* const> models, SearchQueue& queue, const SearchOptions& options, int64_t tokens,
            ThreadPool* pool, Arena& arena) {
  check_search(models, options);
  Ctx ctx(arena);
  ctx.pool = pool;
  Search(models, queue, options, tokens, ctx).run();
}

}  // namespace attune
