#include "measure/rouge.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "base/text.h"
#include "text/lower_case.h"

namespace attune {

namespace {

struct Rouge {
  double precision = 0, recall = 0, f = 0;
};

Rouge rouge(int64_t shared, int64_t ours, int64_t theirs) {
  Rouge r;
  r.precision = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(ours, 1));
  r.recall = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(theirs, 1));
  if (r.precision + r.recall > 0) r.f = 2 * r.precision * r.recall / (r.precision + r.recall);
  return r;
}

constexpr const char* kNames[] = {"1", "2", "L"};
constexpr uint32_t kLines = 9;  // behind precision, recall and F of the three

}  // namespace

std::vector<std::string> rouge_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  for (char c : text::lower_case(line)) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_letter && !in_word) words.emplace_back();
    if (is_letter) words.back() += c;
    in_word = is_letter;
  }
  return words;
}

int64_t common_subsequence(const Ids& a, const Ids& b) {
  // Crochemore et al. 2001, "A fast and practical bit-vector algorithm for the longest common subsequence problem":
  // bit i of v is 0 where the length grows at word i of a.
  if (a.empty() || b.empty()) return 0;
  constexpr size_t kMostPairs = size_t{1} << 38;  // a few seconds
  if (a.size() > kMostPairs / b.size())
    fail(
        ErrorKind::data,
        "a line of {} words beside one of {}: the longest common part of texts so long is not looked for\n  fix: write "
        "one text a line",
        thousands(static_cast<int64_t>(a.size())), thousands(static_cast<int64_t>(b.size())));
  const size_t blocks = (a.size() + 63) / 64;
  uint32_t distinct = 0;
  for (uint32_t id : a) distinct = std::max(distinct, id + 1);
  std::vector<Ids> places(distinct);  // of each word in a
  for (uint32_t i = 0; i < a.size(); ++i) places[a[i]].push_back(i);
  std::vector<uint64_t> v(blocks, ~uint64_t{0}), rare(blocks, 0);
  std::vector<std::vector<uint64_t>> frequent(distinct);  // bits of words that are there often: at most 64
  const auto mark = [&](uint32_t id, std::vector<uint64_t>& bits) {
    for (uint32_t i : places[id]) bits[i / 64] |= uint64_t{1} << (i % 64);
  };
  for (uint32_t id : b) {
    if (id >= distinct || places[id].empty()) continue;
    const bool often = places[id].size() > blocks;
    if (often && frequent[id].empty()) mark(id, frequent[id] = std::vector<uint64_t>(blocks, 0));
    if (!often) mark(id, rare);
    const std::vector<uint64_t>& match = often ? frequent[id] : rare;
    uint64_t carry = 0;
    for (size_t k = 0; k < blocks; ++k) {
      const uint64_t u = v[k] & match[k], sum = v[k] + u, all = sum + carry;
      carry = (sum < u ? 1 : 0) | (all < sum ? 1 : 0);
      v[k] = all | (v[k] & ~match[k]);
    }
    if (!often)
      for (uint32_t i : places[id]) rare[i / 64] = 0;
  }
  int64_t length = 0;
  for (size_t k = 0; k < blocks; ++k) {
    uint64_t grown = ~v[k];
    if (k + 1 == blocks && a.size() % 64 > 0) grown &= (uint64_t{1} << (a.size() % 64)) - 1;
    length += std::popcount(grown);
  }
  return length;
}

void RougeMetric::count(const MetricLine& line, LineCounts& out) const {
  std::vector<std::vector<std::string>> texts{rouge_words(line.hypothesis)};
  for (std::string_view r : line.references) texts.push_back(rouge_words(r));
  std::vector<std::vector<std::string_view>> words;
  for (const auto& t : texts) words.emplace_back(t.begin(), t.end());
  const std::vector<Ids> ids = number_words(words);
  Ngrams grams(ids);
  std::array<Rouge, 3> best;
  for (size_t v = 0; v < best.size(); ++v) {
    for (size_t k = 1; k < ids.size(); ++k) {
      const Rouge r = v == 2 ? rouge(common_subsequence(ids[0], ids[k]), std::ssize(ids[0]), std::ssize(ids[k]))
                             : rouge(grams.matches(0, k), std::ssize(grams.of(0)), std::ssize(grams.of(k)));
      if (k == 1 || r.f > best[v].f) best[v] = r;
    }
    if (v == 0) grams.longer();
  }
  for (uint32_t v = 0; v < best.size(); ++v) {
    out.emplace_back(3 * v, best[v].precision);
    out.emplace_back(3 * v + 1, best[v].recall);
    out.emplace_back(3 * v + 2, best[v].f);
  }
  out.emplace_back(kLines, 1);
}

double RougeMetric::score(std::span<const double> sums) const {
  return percent(sums[3 * static_cast<size_t>(options_.variant) + 2], sums[kLines]);
}

void RougeMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  const size_t chosen = static_cast<size_t>(options_.variant);
  out.text = fmt::format("ROUGE-{} = {:.2f}{}", kNames[chosen], out.score, interval);
  std::string others;
  for (size_t v = 0; v < 3; ++v) {
    const auto mean = [&](size_t i) { return percent(sums[3 * v + i], sums[kLines]); };
    if (v != chosen) others += fmt::format("{}ROUGE-{} = {:.2f}", others.empty() ? "" : ", ", kNames[v], mean(2));
    const std::string name = std::string("rouge") + kNames[v];
    out.details.emplace_back(name, mean(2));
    out.details.emplace_back(name + "_precision", mean(0));
    out.details.emplace_back(name + "_recall", mean(1));
  }
  out.text += " (" + others + ")";
}

}  // namespace attune
