#include "checkpoint/weights_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/model_folder.h"

namespace attune {

namespace {

constexpr const char* kAveraged = "averaged";  // of versions that told no more of a mean than of how many it is

/// A file may say anything: what is no number stays as it is.
std::string grouped(const std::string& digits) {
  int64_t n = 0;
  const char* end = digits.data() + digits.size();
  const auto r = std::from_chars(digits.data(), end, n);
  return r.ec == std::errc{} && r.ptr == end && n >= 0 ? thousands(n) : digits;
}

std::string mean_text(const std::string& names) {
  const std::vector<std::string> all = split(names, ' ');
  std::vector<int64_t> steps;
  for (const std::string& name : all) steps.push_back(checkpoint_step(name));
  const auto [first, last] = std::ranges::minmax(steps);
  if (first < 0) return fmt::format("the mean of {} models: {}", all.size(), join(all, ", "));
  return fmt::format("the mean of {} checkpoints, updates {} to {}", all.size(), thousands(first), thousands(last));
}

}  // namespace

std::string weights_text(const Metadata& metadata) {
  const auto value = [&](const char* key) {
    const auto at = metadata.find(key);
    return at == metadata.end() ? std::string() : at->second;
  };
  const std::string kind = value(kWeights), ended = value(kEnded), update = "update " + grouped(value(kUpdate));
  std::string text;
  if (const std::string of = value(kAverageOf); !of.empty())
    text = mean_text(of);
  else if (const std::string count = value(kAveraged); !count.empty())
    text = fmt::format("the mean of {} checkpoints, {}", grouped(count), update);
  else if (kind == "best")
    text = ended.empty() ? "the best so far, " + update : fmt::format("the best, {} of {}", update, grouped(ended));
  else if (kind == "last")
    text = "the last, " + update;
  else if (kind == "trained")
    text = update + ", without its moving average";
  else if (!value(kUpdate).empty())
    text = update;
  if (const std::string score = value(kScore); !score.empty() && !text.empty()) text += ": " + score;
  if (const std::string type = value(kQuantized); !type.empty())
    text = type + (text.empty() ? " copy" : " copy of " + text);
  return text;
}

bool tells_weights(const std::string& key) {
  const auto known = {kWeights, kUpdate, kEnded, kScore, kAverageOf, kQuantized, kAveraged};
  return std::ranges::any_of(known, [&](const char* k) { return key == k; });
}

}  // namespace attune
