#include "data/training_data.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

constexpr size_t kMostHeldOut = 1000;
constexpr size_t kShareHeldOut = 50;  // one in so many
constexpr int64_t kMostTokensHeldOut = 100'000;

/// Watches the pairs of a corpus go by and keeps the text of those that may be held out: the ones of the least hashes.
/// One pass and little memory, since at most kMostHeldOut can be needed.
class HoldOut {
 public:
  explicit HoldOut(uint64_t seed) : seed_(mix(seed, 0x686f6c64)) {}

  void see(std::string_view source, std::string_view target) {
    joined_.assign(source).append("\n").append(target);
    const uint64_t h = hash64(joined_, seed_);
    hashes_.push_back(h);
    if (candidates_.size() == kMostHeldOut && h >= candidates_.rbegin()->first) return;
    candidates_.try_emplace(h, source, target);
    if (candidates_.size() > kMostHeldOut) candidates_.erase(std::prev(candidates_.end()));
  }

  /// Moves what is held out from data.train to data.valid.
  void take(TrainingData& data) {
    std::vector<uint64_t> different = hashes_;
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    const size_t n = different.size();
    const size_t count = std::min({std::max<size_t>(1, n / kShareHeldOut), kMostHeldOut, n - 1});
    if (count == 0) return;
    const uint64_t last = different[count - 1];

    const bool two = !data.train.one_sided();
    std::unordered_set<uint64_t> taken;
    std::vector<bool> marked(hashes_.size());
    for (size_t i = 0; i < hashes_.size(); ++i) {
      const uint64_t h = hashes_[i];
      marked[i] = h <= last;
      if (!marked[i] || !taken.insert(h).second) continue;
      if (two) data.valid.source.add(data.train.source[static_cast<int64_t>(i)]);
      data.valid.target.add(data.train.target[static_cast<int64_t>(i)]);
      data.valid_source.push_back(candidates_.at(h).first);
      data.valid_target.push_back(candidates_.at(h).second);
    }
    if (!data.train.alignment.empty()) {
      std::vector<bool> tokens;
      for (size_t i = 0; i < marked.size(); ++i)
        tokens.insert(tokens.end(), static_cast<size_t>(data.train.target.length(static_cast<int64_t>(i))), marked[i]);
      data.train.alignment.erase(tokens);
    }
    if (two) data.train.source.erase(marked);
    data.train.target.erase(marked);
    data.held_out = true;
  }

 private:
  uint64_t seed_;
  std::string joined_;
  std::vector<uint64_t> hashes_;
  std::map<uint64_t, std::pair<std::string, std::string>> candidates_;
};

/// Moves the end of texts, which must stay in one piece, from data.train to data.valid.
void hold_out_end(TrainingData& data) {
  Sentences& all = data.train.target;
  const int64_t n = all.tokens(), count = std::min(n / static_cast<int64_t>(kShareHeldOut), kMostTokensHeldOut);
  if (count == 0) return;
  int64_t at = n - count;
  for (int64_t i = at; i < n - count / 2; ++i)
    if (all.ids[static_cast<size_t>(i - 1)] == text::kEnd) {
      at = i;
      break;
    }
  data.valid.target = all.split_off(at);
  data.valid.window = std::min(data.train.window, data.valid.target.tokens());
  data.held_out = true;
}

}  // namespace

TrainingData read_training_data(const DataSettings& options, const Encoders& encoders, uint64_t seed,
                                ThreadPool* pool) {
  TrainingData data;
  HoldOut hold_out(seed);
  const bool hold = options.valid.empty();
  const auto watch = [&](std::string_view source, std::string_view target) { hold_out.see(source, target); };
  LoadedCorpus train =
      read_corpus(options.train, "data.train", options, encoders, pool, hold ? OnPair(watch) : OnPair());
  data.train = std::move(train.corpus);
  data.train_report = std::move(train.report);
  data.content_hash = train.content_hash;
  if (hold) data.train.window > 0 ? hold_out_end(data) : hold_out.take(data);
  if (data.train.window > 0 && data.train.target.tokens() < options.max_length)
    fail(ErrorKind::data,
         "data.train has {} tokens to train on, fewer than one window of data.max_length = {}\n"
         "  fix: lower data.max_length, or add text",
         thousands(data.train.target.tokens()), thousands(options.max_length));
  if (hold) return data;
  const auto remember = [&](std::string_view source, std::string_view target) {
    data.valid_source.emplace_back(source);
    data.valid_target.emplace_back(target);
  };
  LoadedCorpus valid = read_corpus(options.valid, "data.valid", options, encoders, pool, remember);
  data.valid = std::move(valid.corpus);
  data.valid_report = std::move(valid.report);
  data.content_hash += "-" + valid.content_hash;
  return data;
}

}  // namespace attune
