// What data.columns and data.header mean: which columns of a file are source, target and weight.
#include <algorithm>

#include "base/choice.h"
#include "base/error.h"
#include "base/text.h"
#include "data/files/records.h"

namespace attune {

namespace {

using Names = std::vector<std::string>;
constexpr const char* kWeight = "weight";
const Names kConll{"id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"};  // of CoNLL-U

constexpr const char *kLabel = "label", *kText = "text", *kSecond = "text2";

Names wanted_names(Sides sides) {
  return sides == Sides::two ? Names{"source", "target"} : sides == Sides::one ? Names{kText} : Names{kText, kLabel};
}
std::string wanted_text(Sides sides) {
  return sides == Sides::two ? "source and target" : sides == Sides::one ? "the text" : "text and label";
}

/// A number from 1 as an index, or -1.
int index_of_number(const std::string& s) {
  if (s.empty() || s.size() > 6 || !std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return -1;
  return std::stoi(s) - 1;
}

int find(const Names& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

std::string list_of(const Names& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "\"" : ", \"") + n + "\"";
  return out;
}

/// Names of all columns in order: those that are called as wanted, or, where there are no others, all of them.
Columns by_order(const Names& all, Sides sides, const std::string& what) {
  Columns c;
  c.count = all.size();
  c.weight = find(all, kWeight);
  const Names wanted = wanted_names(sides);
  for (const std::string& name : wanted)
    if (const int at = find(all, name); at >= 0) c.text.push_back(static_cast<size_t>(at));
  const int second = sides == Sides::answers ? find(all, kSecond) : -1;
  if (c.text.size() == wanted.size()) {
    if (second >= 0) c.text.insert(c.text.begin() + 1, static_cast<size_t>(second));
    return c;
  }
  c.text.clear();
  if (sides == Sides::answers) {  // the label has a name, and the others are texts
    const int label = find(all, kLabel);
    for (size_t i = 0; i < all.size() && label >= 0; ++i)
      if (static_cast<int>(i) != c.weight && static_cast<int>(i) != label) c.text.push_back(i);
    if (c.text.size() == 1 || c.text.size() == 2) {
      c.text.push_back(static_cast<size_t>(label));
      return c;
    }
    c.text.clear();
  }
  for (size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i) != c.weight) c.text.push_back(i);
  // Of a text and its label either may come first: what is not named so is not guessed.
  if (c.text.size() == wanted.size() && sides != Sides::answers) return c;
  fail(ErrorKind::recipe, "{}: which of {} {}?\n  fix: {}", what, list_of(all),
       sides == Sides::one ? "is the text" : "are " + wanted_text(sides),
       sides == Sides::one ? "set data.columns; without a header, call one of them \"text\""
                           : "set data.columns; without a header, call two of them " +
                                 join({in_quotes(wanted_names(sides)[0]), in_quotes(wanted_names(sides)[1])}, " and "));
}

/// Columns that are picked by number or by a name of `known`: the texts in order, so many answers where there are such,
/// then perhaps the weight.
Columns picked(const Names& names, const Names& known, Sides sides, int64_t several, const std::string& place) {
  Columns c;
  const bool answers = sides == Sides::answers;
  size_t texts = answers ? 1 + static_cast<size_t>(several) : wanted_names(sides).size();
  if (answers && names.size() - (find(names, kWeight) >= 0) == texts + 1) ++texts;  // a pair of texts
  for (const std::string& name : names) {
    int at = find(known, name);
    if (at < 0) at = index_of_number(name);
    if (at < 0) {
      const std::string near = closest_name(name, known);
      fail(known.empty() || place.empty() ? ErrorKind::recipe : ErrorKind::data,
           "{}data.columns names \"{}\", the columns are {}\n  fix: {}", place.empty() ? "" : place + ": ", name,
           known.empty() ? "numbers from 1" : list_of(known),
           near.empty() ? "take names of these, or numbers from 1" : "did you mean \"" + near + "\"?");
    }
    if (c.weight < 0 && (name == kWeight || c.text.size() == texts))
      c.weight = at;
    else
      c.text.push_back(static_cast<size_t>(at));
  }
  if (c.text.size() != texts)
    fail(ErrorKind::recipe, "data.columns = [{}] has {} for {}\n  fix: name {}, and perhaps the weight", list_of(names),
         c.text.size() == 1 ? "one column" : fmt::format("{} columns", c.text.size()),
         sides == Sides::one ? "one text" : wanted_text(sides),
         answers && several > 1 ? fmt::format("a text or two, then {} answers", several)
         : answers              ? "a text or two, then the label"
         : texts == 2           ? "two columns"
                                : "one column");
  return c;
}

}  // namespace

size_t Columns::needed() const {
  auto most = static_cast<size_t>(weight + 1);
  for (const size_t c : text) most = std::max(most, c + 1);
  return most;
}

Columns find_columns(const DataSettings& options, Sides sides, const Record* header, const std::string& place) {
  const Names& names = options.columns.texts;
  const bool several = sides == Sides::answers && options.answers > 1;
  if (options.format == DataFormat::conll)
    return picked(!names.empty()      ? names
                  : has_source(sides) ? Names{"form", "upos"}
                                      : Names{"form"},
                  kConll, sides, options.answers, "");
  if (header) {
    Names all;
    for (const std::string_view h : *header) all.emplace_back(trim(h));
    if (names.empty() && !several) return by_order(all, sides, place);
    if (names.empty())
      fail(ErrorKind::recipe, "{}: which of {} are texts and answers?\n  fix: set data.columns: texts, then answers",
           place, list_of(all));
    Columns c = picked(names, all, sides, options.answers, place);
    c.count = all.size();
    if (c.needed() > c.count)
      fail(ErrorKind::data, "{}: data.columns has number {}, the columns are {}\n  fix: take names or numbers of these",
           place, c.needed(), list_of(all));
    return c;
  }
  if (names.empty() && sides == Sides::answers) {  // label, text, and perhaps a second text
    Columns c;
    c.text = {static_cast<size_t>(options.answers)};
    for (size_t i = 0; i < c.text[0]; ++i) c.text.push_back(i);
    c.open = true;
    return c;
  }
  if (names.empty()) return by_order(wanted_names(sides), sides, "data.columns");
  const bool numbers = std::all_of(names.begin(), names.end(), [](const auto& n) { return index_of_number(n) >= 0; });
  if (several && !numbers)
    fail(ErrorKind::recipe, "data.columns = [{}]: there is no header that has these names\n  fix: {}", list_of(names),
         "set data.header = true, or give numbers from 1: texts, then answers");
  return numbers ? picked(names, {}, sides, options.answers, "") : by_order(names, sides, "data.columns");
}

}  // namespace attune
