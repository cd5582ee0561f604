// Searches of a packed batch, whose sentences enter together.
#include <numeric>

#include "base/error.h"
#include "decode/search.h"

namespace attune {

namespace {

class WholeBatch : public SearchQueue {
 public:
  explicit WholeBatch(const SearchInput& input) : input_(input), best_(static_cast<size_t>(count())) {
    check(input.prefixes.empty() || input.prefixes.size() == best_.size(), "search", "{} prefixes of {} sentences",
          input.prefixes.size(), best_.size());
    check(input.keys.empty() || input.keys.size() == best_.size(), "search", "{} keys of {} sentences",
          input.keys.size(), best_.size());
    check(input.begins.empty() || input.begins.size() == best_.size(), "search", "{} begins of {} sentences",
          input.begins.size(), best_.size());
    check(input.longest.empty() || input.longest.size() == best_.size(), "search", "{} lengths of {} sentences",
          input.longest.size(), best_.size());
  }
  std::vector<std::vector<Hypothesis>> best() && { return std::move(best_); }

  std::vector<int64_t> take(int64_t, int64_t) override {
    std::vector<int64_t> all(taken_ ? 0 : best_.size());
    std::iota(all.begin(), all.end(), 0);
    taken_ = true;
    return all;
  }
  SearchSentence sentence(int64_t id) const override {
    const Segments& sources = input_.sources.segments;
    const auto at = static_cast<size_t>(id);
    SearchSentence s;
    if (sources.length(id) > 0)
      s.source = {input_.sources.ids.data() + sources.begin(id), static_cast<size_t>(sources.length(id))};
    if (!input_.prefixes.empty()) s.prefix = input_.prefixes[at];
    s.key = input_.keys.empty() ? at : input_.keys[at];
    if (!input_.begins.empty()) s.begin = input_.begins[at];
    if (!input_.longest.empty()) s.longest = input_.longest[at];
    return s;
  }
  void found(int64_t id, std::vector<Hypothesis> best) override { best_[static_cast<size_t>(id)] = std::move(best); }

 private:
  int64_t count() const { return input_.sources.segments.count(); }

  const SearchInput& input_;
  std::vector<std::vector<Hypothesis>> best_;
  bool taken_ = false;
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(std::span<const Model* const> models, const SearchInput& input,
                                            const SearchOptions& options, ThreadPool* pool, Arena& arena) {
  WholeBatch all(input);
  search(models, all, options, INT64_MAX, pool, arena);
  return std::move(all).best();
}

std::vector<std::vector<Hypothesis>> search(const Model& model, const SearchInput& input, const SearchOptions& options,
                                            ThreadPool* pool, Arena& arena) {
  const Model* one = &model;
  return search({&one, 1}, input, options, pool, arena);
}

}  // namespace attune
