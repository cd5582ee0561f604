#include "model/attention/head_groups.h"

#include <charconv>
#include <numeric>

#include "autograd/operations/arrange.h"
#include "base/error.h"
#include "base/text.h"

namespace attune {

std::vector<Choice> HeadGroupsAttention::Options::choices() const {
  std::vector<Choice> all;
  for (const std::string& part : split_outside_parentheses(of, ',')) {
    Choice& c = all.emplace_back();
    if (!Choice::parse(part, c) || c.kind.empty())
      fail(ErrorKind::recipe, "of = \"{}\" names no mechanisms\n  fix: for example of = [\"softmax\", \"linear\"]", of);
  }
  return all;
}

std::vector<int64_t> HeadGroupsAttention::Options::shares(int64_t all) const {
  const auto groups = std::ssize(choices());
  if (heads.empty()) {
    if (all % groups != 0)
      fail(ErrorKind::recipe, "{} heads are not as many for each of {} mechanisms\n  fix: say heads = [...]", all,
           groups);
    return std::vector<int64_t>(static_cast<size_t>(groups), all / groups);
  }
  std::vector<int64_t> shares;
  for (const std::string& part : split(heads, ',')) {
    const std::string_view number = trim(part);
    int64_t n = 0;
    const auto r = std::from_chars(number.data(), number.data() + number.size(), n);
    if (r.ec != std::errc{} || r.ptr != number.data() + number.size() || n < 1)
      fail(ErrorKind::recipe, "heads = \"{}\" are no numbers of heads\n  fix: for example heads = [2, 6]", heads);
    shares.push_back(n);
  }
  if (std::ssize(shares) != groups || std::accumulate(shares.begin(), shares.end(), int64_t{0}) != all)
    fail(ErrorKind::recipe, "heads = [{}] share {} heads out to {} mechanisms\n  fix: one number for each, {} together",
         heads, all, groups, all);
  return shares;
}

void HeadGroupsAttention::Options::check(const std::string&) const { choices(); }

HeadGroupsAttention::HeadGroupsAttention(const Options& o, const AttentionSetup& setup, const Blueprint& place)
    : setup_(setup) {
  const std::vector<Choice> choices = o.choices();
  const std::vector<int64_t> shares = o.shares(setup.heads);
  const int64_t group = setup.heads / setup.heads_kv;
  int64_t head = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (shares[i] % group != 0)
      fail(ErrorKind::recipe,
           "{} heads of \"{}\" can't share keys by {}\n  fix: a multiple of {}, or leave out heads_kv", shares[i],
           choices[i].kind, group, group);
    AttentionSetup own = setup;
    own.heads = shares[i];
    own.heads_kv = shares[i] / group;
    own.site = place.site();
    auto mechanism = make_attention(choices[i], own, place.at(std::to_string(i)), "of");
    const LayerParts parts = mechanism->parts();
    if (!parts.projections || !parts.key || !parts.feed_forward || mechanism->memory() > 0 || mechanism->own_rows())
      fail(ErrorKind::recipe, "\"{}\" is a whole layer, not some of its heads\n  fix: another mechanism in `of`",
           choices[i].kind);
    groups_.push_back({head, head / group, std::move(mechanism)});
    head += shares[i];
  }
}

LayerParts HeadGroupsAttention::parts() const {
  LayerParts parts;
  for (const Group& g : groups_) parts.plain = parts.plain || g.mechanism->parts().plain;
  return parts;
}

Projected HeadGroupsAttention::of_group(const Projected& p, const Group& g) const {
  Projected some = p;
  some.q_column += g.head * setup_.dim;
  some.k_column += g.head_kv * setup_.dim;
  some.v_column += g.head_kv * setup_.dim;
  some.plain_q.column += g.head * setup_.dim;
  some.plain_k.column += g.head_kv * setup_.dim;
  return some;
}

Var HeadGroupsAttention::mix(const Pass& pass, const Projected& p) const {
  std::vector<Var> parts;
  for (const Group& g : groups_) parts.push_back(g.mechanism->mix(pass, of_group(p, g)));
  return concatenate_columns(pass.ctx, parts);
}

/// One for each group; none where a group has none.
struct HeadGroupsAttention::State : AttentionState {
  std::vector<std::unique_ptr<AttentionState>> groups;
  void reorder(std::span<const int32_t> parents) override {
    for (const auto& s : groups)
      if (s) s->reorder(parents);
  }
  int64_t bytes() const override {
    int64_t sum = 0;
    for (const auto& s : groups) sum += s ? s->bytes() : 0;
    return sum;
  }
  void use(Arena& arena) override {
    for (const auto& s : groups)
      if (s) s->use(arena);
  }
};

std::unique_ptr<AttentionState> HeadGroupsAttention::state(int64_t rows) const {
  auto all = std::make_unique<State>();
  for (const Group& g : groups_) all->groups.push_back(g.mechanism->state(rows));
  return all;
}

Var HeadGroupsAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& all = static_cast<State&>(state);
  std::vector<Var> parts;
  for (size_t i = 0; i < groups_.size(); ++i)
    parts.push_back(groups_[i].mechanism->step(pass, of_group(p, groups_[i]), *all.groups[i]));
  return concatenate_columns(pass.ctx, parts);
}

std::unique_ptr<AttentionState> HeadGroupsAttention::read_state(int64_t rows) const {
  auto all = std::make_unique<State>();
  bool any = false;
  for (const Group& g : groups_) any = (all->groups.emplace_back(g.mechanism->read_state(rows)) != nullptr) || any;
  return any ? std::move(all) : nullptr;
}

Var HeadGroupsAttention::read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
                              AttentionState* last) const {
  const auto* all = static_cast<State*>(last);
  std::vector<Var> parts;
  for (size_t i = 0; i < groups_.size(); ++i)
    parts.push_back(
        groups_[i].mechanism->read(pass, of_group(p, groups_[i]), memory_of, all ? all->groups[i].get() : nullptr));
  return concatenate_columns(pass.ctx, parts);
}

bool HeadGroupsAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  for (const Group& g : groups_)
    if (!g.mechanism->weights(pass, of_group(p, g), out + g.head * p.queries->rows() * p.keys->rows())) return false;
  return true;
}

double HeadGroupsAttention::operations(const Parameters& parameters, const Segments& queries,
                                       const Segments& keys) const {
  double sum = 0;
  for (const Group& g : groups_) sum += g.mechanism->operations(parameters, queries, keys);
  return sum;
}

void HeadGroupsAttention::after_update(Parameters& parameters, const Gradients& gathered) const {
  for (const Group& g : groups_) g.mechanism->after_update(parameters, gathered);
}

}  // namespace attune
