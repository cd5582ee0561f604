#include "advise/tag_columns.h"

#include <algorithm>

#include "advise/file_roles.h"
#include "base/error.h"
#include "base/text.h"
#include "data/files/records.h"

namespace attune {

namespace {

constexpr int kSentencesLookedAt = 1000;

/// What the entries of a column are like.
struct TagColumn {
  int64_t entries = 0, texts = 0;          // texts: entries of several words, which the reader joins by "_"
  bool spans = true;                       // all are O, B-X, I-X, E-X, S-X (or L-X, U-X)
  bool counts = true;                      // 1, 2, 3 ... in each sentence
  int64_t inside = 0;                      // entries that are not O
  int64_t begun_by_b = 0, begun_by_i = 0;  // spans
};

bool is_span_tag(std::string_view tag) {
  constexpr std::string_view kPlaces = "BIESLU";
  return tag == "O" || (tag.size() > 2 && tag[1] == '-' && kPlaces.find(tag[0]) != std::string_view::npos);
}

void look_at_sentence(std::string_view entries, TagColumn& column) {
  int64_t number = 0;
  std::string_view before = "O";
  for (const std::string_view tag : words_of(entries)) {
    ++column.entries;
    column.texts += tag.find('_') != tag.npos && tag.size() > 3;
    column.counts &= tag == std::to_string(++number);
    column.spans &= is_span_tag(tag);
    column.inside += tag != "O";
    column.begun_by_b += tag.starts_with("B-");
    column.begun_by_i += tag.starts_with("I-") && (before.size() < 3 || before.substr(2) != tag.substr(2));
    before = tag;
  }
}

std::vector<TagColumn> look_at_tags(const std::string& file, const DataSettings& d) {
  const auto reader = open_records(file, d);
  std::vector<TagColumn> columns;
  Record row;
  for (int i = 0; i < kSentencesLookedAt && reader->next(row); ++i) {
    if (columns.empty()) columns.resize(row.size());
    for (size_t c = 0; c < std::min(row.size(), columns.size()); ++c) look_at_sentence(row[c], columns[c]);
  }
  return columns;
}

void tell_spans(const std::string& file, const TagColumn& labels, ColumnsLook& look) {
  look.spans = true;
  look.notes.push_back(
      "labels are those of spans (B-, I-, O): judged by the F1 of whole spans, and decoded to well-formed ones");
  if (labels.begun_by_i <= labels.begun_by_b || labels.begun_by_b == 0) return;
  look.notes.push_back(fmt::format(
      "spans of {} begin with I- (IOB1), and B- is only for one right behind another: what is decoded begins with B-. "
      "Convert the files first: awk '{{t=$NF; if(t~/^I-/&&substr(p,3)!=substr(t,3))$NF=\"B-\"substr(t,3); p=NF?t:\"\"; "
      "print}}' {} > {}.iob2",
      file, shell_word(file), shell_word(file)));
}

}  // namespace

ColumnsLook describe_tags(const std::string& file, const std::vector<std::string>& wanted, DataSettings& d) {
  ColumnsLook look;
  d.format = DataFormat::conll;
  const std::vector<TagColumn> columns = look_at_tags(file, d);
  if (columns.size() == 1)
    fail(ErrorKind::data, "{} has one column\n  fix: {}", file,
         "write a word, a tab and its label a line, and an empty line between sentences");
  if (columns.empty()) return look;
  for (size_t c = 0; c < std::min<size_t>(2, columns.size()); ++c)
    if (columns[c].entries > 20 && 2 * columns[c].texts > columns[c].entries)
      fail(ErrorKind::data, "{} has texts in column {}, not a word a line\n  fix: attune new classify {}", file, c + 1,
           shell_word(file));
  size_t label = columns.size() - 1;
  if (!wanted.empty()) {
    d.columns.texts = wanted;
    const Columns said = find_columns(d, Sides::answers, nullptr, "--columns");
    label = said.text.back();
    if (label >= columns.size())
      fail(ErrorKind::usage, "--columns names number {}, {} has {} columns\n  fix: take numbers from 1", label + 1,
           file, columns.size());
    look.reasons["data.columns"] = "as --columns says";
  } else if (columns.size() == 10 && columns[0].counts) {  // CoNLL-U: form and upos, which is the default
    return look;
  } else {
    for (size_t c = columns.size(); c-- > 1;)  // of several with spans, the one that has most
      if (columns[c].spans && columns[c].inside > (columns[label].spans ? columns[label].inside : 0)) label = c;
    const size_t word = columns[0].counts && columns.size() > 2 ? 1 : 0;
    d.columns.texts = {std::to_string(word + 1), std::to_string(label + 1)};
    if (columns.size() > 2)
      look.reasons["data.columns"] = fmt::format("word, label: {}", columns[label].spans && columns[label].inside > 0
                                                                        ? "the column of spans, B- and I-"
                                                                        : "the last column");
  }
  if (columns[label].spans && columns[label].inside > 0) tell_spans(file, columns[label], look);
  return look;
}

}  // namespace attune
