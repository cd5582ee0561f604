#include "measure/ter.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "measure/ngrams.h"
#include "measure/ter_edits.h"
#include "measure/words.h"
#include "text/lower_case.h"
#include "text/utf8.h"

namespace attune {

namespace {

template <size_t N>
bool in_any(char32_t c, const char32_t (&ranges)[N][2]) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const auto& range) { return range[0] <= c && c <= range[1]; });
}

bool is_asian_mark(char32_t c) {
  static constexpr char32_t kRanges[][2] = {{0x3001, 0x3002}, {0x3008, 0x3011}, {0x3014, 0x301F}, {0xFF61, 0xFF65},
                                            {0x30FB, 0x30FB}, {0xFF0E, 0xFF0E}, {0xFF0C, 0xFF0C}, {0xFF1F, 0xFF1F},
                                            {0xFF1A, 0xFF1B}, {0xFF01, 0xFF02}, {0xFF08, 0xFF09}};
  return in_any(c, kRanges);
}

bool stands_alone_in_asia(char32_t c) {
  static constexpr char32_t kRanges[][2] = {{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x31C0, 0x31EF}, {0x2E80, 0x2EFF},
                                            {0x3300, 0x33FF}, {0xF900, 0xFAFF}, {0xFE30, 0xFE4F}, {0x3200, 0x3F22}};
  return in_any(c, kRanges) || is_asian_mark(c);
}

/// Each character that `which` accepts between blanks, or gone.
template <class Which>
std::string set_off(std::string_view line, Which which, bool remove) {
  std::string out;
  for (text::Character c : text::Characters(line)) {
    const std::string_view bytes = line.substr(0, c.bytes);
    if (!which(c.code))
      out.append(bytes);
    else if (!remove)
      out.append(" ").append(bytes).append(" ");
    line.remove_prefix(c.bytes);
  }
  return out;
}

std::string normalize(std::string s, bool asian) {
  replace_all(s, "\n-", "");
  replace_all(s, "\n", " ");
  replace_all(s, "&quot;", "\"");
  replace_all(s, "&amp;", "&");
  replace_all(s, "&lt;", "<");
  replace_all(s, "&gt;", ">");
  s = separate_symbols(" " + s + " ");
  replace_all(s, "'s ", " 's ");
  s = separate_stops(s);
  return asian ? set_off(s, stands_alone_in_asia, false) : s;
}

}  // namespace

std::string tercom_words(std::string_view line, const TerOptions& options) {
  std::string s(without_last_blanks(line));
  if (!options.case_sensitive) s = text::lower_case(s);
  if (options.normalized) s = normalize(std::move(s), options.asian_support);
  if (options.no_punct) {
    std::erase_if(s, [](char c) { return std::string_view(".,?:;!\"()").find(c) != std::string::npos; });
    if (options.asian_support) s = set_off(s, is_asian_mark, true);
  }
  return tokenize(s, Tokenization::none);
}

void TerMetric::count(const MetricLine& line, LineCounts& out) const {
  std::vector<std::string> texts{tercom_words(line.hypothesis, options_)};
  // sacreBLEU does it twice to references, which can tell where they are normalized: "Tom's, a" ends as "Tom 's a".
  for (std::string_view r : line.references) texts.push_back(tercom_words(tercom_words(r, options_), options_));
  std::vector<std::vector<std::string_view>> words;
  for (const std::string& t : texts) words.push_back(split_words(t));
  const std::vector<Ids> ids = number_words(words);
  double edits = 0, length = 0;
  for (size_t k = 1; k < ids.size(); ++k) {
    const double e = static_cast<double>(shift_edits(ids[0], ids[k]));
    if (k == 1 || e < edits) edits = e;
    length += static_cast<double>(ids[k].size());
  }
  out.emplace_back(0, edits);
  out.emplace_back(1, length / static_cast<double>(line.references.size()));
}

double TerMetric::score(std::span<const double> sums) const {
  if (sums[1] > 0) return 100 * (sums[0] / sums[1]);
  return sums[0] > 0 ? 100 : 0;
}

void TerMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  out.text = fmt::format("TER = {:.2f}{} ({} edits, {:.10g} words of reference)", out.score, interval,
                         thousands(static_cast<int64_t>(sums[0])), sums[1]);
  out.details = {{"edits", sums[0]}, {"reference_length", sums[1]}};
}

std::string TerMetric::signature() const {
  const auto yes = [](bool b) { return b ? "yes" : "no"; };
  return fmt::format("case:{}|tok:tercom|norm:{}|punct:{}|asian:{}", options_.case_sensitive ? "mixed" : "lc",
                     yes(options_.normalized), yes(!options_.no_punct), yes(options_.asian_support));
}

}  // namespace attune
