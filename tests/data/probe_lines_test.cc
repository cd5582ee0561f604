// The probes' answers are right, by evaluators that share nothing with the generators.
#include "data/probe_lines.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "checks.h"

namespace attune {
namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> all;
  for (std::string w; in >> w;) all.push_back(w);
  return all;
}

TEST(CopyProbe, TheAnswerAreTheBeadsOfTheAskedColour) {
  Random random(5);
  const CopyLines options{.groups = 4, .beads = 3, .gap = 40};
  std::map<char, int> asked;
  std::set<size_t> lengths;
  for (int i = 0; i < 500; ++i) {
    const ProbeLine line = draw_copy(random, options);
    const auto w = words(line.source);
    const char colour = w.back()[0];
    ++asked[colour];
    std::string answer;
    size_t beads = 0;
    for (const std::string& word : w) {
      const bool bead = word.size() == 2 && std::isdigit(word[1]);
      EXPECT_TRUE(!bead || &word == &w[beads]) << "beads come first";
      beads += bead;
      if (bead && word[0] == colour) answer += (answer.empty() ? "" : " ") + word;
    }
    EXPECT_EQ(line.target, answer) << line.source;
    EXPECT_EQ(words(answer).size(), 3u);
    EXPECT_EQ(beads, 12u);
    const size_t gap = w.size() - beads - 1;
    EXPECT_TRUE(gap >= 30 && gap <= 40) << gap;
    lengths.insert(gap);
  }
  EXPECT_EQ(asked.size(), 8u);
  EXPECT_EQ(lengths.size(), 11u);
}

/// A parser from the right: a list is worked out when its bracket opens.
int value_of(const std::string& line, int& depth) {
  auto w = words(line);
  std::vector<std::vector<int>> lists(1);
  size_t deepest = 1;
  for (size_t i = w.size(); i-- > 0;) {
    if (w[i] == "]") {
      lists.emplace_back();
      deepest = std::max(deepest, lists.size());
      continue;
    }
    if (w[i].size() == 1) {
      lists.back().push_back(w[i][0] - '0');
      continue;
    }
    std::vector<int> list = lists.back();
    lists.pop_back();
    EXPECT_GE(list.size(), 2u) << line;
    int value = -1, sum = 0;
    for (const int x : list) sum += x;
    if (w[i] == "[MAX") value = *std::max_element(list.begin(), list.end());
    if (w[i] == "[MIN") value = *std::min_element(list.begin(), list.end());
    if (w[i] == "[SM") value = sum % 10;
    if (w[i] == "[MED") {
      std::multiset<int> sorted(list.begin(), list.end());
      const int low = *std::next(sorted.begin(), static_cast<long>((list.size() - 1) / 2)),
                high = *std::next(sorted.begin(), static_cast<long>(list.size() / 2));
      value = (low + high) / 2;
    }
    lists.back().push_back(value);
  }
  depth = static_cast<int>(deepest) - 1;
  EXPECT_EQ(lists.size(), 1u) << line;
  return lists[0].at(0);
}

TEST(ListOpsProbe, TheAnswerIsTheValue) {
  Random random(5);
  const ListOpsLines options{.depth = 3, .arguments = 4, .words = 30};
  std::map<std::string, int> answers;
  std::map<int, int> depths;
  for (int i = 0; i < 2000; ++i) {
    const ProbeLine line = draw_listops(random, options);
    int depth = 0;
    EXPECT_EQ(line.target, std::to_string(value_of(line.source, depth))) << line.source;
    EXPECT_LE(words(line.source).size(), 30u);
    ++answers[line.target];
    ++depths[depth];
  }
  EXPECT_EQ(answers.size(), 10u);
  for (const auto& [digit, times] : answers) EXPECT_TRUE(times > 130 && times < 270) << digit << ": " << times;
  EXPECT_EQ(depths.rbegin()->first, 3);
  EXPECT_GT(depths[3], 200);
  int depth = 0;
  EXPECT_EQ(value_of("[MAX 4 3 [MIN 2 3 ] 1 0 [MED 1 5 8 9 2 ] ]", depth), 5);
  EXPECT_EQ(value_of("[SM 7 8 [MED 1 4 ] ]", depth), 7);
}

TEST(AgreementProbe, TheVerbAgreesWithThePhraseOfItsVoice) {
  Random random(5);
  const AgreementLines options{.gap = 20};
  const std::map<std::string, std::string> particle_of{{"ma", "ka"}, {"in", "po"}, {"an", "su"}, {"ip", "ni"}};
  std::map<std::string, std::string> gender;  // of nouns without their number, as the endings reveal it
  std::set<std::string> endings, singular, plural;
  int attractors = 0;
  const int lines = 4000;
  std::vector<std::pair<std::string, std::string>> others;  // nouns of other phrases, ending of the verb
  for (int i = 0; i < lines; ++i) {
    const ProbeLine line = draw_agreement(random, options);
    const auto w = words(line.source), answer = words(line.target);
    ASSERT_EQ(answer.size(), 2u);
    EXPECT_EQ(answer[0], w.back());
    const std::string particle = particle_of.at(w[w.size() - 2]);
    EXPECT_EQ(std::count(w.begin(), w.end(), particle), 1) << line.source;
    std::string noun;
    size_t last_noun = 0, phrases = 0;
    for (size_t k = 0; k + 1 < w.size(); ++k)
      for (const auto& [voice, p] : particle_of)
        if (w[k] == p) {
          ++phrases;
          last_noun = k + 1;
          if (p == particle) noun = w[k + 1];
        }
    EXPECT_EQ(phrases, 4u);
    EXPECT_GE(w.size() - 2 - last_noun, 15u) << line.source;
    const bool many = noun.ends_with("n");
    EXPECT_EQ(many, answer[1].ends_with("t")) << line.source << " -> " << line.target;
    const std::string stem = many ? noun.substr(0, noun.size() - 1) : noun;
    const std::string own = many ? answer[1].substr(0, 2) : answer[1];
    const auto [known, fresh] = gender.emplace(stem, own);
    EXPECT_EQ(known->second, own) << noun << ": a noun has one gender";
    endings.insert(answer[1]);
    attractors += w[1] != noun;  // the first noun of the line is not the subject
  }
  EXPECT_EQ(gender.size(), 36u);
  EXPECT_EQ(endings.size(), 6u);
  EXPECT_GT(attractors, lines / 2);
}

TEST(Probes, DependOnTheRandomNumbersAlone) {
  Random a(9), b(9), c(10);
  EXPECT_EQ(draw_copy(a, {}).source, draw_copy(b, {}).source);
  EXPECT_EQ(draw_listops(a, {}).source, draw_listops(b, {}).source);
  EXPECT_EQ(draw_agreement(a, {}).source, draw_agreement(b, {}).source);
  EXPECT_NE(draw_agreement(b, {}).source, draw_agreement(c, {}).source);
}

}  // namespace
}  // namespace attune
