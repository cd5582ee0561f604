#include "advise/column_names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/text.h"

namespace attune {

namespace {

using Words = std::vector<std::string>;

/// Letters and digits alone, in small ones: "goldlabel" of "gold_label".
std::string bare_name(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (const auto u = static_cast<unsigned char>(c); std::isalnum(u) || u >= 0x80)
      out += static_cast<char>(std::tolower(u));
  return out;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> known) {
  return std::find(known.begin(), known.end(), name) != known.end();
}
bool ends_with_one_of(const std::string& name, std::initializer_list<const char*> known) {
  return std::any_of(known.begin(), known.end(), [&](const char* k) { return name.ends_with(k); });
}

bool is_id(const std::string& raw, const std::string& bare) {
  return is_one_of(bare, {"", "id", "ids", "idx", "index", "guid", "uid", "uuid", "unnamed0", "rowid", "row", "no",
                          "nr", "pairid", "rownumber", "url"}) ||
         ends_with_one_of(raw, {"_id", " id", "-id", "Id", "ID", ".id"});
}

bool is_language(const std::string& bare) {
  return is_one_of(
      bare, {"en",      "de",         "fr",    "es",    "it",     "pt",      "nl",      "sv",      "da",     "no",
             "fi",      "is",         "cs",    "pl",    "sk",     "hu",      "ro",      "hr",      "sl",     "ru",
             "uk",      "bg",         "el",    "tr",    "zh",     "ja",      "ko",      "ar",      "hi",     "vi",
             "eng",     "deu",        "ger",   "fra",   "fre",    "spa",     "english", "german",  "french", "spanish",
             "italian", "portuguese", "dutch", "czech", "polish", "russian", "chinese", "japanese"});
}

bool is_text(std::string bare) {
  if (bare.size() > 1 && (is_one_of(bare.substr(bare.size() - 1), {"1", "2", "a", "b", "s"}))) {
    const std::string stem = bare.substr(0, bare.size() - 1);
    if (is_one_of(stem, {"text", "sentence", "sent", "question", "comment", "review", "tweet", "message", "document"}))
      return true;
  }
  return is_one_of(bare, {"premise", "hypothesis", "headline", "article", "utterance", "query", "abstract", "passage",
                          "phrase", "post", "doc", "news", "story", "statement", "input"}) ||
         ends_with_one_of(bare, {"text", "sentence", "review", "comment", "content", "title", "body", "question",
                                 "tweet", "message", "document", "description"});
}

bool is_label(const std::string& bare) {
  return is_one_of(bare, {"y", "tag", "stars", "rating", "target", "gold", "polarity", "emotion", "stance", "relation",
                          "labels", "classes", "categories", "tags"}) ||
         ends_with_one_of(bare,
                          {"label", "class", "category", "sentiment", "judgment", "judgement", "intent", "topic"});
}

/// "title", which belongs to the text below it.
bool is_heading(const std::string& name) { return ends_with_one_of(bare_name(name), {"title", "headline", "subject"}); }

void add_kind(const Words& header, Task task, ColumnKind kind, std::vector<size_t>& to) {
  for (size_t i = 0; i < header.size(); ++i)
    if (kind_of_column(header[i], task) == kind) to.push_back(i);
}

ChosenColumns choose_label(const Words& header, Task task, ChosenColumns c) {
  std::vector<size_t> labels, scores, rest;
  add_kind(header, task, ColumnKind::label, labels);
  add_kind(header, task, ColumnKind::score, scores);
  add_kind(header, task, ColumnKind::unknown, rest);
  if (labels.size() > 1)  // the one that is called just so
    for (const size_t i : labels)
      if (is_one_of(bare_name(header[i]), {"label", "goldlabel"})) {
        labels = {i};
        break;
      }
  if (labels.empty()) labels = scores;
  if (labels.empty() && !c.texts.empty() && rest.size() == 1) labels = rest;
  if (labels.size() != 1) return c;
  c.label = static_cast<int>(labels[0]);
  if (c.texts.empty()) {
    std::erase(rest, labels[0]);
    c.texts = rest;
  }
  c.clear = c.texts.size() == 1 || c.texts.size() == 2;
  return c;
}

}  // namespace

ColumnKind kind_of_column(const std::string& name, Task task) {
  const std::string raw(trim(name)), bare = bare_name(raw);
  if (bare == "weight") return ColumnKind::weight;
  if (task == Task::translate) {
    if (is_one_of(bare, {"source", "src", "input", "question", "text", "article"})) return ColumnKind::source;
    if (is_one_of(bare, {"target", "tgt", "trg", "output", "answer", "summary", "translation"}))
      return ColumnKind::target;
    if (is_language(bare)) return ColumnKind::text;
    return is_id(raw, bare) ? ColumnKind::id : ColumnKind::unknown;
  }
  if (is_id(raw, bare)) return ColumnKind::id;
  if (is_label(bare)) return ColumnKind::label;
  if (is_text(bare)) return ColumnKind::text;
  return ends_with_one_of(bare, {"score", "type", "value"}) ? ColumnKind::score : ColumnKind::unknown;
}

bool may_be_names(const Words& row) {
  std::set<std::string> different;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string_view cell = trim(row[i]);
    const bool number = cell.find_first_not_of("0123456789.,+-") == std::string_view::npos;
    if (cell.size() > 40 || words_of(cell).size() > 3 || cell.find_first_of("?!\"") != std::string_view::npos ||
        cell.ends_with('.') || (number && !(i == 0 && cell.empty())) || !different.insert(bare_name(cell)).second)
      return false;
  }
  return true;
}

bool looks_like_header(const Words& row, Task task) {
  if (!may_be_names(row)) return false;
  bool known = false, id = false;
  for (const std::string& cell : row) {
    const ColumnKind kind = kind_of_column(cell, task);
    id |= kind == ColumnKind::id;
    if (kind == ColumnKind::unknown && task == Task::translate) return false;
    known |= kind != ColumnKind::unknown && kind != ColumnKind::id && kind != ColumnKind::weight;
  }
  return known || (id && row.size() > 2);
}

ChosenColumns choose_by_names(const Words& header, Task task) {
  ChosenColumns c;
  for (size_t i = 0; i < header.size(); ++i)
    if (kind_of_column(header[i], task) == ColumnKind::weight) c.weight = static_cast<int>(i);
  if (task == Task::translate) {
    add_kind(header, task, ColumnKind::source, c.texts);
    add_kind(header, task, ColumnKind::target, c.texts);
    if (c.texts.empty()) add_kind(header, task, ColumnKind::text, c.texts);
    c.clear = c.texts.size() == 2;
    return c;
  }
  add_kind(header, task, ColumnKind::text, c.texts);
  if (task == Task::language) {
    c.clear = c.texts.size() == 1;
    return c;
  }
  c = choose_label(header, task, c);
  c.compared = c.texts.size() == 2 && !is_heading(header[c.texts[0]]) && !is_heading(header[c.texts[1]]);
  return c;
}

}  // namespace attune
