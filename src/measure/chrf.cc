#include "measure/chrf.h"

#include <algorithm>

#include "base/error.h"
#include "measure/ngrams.h"
#include "measure/words.h"
#include "text/lower_case.h"
#include "text/utf8.h"

namespace attune {

namespace {

/// The characters of several lines, numbered alike.
std::vector<Ids> number_characters(const std::vector<std::string>& lines, bool whitespace) {
  size_t most = 0;
  for (const std::string& line : lines) most += line.size();
  Numbering numbers(most);
  std::vector<Ids> out;
  for (const std::string& line : lines) {
    Ids& ids = out.emplace_back();
    const auto add = [&](std::string_view piece) {
      for (text::Character c : text::Characters(piece)) ids.push_back(numbers.number(c.code));
    };
    if (whitespace)
      add(line);
    else
      for (std::string_view word : split_words(line)) add(word);
  }
  return out;
}

bool is_mark(char c) { return std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(c) != std::string::npos; }

/// Words with the mark at their end or else at their beginning taken off: "(hi)" becomes "(hi" and ")".
std::vector<std::string_view> words_and_marks(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::string_view word : split_words(line)) {
    if (text::first_character(word).bytes == word.size()) {
      out.push_back(word);
    } else if (is_mark(word.back())) {
      out.push_back(word.substr(0, word.size() - 1));
      out.push_back(word.substr(word.size() - 1));
    } else if (is_mark(word.front())) {
      out.push_back(word.substr(0, 1));
      out.push_back(word.substr(1));
    } else {
      out.push_back(word);
    }
  }
  return out;
}

/// For the hypothesis and each reference the counts of `orders` orders: its n-grams, the reference's, shared ones.
void count_orders(Ngrams grams, int64_t orders, std::vector<std::vector<double>>& of_reference) {
  for (int64_t n = 0; n < orders; ++n) {
    if (n > 0) grams.longer();
    for (size_t k = 0; k < of_reference.size(); ++k) {
      const double theirs = static_cast<double>(grams.of(k + 1).size());
      of_reference[k].push_back(theirs > 0 ? static_cast<double>(grams.of(0).size()) : 0);
      of_reference[k].push_back(theirs);
      of_reference[k].push_back(static_cast<double>(grams.matches(0, k + 1)));
    }
  }
}

}  // namespace

void ChrfMetric::count(const MetricLine& line, LineCounts& out) const {
  std::vector<std::string> texts{std::string(line.hypothesis)};
  texts.insert(texts.end(), line.references.begin(), line.references.end());
  if (options_.lowercase)
    for (std::string& t : texts) t = text::lower_case(t);
  std::vector<std::vector<double>> counts(line.references.size());
  count_orders(Ngrams(number_characters(texts, options_.whitespace)), options_.char_order, counts);
  if (options_.word_order > 0) {
    std::vector<std::vector<std::string_view>> words;
    for (const std::string& t : texts) words.push_back(words_and_marks(t));
    count_orders(Ngrams(number_words(words)), options_.word_order, counts);
  }
  const std::vector<double>& best = *std::max_element(
      counts.begin(), counts.end(), [&](const auto& a, const auto& b) { return score(a) < score(b); });
  for (uint32_t i = 0; i < best.size(); ++i)
    if (best[i] > 0) out.emplace_back(i, best[i]);
}

double ChrfMetric::score(std::span<const double> sums) const {
  constexpr double kEpsilon = 1e-16;
  const double factor = static_cast<double>(options_.beta * options_.beta);
  const auto f = [&](double p, double r) { return (1 + factor) * p * r / (factor * p + r); };
  double precision = 0, recall = 0, all = 0;
  int used = 0;
  for (size_t n = 0; n < orders(); ++n) {
    const double ours = sums[3 * n], theirs = sums[3 * n + 1], shared = sums[3 * n + 2];
    const double p = ours > 0 ? shared / ours : kEpsilon, r = theirs > 0 ? shared / theirs : kEpsilon;
    all += factor * p + r > 0 ? f(p, r) : kEpsilon;
    if (ours > 0 && theirs > 0) {
      precision += p;
      recall += r;
      ++used;
    }
  }
  if (options_.eps_smoothing) return 100 * all / static_cast<double>(orders());
  if (precision + recall == 0) return 0;
  return 100 * f(precision / used, recall / used);
}

void ChrfMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  out.text = fmt::format("chrF{}{} = {:.2f}{}", options_.beta,
                         std::string(static_cast<size_t>(options_.word_order), '+'), out.score, interval);
  const auto mean = [&](size_t of, size_t all) {
    double share = 0;
    int used = 0;
    for (size_t n = 0; n < orders(); ++n)
      if (sums[3 * n] > 0 && sums[3 * n + 1] > 0) {
        share += sums[3 * n + of] / sums[3 * n + all];
        ++used;
      }
    return used > 0 ? 100 * share / used : 0.0;
  };
  out.details = {{"precision", mean(2, 0)}, {"recall", mean(2, 1)}};
}

std::string ChrfMetric::signature() const {
  const auto yes = [](bool b) { return b ? "yes" : "no"; };
  return fmt::format("case:{}|eff:{}|nc:{}|nw:{}|space:{}", options_.lowercase ? "lc" : "mixed",
                     yes(!options_.eps_smoothing), options_.char_order, options_.word_order, yes(options_.whitespace));
}

}  // namespace attune
