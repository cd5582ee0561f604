#include "baseline/ngram_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace attune::test {
namespace {

using Ids = std::vector<int32_t>;

constexpr int32_t kBegin = -1;

/// Chen and Goodman's equations as they stand, with a table of all n-grams; texts begin with begin marks.
class NaiveKneserNey {
 public:
  NaiveKneserNey(size_t order, int64_t words, const std::vector<Ids>& texts) : order_(order), words_(words) {
    std::map<Ids, double> said;                 // how often
    std::map<Ids, std::set<int32_t>> preceded;  // by which words
    for (const Ids& text : texts) {
      Ids all(order, kBegin);
      all.insert(all.end(), text.begin(), text.end());
      for (size_t end = order; end < all.size(); ++end)
        for (size_t n = 1; n <= order; ++n) {
          const Ids gram(all.begin() + static_cast<std::ptrdiff_t>(end + 1 - n),
                         all.begin() + static_cast<std::ptrdiff_t>(end + 1));
          ++said[gram];
          preceded[gram].insert(all[end - n]);
        }
    }
    for (const auto& [gram, count] : said)
      counts_[gram] = gram.size() == order || gram[0] == kBegin ? count : static_cast<double>(preceded[gram].size());
    for (size_t n = 1; n <= order; ++n) discounts_.push_back(discounts(n));
  }

  double probability(const Ids& history, int32_t word) const {
    Ids all(order_, kBegin);
    all.insert(all.end(), history.begin(), history.end());
    return of(Ids(all.end() - static_cast<std::ptrdiff_t>(order_ - 1), all.end()), word);
  }

 private:
  std::vector<double> discounts(size_t n) const {
    double of[5] = {};
    for (const auto& [gram, count] : counts_)
      if (gram.size() == n && count < 5) ++of[static_cast<size_t>(count)];
    const double y = of[1] > 0 ? of[1] / (of[1] + 2 * of[2]) : 0.5;
    std::vector<double> d{0};
    for (int c = 1; c <= 3; ++c)
      d.push_back(std::clamp(of[c] > 0 ? c - (c + 1) * y * of[c + 1] / of[c] : 0.5 * c, 0.1, c - 0.1));
    return d;
  }
  double of(const Ids& history, int32_t word) const {
    const double shorter =
        history.empty() ? 1 / static_cast<double>(words_) : of({history.begin() + 1, history.end()}, word);
    double total = 0, given = 0, own = 0;
    const std::vector<double>& d = discounts_[history.size()];
    for (int32_t w = 0; w < words_; ++w) {
      Ids gram = history;
      gram.push_back(w);
      const auto at = counts_.find(gram);
      if (at == counts_.end()) continue;
      const double discount = d[static_cast<size_t>(std::min(at->second, 3.0))];
      total += at->second;
      given += discount;
      if (w == word) own = at->second - discount;
    }
    return total > 0 ? (own + given * shorter) / total : shorter;
  }
  size_t order_;
  int64_t words_;
  std::map<Ids, double> counts_;
  std::vector<std::vector<double>> discounts_;
};

std::vector<Ids> random_texts(int64_t words, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Ids> texts;
  for (int t = 0; t < 30; ++t) {
    Ids& text = texts.emplace_back();
    for (unsigned n = random() % 12; n > 0; --n)  // low ids are frequent, and some come never
      text.push_back(static_cast<int32_t>(std::min(random() % (words - 1), random() % (words - 1))));
  }
  return texts;
}

NgramModel learned(int order, int64_t words, const std::vector<Ids>& texts) {
  NgramModel model(order, words);
  for (const Ids& text : texts) model.add(text);
  model.finish();
  return model;
}

TEST(NgramModel, IsKneserNeysFormula) {
  for (const int order : {1, 2, 3, 5})
    for (const int64_t words : {5, 12}) {
      const std::vector<Ids> texts = random_texts(words, static_cast<unsigned>(order)),
                             others = random_texts(words, 77);
      const NgramModel model = learned(order, words, texts);
      const NaiveKneserNey naive(static_cast<size_t>(order), words, texts);
      for (const Ids& text : others) {
        auto state = model.begin();
        Ids history;
        for (const int32_t word : text) {
          double sum = 0;
          for (int32_t w = 0; w < words; ++w) {
            sum += model.probability(state, w);
            EXPECT_NEAR(model.probability(state, w), naive.probability(history, w), 1e-12) << order << " " << words;
          }
          EXPECT_NEAR(sum, 1, 1e-12);
          model.read(word, state);
          history.push_back(word);
        }
      }
    }
}

TEST(NgramModel, ATextCostsWhatItsWordsDo) {
  const std::vector<Ids> texts = random_texts(9, 3);
  const NgramModel model = learned(3, 9, texts);
  const Ids text{1, 0, 7, 7, 2};
  double sum = 0;
  auto state = model.begin();
  for (const int32_t word : text) {
    sum -= std::log(model.probability(state, word));
    model.read(word, state);
  }
  EXPECT_DOUBLE_EQ(model.nats(text), sum);
  EXPECT_EQ(model.nats({}), 0);
}

TEST(NgramModel, OfNothingAllWordsAreAlike) {
  const NgramModel model = learned(3, 8, {});
  EXPECT_NEAR(model.nats(Ids{1, 2, 3}), 3 * std::log(8.0), 1e-12);
}

TEST(GrowingMap, FindsWhatWasAddedWhileItGrows) {
  GrowingMap map;
  EXPECT_EQ(map.find(7), 0u);
  bool is_new = false;
  for (uint64_t i = 0; i < 10000; ++i) {
    EXPECT_EQ(map.add(i * i << 20, &is_new), i + 1);
    EXPECT_TRUE(is_new);
  }
  EXPECT_EQ(map.add(uint64_t{81} << 20, &is_new), 10u);
  EXPECT_FALSE(is_new);
  for (uint64_t i = 0; i < 10000; ++i) EXPECT_EQ(map.find(i * i << 20), i + 1);
  EXPECT_EQ(map.key(10), uint64_t{81} << 20);
  EXPECT_EQ(map.find(5), 0u);
}

}  // namespace
}  // namespace attune::test
