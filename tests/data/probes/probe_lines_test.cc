// The probes' answers are right, by evaluators that share nothing with the generators.
#include "data/probes/probe_lines.h"

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

TEST(CopyProbe, TheAnswerAreTheBeadsInTheOrderOfTheColours) {
  Random random(5);
  for (const bool easier : {false, true}) {
    std::set<char> colours;
    std::set<std::string> beads;
    std::set<size_t> gaps, counts;
    int sorted = 0;  // lines whose beads stand in the order that is asked for
    for (int i = 0; i < 1000; ++i) {
      const ProbeLine line = draw_copy(random, {.beads = 4, .gap = 40, .easier = easier});
      const auto w = words(line.source), answer = words(line.target);
      const size_t count = answer.size();
      counts.insert(count);
      ASSERT_GE(w.size(), 2 * count);
      gaps.insert(w.size() - 2 * count);
      const std::set<std::string> there(w.end() - static_cast<long>(count), w.end());
      EXPECT_EQ(there, std::set<std::string>(answer.begin(), answer.end())) << line.source;
      std::set<char> own;
      for (size_t k = 0; k < count; ++k) {
        EXPECT_EQ(answer[k].substr(0, 1), w[k]) << line.source;
        own.insert(answer[k][0]);
      }
      EXPECT_EQ(own.size(), count) << "a colour twice: " << line.target;
      colours.insert(own.begin(), own.end());
      beads.insert(answer.begin(), answer.end());
      sorted += std::equal(answer.begin(), answer.end(), w.end() - static_cast<long>(count));
    }
    EXPECT_EQ(colours.size(), 8u);
    EXPECT_EQ(beads.size(), 80u);
    EXPECT_EQ(gaps.size(), easier ? 41u : 11u);
    EXPECT_EQ(*gaps.rbegin(), 40u);
    EXPECT_EQ(counts.size(), easier ? 4u : 1u);
    if (!easier) {
      EXPECT_LT(sorted, 80);  // of 1000, a 24th in the mean
    }
  }
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
    int value = -1;
    if (w[i] == "[MAX") value = *std::max_element(list.begin(), list.end());
    if (w[i] == "[MIN") value = *std::min_element(list.begin(), list.end());
    if (w[i] == "[FIRST") value = list.back();  // the last from the right
    if (w[i] == "[LAST") value = list.front();
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
  EXPECT_EQ(value_of("[MAX 4 3 [MIN 2 3 ] 1 0 [LAST 1 8 5 ] ]", depth), 5);
  EXPECT_EQ(value_of("[FIRST [FIRST 7 4 ] 8 [MAX 1 9 ] ]", depth), 7);
}

TEST(AgreementProbe, AVerbAgreesWithTheNounOfItsVoice) {
  Random random(5);
  const std::map<std::string, std::string> role_of{{"ma", "ka"}, {"in", "po"}, {"an", "su"}, {"ip", "ni"}};
  for (const bool easier : {false, true}) {
    std::map<std::string, std::string> gender;  // of nouns without their number, as the endings reveal it
    std::set<std::string> endings;
    std::set<size_t> counts, verbs;
    std::map<size_t, int> place;  // which of the nouns the first verb means
    for (int i = 0; i < 3000; ++i) {
      const ProbeLine line = draw_agreement(random, {.verbs = 2, .nouns = 4, .gap = 20, .easier = easier});
      const auto w = words(line.source), answer = words(line.target);
      std::vector<std::string> roles, nouns;
      size_t far = 0;  // the first noun
      for (size_t k = answer.size(); k < w.size(); ++k)
        for (const auto& [voice, role] : role_of)
          if (w[k].size() >= 6 && w[k].starts_with(role)) {
            if (nouns.empty()) far = k;
            roles.push_back(role);
            nouns.push_back(w[k].substr(2));
          }
      counts.insert(nouns.size());
      verbs.insert(answer.size());
      for (size_t v = 0; v < answer.size(); ++v) {
        ASSERT_TRUE(answer[v].starts_with(w[v])) << line.source;
        const std::string role = role_of.at(w[v]), ending = answer[v].substr(2);
        ASSERT_EQ(std::count(roles.begin(), roles.end(), role), 1) << line.source;
        const auto at = static_cast<size_t>(std::find(roles.begin(), roles.end(), role) - roles.begin());
        if (v == 0) ++place[at];
        const std::string& noun = nouns[at];
        const bool many = noun.ends_with("n");
        EXPECT_EQ(many, ending.ends_with("t")) << line.source << " -> " << line.target;
        const std::string own = ending.substr(0, 2);
        const auto [known, fresh] = gender.emplace(many ? noun.substr(0, noun.size() - 1) : noun, own);
        EXPECT_EQ(known->second, own) << noun << ": a noun has one gender";
        endings.insert(ending);
      }
      if (!easier) { EXPECT_GE(far - answer.size(), 15u) << line.source; }
    }
    EXPECT_EQ(gender.size(), 18u);
    EXPECT_EQ(endings.size(), 6u);
    EXPECT_EQ(counts.size(), easier ? 4u : 1u);
    EXPECT_EQ(verbs.size(), easier ? 2u : 1u);
    if (!easier) {
      for (size_t k = 0; k < 4; ++k) { EXPECT_NEAR(place[k], 750, 120); }
    }
  }
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
