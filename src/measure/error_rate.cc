#include "measure/error_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "measure/words.h"
#include "text/lower_case.h"
#include "text/utf8.h"

namespace attune {

namespace {

// A cost counts errors in its upper half and substitutions in its lower: fewest errors first, then fewest
// substitutions, which leaves most right.
constexpr int64_t kError = int64_t{1} << 32, kSubstitution = kError + 1, kFar = std::numeric_limits<int64_t>::max() / 2;
constexpr int64_t kMostCells = int64_t{1} << 29;

enum ErrorPlace : uint32_t { kRight, kSubstituted, kDeleted, kInserted, kLength, kRough };

/// The least cost of turning a into b by a path whose j in row i is from middle(i) - before to middle(i) + behind.
template <class Middle>
int64_t banded_cost(std::span<const uint32_t> a, std::span<const uint32_t> b, Middle middle, int64_t before,
                    int64_t behind) {
  const int64_t n = std::ssize(a), m = std::ssize(b);
  const auto from = [&](int64_t i) { return std::clamp<int64_t>(middle(i) - before, 0, m); };
  const auto to = [&](int64_t i) { return std::clamp<int64_t>(middle(i) + behind, 0, m); };
  std::vector<int64_t> row(static_cast<size_t>(m) + 1, kFar);
  for (int64_t j = 0; j <= to(0); ++j) row[static_cast<size_t>(j)] = j * kError;
  for (int64_t i = 1; i <= n; ++i) {
    const int64_t lo = from(i), hi = to(i);
    int64_t corner = lo > 0 ? row[static_cast<size_t>(lo - 1)] : kFar, left = kFar;
    for (int64_t j = lo; j <= hi; ++j) {
      int64_t& cell = row[static_cast<size_t>(j)];
      const int64_t up = cell;
      int64_t best = std::min(up, left) + kError;
      if (j > 0)
        best = std::min(best,
                        corner + (a[static_cast<size_t>(i - 1)] == b[static_cast<size_t>(j - 1)] ? 0 : kSubstitution));
      corner = up;
      left = cell = std::min(best, kFar);
    }
    if (lo > 0) row[static_cast<size_t>(lo - 1)] = kFar;  // what the next row must not see
  }
  return row[static_cast<size_t>(m)];
}

int64_t least_cost(std::span<const uint32_t> a, std::span<const uint32_t> b, bool& exact) {
  const int64_t n = std::ssize(a), m = std::ssize(b), longer = std::abs(m - n);
  if (n == 0 || m == 0) return longer * kError;
  // Ukkonen 1985: a path that leaves the band of `width` beside both diagonals makes more than longer + 2 width errors.
  const auto diagonal = [](int64_t i) { return i; };
  for (int64_t width = 32; std::min(longer + 2 * width, m) * n <= kMostCells; width *= 4) {
    if (longer + 2 * width >= m) width = std::max(n, m);
    const int64_t cost =
        banded_cost(a, b, diagonal, width + std::max<int64_t>(0, n - m), width + std::max<int64_t>(0, m - n));
    if (cost / kError <= longer + 2 * width || width >= std::max(n, m)) return cost;
  }
  exact = false;
  const double ratio = static_cast<double>(m) / static_cast<double>(n);
  const int64_t width = kMostCells / 2 / n + static_cast<int64_t>(ratio) + 1;
  return banded_cost(
      a, b, [&](int64_t i) { return std::llround(static_cast<double>(i) * ratio); }, width, width);
}

}  // namespace

Edits least_edits(const Ids& said, const Ids& reference) {
  std::span<const uint32_t> a(said), b(reference);
  while (!a.empty() && !b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a = a.first(a.size() - 1), b = b.first(b.size() - 1);
  Edits e;
  const int64_t cost = least_cost(a, b, e.exact), errors = cost / kError;
  e.substitutions = cost % kError;
  const int64_t others = errors - e.substitutions, more = std::ssize(said) - std::ssize(reference);
  e.insertions = (others + more) / 2;
  e.deletions = (others - more) / 2;
  e.right = std::ssize(reference) - e.substitutions - e.deletions;
  return e;
}

void ErrorRateMetric::count(const MetricLine& line, LineCounts& out) const {
  std::vector<std::string> texts{std::string(line.hypothesis)};
  texts.insert(texts.end(), line.references.begin(), line.references.end());
  if (options_.lowercase)
    for (std::string& t : texts) t = text::lower_case(t);
  const std::vector<Ids> ids = cut(texts);
  Edits best;
  size_t nearest = 0;
  for (size_t k = 1; k < ids.size(); ++k) {
    const Edits e = least_edits(ids[0], ids[k]);
    if (nearest > 0 && e.errors() >= best.errors()) continue;
    best = e;
    nearest = k;
  }
  out.emplace_back(kRight, best.right);
  out.emplace_back(kSubstituted, best.substitutions);
  out.emplace_back(kDeleted, best.deletions);
  out.emplace_back(kInserted, best.insertions);
  out.emplace_back(kLength, std::ssize(ids[nearest]));
  if (!best.exact) out.emplace_back(kRough, 1);
}

double ErrorRateMetric::score(std::span<const double> sums) const {
  const double errors = sums[kSubstituted] + sums[kDeleted] + sums[kInserted];
  return sums[kLength] > 0 ? 100 * errors / sums[kLength] : errors > 0 ? 100 : 0;
}

void ErrorRateMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  const auto whole = [&](ErrorPlace p) { return thousands(static_cast<int64_t>(sums[p])); };
  out.score = score(sums);
  out.text =
      fmt::format("{} = {:.2f} %{} ({} substitutions, {} deletions, {} insertions, {} {} of reference)", name_,
                  out.score, interval, whole(kSubstituted), whole(kDeleted), whole(kInserted), whole(kLength), units_);
  if (sums[kRough] > 0)
    out.text += fmt::format("; of {} very long line{} an upper bound", whole(kRough), sums[kRough] > 1 ? "s" : "");
  out.details = {{"right", sums[kRight]},
                 {"substitutions", sums[kSubstituted]},
                 {"deletions", sums[kDeleted]},
                 {"insertions", sums[kInserted]},
                 {"reference_length", sums[kLength]}};
  if (sums[kRough] > 0) out.details.emplace_back("upper_bounds", sums[kRough]);
}

std::vector<Ids> WordErrorMetric::cut(const std::vector<std::string>& lines) const {
  std::vector<std::vector<std::string_view>> words;
  for (const std::string& line : lines) words.push_back(split_words(line));
  return number_words(words);
}

std::vector<Ids> CharacterErrorMetric::cut(const std::vector<std::string>& lines) const {
  std::vector<Ids> out;
  for (const std::string& line : lines) {
    Ids& ids = out.emplace_back();
    for (text::Character c : text::Characters(without_outer_blanks(line))) ids.push_back(c.code);
  }
  return out;
}

}  // namespace attune
