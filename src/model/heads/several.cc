#include "model/heads/several.h"

#include <charconv>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

double weight_of(std::string_view text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc{} || end != text.data() + text.size() || !(x >= 0) || !(x <= 1e9))
    fail(ErrorKind::recipe,
         "model.head: \"{}\" in weights is no weight\n  fix: write a number of 0 or more for each head", text);
  return x;
}

}  // namespace

SeveralHead::SeveralHead(const Options& o, const HeadSetup& setup, const Blueprint& b) {
  const std::vector<std::string_view> kinds = words_of(o.heads), weights = words_of(o.weights);
  if (kinds.size() < 2 || !(weights.empty() || weights.size() == kinds.size()))
    fail(ErrorKind::recipe,
         "model.head has {} heads and {} weights\n  fix: two heads or more, and a weight for each or none",
         kinds.size(), weights.size());
  check(setup.groups.size() == kinds.size(), "several", "{} heads, labels of {}", kinds.size(), setup.groups.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != "label" && kinds[i] != "number")
      fail(ErrorKind::recipe,
           "model.head: \"{}\" can't stand beside others\n  fix: heads = \"label number\", of these two", kinds[i]);
    HeadSetup own = setup;
    own.groups.clear();
    own.labels = setup.groups[i];
    Part part{make_head({std::string(kinds[i])}, own, b.at(std::to_string(i)), "model.head")};
    if (!weights.empty()) part.weight = weight_of(weights[i]);
    if (kinds[i] == "label") part.width = own.labels;
    parts_.push_back(std::move(part));
  }
}

Segments SeveralHead::most_answers(const Segments& texts) const {
  return Segments::of_lengths(
      std::vector<int32_t>(static_cast<size_t>(texts.count()), static_cast<int32_t>(parts_.size())));
}

Var SeveralHead::scores(const Pass& pass, const HeadInput& in) const {
  std::vector<Var> all;
  for (const Part& p : parts_) all.push_back(p.head->scores(pass, in));
  return concatenate_columns(pass.ctx, all);
}

Var SeveralHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  Ctx& ctx = pass.ctx;
  const auto texts = in.texts().count(), heads = std::ssize(parts_);
  for (int64_t i = 0; i < texts; ++i)
    check(in.answers().length(i) == heads, "several", "text {} has {} answers for {} heads", i, in.answers().length(i),
          heads);
  // Every heads-th answer, from that of the part on.
  const auto own = [&]<class T>(const Column<T>& all, int64_t part) {
    std::vector<T> some(static_cast<size_t>(texts));
    ctx.run([&] {
      for (int64_t i = 0; i < texts; ++i) some[static_cast<size_t>(i)] = all[static_cast<size_t>(i * heads + part)];
    });
    return some;
  };
  std::vector<std::shared_ptr<const Wanted>> wanted;  // as long as there is no tape that keeps them
  Var sum;
  for (int64_t p = 0; p < heads; ++p) {
    const Part& part = parts_[static_cast<size_t>(p)];
    Wanted one;
    one.right.segments = Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(texts), 1));
    one.right.ids = own(in.wanted->right.ids, p);
    if (!in.wanted->weights.empty()) one.weights = own(in.wanted->weights, p);
    wanted.push_back(keep(ctx, std::move(one)));
    LossOptions of_part = options;
    of_part.log_probs = {};
    of_part.scale *= static_cast<float>(part.weight);
    const Var loss = part.head->loss(pass, {in, wanted.back().get()}, of_part);
    sum = sum ? add(ctx, sum, loss) : loss;
  }
  return sum;
}

std::vector<int32_t> SeveralHead::answers(const Pass& pass, const Tensor& scores, const Tensor&) const {
  std::vector<int32_t> all;
  int64_t from = 0;
  for (const Part& p : parts_) {
    const Tensor own(scores.as<float>() + from, Shape{1, p.width});
    const auto said = p.head->answers(pass, own);
    all.insert(all.end(), said.begin(), said.end());
    from += p.width;
  }
  return all;
}

}  // namespace attune
