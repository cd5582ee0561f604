#include "advise/columns_look.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "advise/column_names.h"
#include "advise/file_roles.h"
#include "advise/tag_columns.h"
#include "base/error.h"
#include "base/text.h"
#include "data/files/records.h"

namespace attune {

namespace {

using Row = std::vector<std::string>;
constexpr int kRowsLookedAt = 1000;
constexpr size_t kManyNumbers = 20;

std::vector<Row> first_rows(const std::string& file, const DataSettings& data, int most) {
  const auto reader = open_records(file, data);
  std::vector<Row> rows;
  for (Record row; std::ssize(rows) < most && reader->next(row);) {
    if (row.size() == 1 && trim(row[0]).empty()) continue;
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

/// The share of rows that have as many columns as the first, which has several.
double regularity(const std::vector<Row>& rows) {
  if (rows.empty() || rows[0].size() < 2) return 0;
  const auto same = std::count_if(rows.begin(), rows.end(), [&](const Row& r) { return r.size() == rows[0].size(); });
  return static_cast<double>(same) / static_cast<double>(rows.size());
}

std::vector<Row> rows_by(const std::string& file, DataSettings data, const char* delimiter) try {
  data.delimiter = delimiter;
  return first_rows(file, data, 200);
} catch (const Error&) { return {}; }  // quotes that do not close: it is another

/// The format and what separates the columns.
void find_delimiter(const std::string& file, Task task, DataSettings& d, ColumnsLook& look) {
  const bool csv = plain_name(file).ends_with(".csv");
  d.format = csv ? DataFormat::csv : DataFormat::tsv;
  const double own = regularity(rows_by(file, d, "auto"));
  if (!csv && own > 0) return;
  DataSettings quoted = d;
  quoted.format = DataFormat::csv;
  for (const char* c : {"\t", ";", "|", ","}) {
    const std::vector<Row> rows = rows_by(file, quoted, c);
    const double found = regularity(rows);
    // Commas stand in every text: where the name does not tell, the first row must.
    if (found < 0.95 || found < own || *c == (csv ? ',' : '\t')) continue;
    if (!csv && !looks_like_header(rows[0], task)) continue;
    d.format = DataFormat::csv;
    if (*c == ',') return;
    d.delimiter = c;
    look.reasons["data.delimiter"] = "what separates the columns, as the rows show";
    return;
  }
}

/// Something that stands in the first row and again below it is no name.
bool comes_again(const std::vector<Row>& rows) {
  for (size_t i = 1; i < rows.size(); ++i)
    for (size_t c = 0; c < std::min(rows[i].size(), rows[0].size()); ++c)
      if (!rows[0][c].empty() && rows[i][c] == rows[0][c]) return true;
  return false;
}

bool is_number(const std::string& text) {
  const std::string number = with_decimal_point(trim(text));
  char* end = nullptr;
  return !number.empty() && std::isfinite(std::strtod(number.c_str(), &end)) && *end == 0;
}

/// What a column holds, the header not counted.
struct ColumnLook {
  std::set<std::string> different;
  bool whole = true, numbers = true, fractions = false;
  int64_t words = 0;
};
std::vector<ColumnLook> look_at_columns(const std::vector<Row>& rows, size_t from) {
  std::vector<ColumnLook> all(rows[0].size());
  for (size_t i = from; i < rows.size(); ++i)
    for (size_t c = 0; c < std::min(rows[i].size(), all.size()); ++c) {
      const std::string cell(trim(rows[i][c]));
      all[c].whole &= !cell.empty() && cell.find_first_not_of("0123456789") == std::string::npos;
      all[c].numbers &= is_number(cell);
      all[c].fractions |= cell.find_first_of(".,") != std::string::npos;
      all[c].words += std::ssize(words_of(cell));
      all[c].different.insert(cell);
    }
  return all;
}

/// Whether a column has few values that all come again, as labels do.
bool holds_labels(const std::vector<Row>& rows, const ColumnLook& column, size_t from) {
  return rows.size() >= from + 8 && 3 * column.different.size() <= rows.size() - from;
}

/// Names that nobody knows: the column of labels has one in its first row that is no label below it, or a column counts
/// the rows from the second on.
bool header_by_content(const std::vector<Row>& rows) {
  if (!may_be_names(rows[0])) return false;
  const std::vector<ColumnLook> looks = look_at_columns(rows, 1);
  for (size_t c = 0; c < looks.size(); ++c) {
    const std::string first(trim(rows[0][c]));
    const bool counts = c == 0 && rows.size() > 4 && looks[c].whole && looks[c].different.size() == rows.size() - 1;
    if (counts || (holds_labels(rows, looks[c], 1) && looks[c].different.count(first) == 0)) return true;
  }
  return false;
}

std::string quoted_names(const Row& names) {
  Row quoted;
  for (const std::string& n : names) quoted.push_back("\"" + std::string(trim(n)) + "\"");
  return join(quoted, ", ");
}

/// How somebody may say it, by what the columns hold: names where there are such, else numbers.
std::string example_of(const std::vector<ColumnLook>& looks, const Row* header, Task task) {
  const auto name = [&](size_t c) { return header ? std::string(trim((*header)[c])) : std::to_string(c + 1); };
  size_t text = 0, label = looks.size();
  for (size_t c = 0; c < looks.size(); ++c)
    if (looks[c].words > looks[text].words) text = c;
  for (size_t c = 0; c < looks.size(); ++c)
    if (c != text && (label == looks.size() || looks[c].different.size() < looks[label].different.size())) label = c;
  const bool one = task == Task::language || label == looks.size();
  const std::string said = one ? name(text) : name(text) + "," + name(label);
  return said.find(' ') == std::string::npos ? said : "'" + said + "'";
}

const char* wanted_of(Task task) {
  return task == Task::translate  ? "are source and target"
         : task == Task::language ? "is the text"
                                  : "are the text and the label";
}

/// --columns: names of the header, or numbers from 1.
void take_wanted(const std::string& file, Task task, const Row& wanted, const std::vector<Row>& rows, DataSettings& d) {
  Row names;
  for (const std::string& cell : rows[0]) names.emplace_back(trim(cell));
  const auto is_place = [](const std::string& s) {
    return !s.empty() && s.size() < 5 && s.find_first_not_of("0123456789") == std::string::npos;
  };
  for (const std::string& w : wanted) {
    const bool named = std::count(names.begin(), names.end(), w) > 0;
    if (named && !is_place(w)) d.header = true;
    if (named || (is_place(w) && w != "0" && static_cast<size_t>(std::stoi(w)) <= names.size())) continue;
    const std::string near = closest_name(w, names);
    fail(ErrorKind::usage, "--columns names \"{}\", the columns of {} are {}\n  fix: {}", w, file, quoted_names(names),
         near.empty() ? "take names of these, or numbers from 1" : "did you mean \"" + near + "\"?");
  }
  const size_t least = task == Task::language ? 1 : 2, most = task == Task::classify ? 4 : least + 1;
  if (wanted.size() < least || wanted.size() > most)
    fail(ErrorKind::usage, "--columns names {} column{}\n  fix: {}", wanted.size(), wanted.size() == 1 ? "" : "s",
         task == Task::classify    ? "name a text or two, then the label: --columns text,label"
         : task == Task::translate ? "name two: --columns source,target"
         : task == Task::tag       ? "name two: --columns form,upos"
                                   : "name one: --columns text");
  d.columns.texts = wanted;
}

void take_header(const std::string& file, Task task, const std::vector<Row>& rows, DataSettings& d, ColumnsLook& look) {
  const Row& header = rows[0];
  ChosenColumns c = choose_by_names(header, task);
  if (!c.clear && task == Task::classify && header.size() == 2) {  // what they hold tells
    const std::vector<ColumnLook> looks = look_at_columns(rows, 1);
    const bool labels[] = {holds_labels(rows, looks[0], 1), holds_labels(rows, looks[1], 1)};
    if (labels[0] != labels[1]) c = {.texts = {labels[0] ? 1u : 0u}, .label = labels[0] ? 0 : 1, .clear = true};
  }
  if (!c.clear)
    fail(ErrorKind::usage, "{}:1: which of {} {}?\n  fix: say it: --columns {}", file, quoted_names(header),
         wanted_of(task), example_of(look_at_columns(rows, 1), &header, task));
  std::vector<size_t> used = c.texts;
  for (const int other : {c.label, c.weight})
    if (other >= 0) used.push_back(static_cast<size_t>(other));
  Row names, unread;
  for (const size_t i : used) names.emplace_back(trim(header[i]));
  for (size_t i = 0; i < header.size(); ++i)
    if (std::count(used.begin(), used.end(), i) == 0) unread.push_back(header[i]);
  const bool nameless = std::any_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); });
  for (size_t i = 0; i < names.size() && nameless; ++i) names[i] = std::to_string(used[i] + 1);
  d.header = true;
  d.columns.texts = names;
  if (task == Task::translate && kind_of_column(names[0], task) == ColumnKind::text) d.languages = {names[0], names[1]};
  look.compared = c.compared;
  const char* what = task == Task::translate  ? "source, target"
                     : task == Task::language ? "the text"
                                              : "texts, then the label";
  look.reasons["data.columns"] = fmt::format("by the names in the header: {}", what);
  look.notes.push_back(fmt::format("columns by the header: {}{}{}", quoted_names(names),
                                   unread.empty() ? "" : "; not read: ", unread.empty() ? "" : quoted_names(unread)));
}

/// Without names, of texts and labels: the label is first or last, and has fewer different values.
void take_by_content(const std::string& file, const std::vector<Row>& rows, DataSettings& d, ColumnsLook& look) {
  const std::vector<ColumnLook> looks = look_at_columns(rows, 0);
  std::vector<size_t> left(looks.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  const bool ids = looks.size() > 2 && rows.size() > 2 && looks[0].whole && looks[0].different.size() == rows.size();
  if (ids) left.erase(left.begin());
  if (left.size() > 3)
    fail(ErrorKind::usage, "{} has {} columns: which are the text and the label?\n  fix: say it: --columns {}", file,
         looks.size(), example_of(looks, nullptr, Task::classify));
  const bool first = looks[left[0]].different.size() <= looks[left.back()].different.size();
  look.compared = left.size() == 3;
  const size_t label = first ? left.front() : left.back();
  look.notes.push_back(fmt::format("no names of columns: column {} is the label, {} the text{}", label + 1,
                                   left.size() == 2 ? fmt::format("{}", (first ? left[1] : left[0]) + 1)
                                   : first          ? fmt::format("{} and {}", left[1] + 1, left[2] + 1)
                                                    : fmt::format("{} and {}", left[0] + 1, left[1] + 1),
                                   left.size() == 2 ? "" : "s"));
  if (first && !ids) return;  // the label is first, as is usual
  if (first) std::rotate(left.begin(), left.begin() + 1, left.end());
  for (const size_t c : left) d.columns.texts.push_back(std::to_string(c + 1));
  if (!ids) return;
  look.reasons["data.columns"] = "texts, then the label; the first column numbers the rows";
  look.notes.push_back("the first column numbers the rows, and is not read");
}

/// Whether the answers are numbers, so many different ones that they are no labels.
void look_for_numbers(const std::vector<Row>& rows, const DataSettings& d, ColumnsLook& look) {
  const std::vector<ColumnLook> looks = look_at_columns(rows, d.header ? 1 : 0);
  Record header;
  for (const std::string& cell : rows[0]) header.push_back(cell);
  const Columns c = find_columns(d, Sides::answers, d.header ? &header : nullptr, "data.columns");
  const ColumnLook& answers = looks[c.text.back()];
  look.numbers = answers.numbers && answers.fractions && answers.different.size() > kManyNumbers;
}

/// A word and its label a line, an empty line behind each sentence.
void refuse_sentences(const std::string& file, const std::vector<Row>& rows, const DataSettings& d) {
  constexpr int kLinesLookedAt = 2000;
  if (rows.size() < 20 || !std::ranges::all_of(rows, [](const Row& r) {
        return std::ranges::all_of(r, [](const std::string& cell) { return words_of(cell).size() < 2; });
      }))
    return;
  const auto reader = open_records(file, d);
  int empty = 0;
  Record row;
  for (int i = 0; i < kLinesLookedAt && reader->next(row); ++i) empty += row.size() == 1 && trim(row[0]).empty();
  if (empty > 2)
    fail(ErrorKind::data, "{} has a word a line, and empty lines between sentences\n  fix: attune new tag {}", file,
         shell_word(file));
}

[[noreturn]] void fail_one_column(const std::string& file, const std::vector<Row>& rows) {
  std::set<std::string> first;
  for (const Row& r : rows)
    if (const auto words = words_of(r[0]); !words.empty()) first.emplace(words[0]);
  const std::string name = plain_name(file);
  const auto first_line = rows.empty() ? std::string_view() : trim(rows[0][0]);
  if (name.ends_with(".json") || name.ends_with(".jsonl") ||
      (first_line.starts_with("{\"") && first_line.ends_with('}')))
    fail(ErrorKind::data, "{} looks like JSON\n  fix: write a label, a tab and the text a line", file);
  for (const Row& r : rows)
    if (const size_t end = r[0].find('\r'); end != std::string::npos && end + 1 < r[0].size())
      fail(ErrorKind::data, "{} has lines that end in a carriage return alone\n  fix: {}tr '\\r' '\\n'{} > {}", file,
           file.ends_with(".gz") ? "zcat " + shell_word(file) + " | " : "",
           file.ends_with(".gz") ? "" : " < " + shell_word(file), shell_word("lines-" + std::string(name)));
  const bool label = !name.ends_with(".csv") && rows.size() > 2 && 4 * first.size() <= rows.size() + 4;
  fail(ErrorKind::data, "{} has one column\n  fix: {}", file,
       label ? fmt::format("the label seems to be the first word; put a tab behind it: {} {} | sed 's/ /\\t/' > {}.tsv",
                           file.ends_with(".gz") ? "zcat" : "cat", shell_word(file), plain_name(file))
             : "write a label, a tab and the text a line");
}

}  // namespace

ColumnsLook describe_columns(const std::string& file, Task task, const Row& wanted, DataSettings& d) {
  ColumnsLook look;
  if (task == Task::tag) return describe_tags(file, wanted, d);
  const bool table = plain_name(file).ends_with(".csv") || plain_name(file).ends_with(".tsv");
  if (task != Task::classify && d.format == DataFormat::lines && !table) {
    if (!wanted.empty())
      fail(ErrorKind::usage, "--columns, and {} is a file of lines\n  fix: name a file of columns (.tsv, .csv)", file);
    return look;
  }
  find_delimiter(file, task, d, look);
  const std::vector<Row> rows = first_rows(file, d, kRowsLookedAt);
  const bool columns = !rows.empty() && rows[0].size() > 1;
  if (!rows.empty() && !columns && task == Task::classify) fail_one_column(file, rows);
  if (!columns && task == Task::language) d.format = DataFormat::lines;
  if (!columns) return look;
  if (task == Task::classify) refuse_sentences(file, rows, d);
  const bool header =
      (looks_like_header(rows[0], task) || (task == Task::classify && header_by_content(rows))) && !comes_again(rows);
  if (!wanted.empty()) {
    d.header = header;
    take_wanted(file, task, wanted, rows, d);
    const auto weights = std::count(wanted.begin(), wanted.end(), "weight");
    look.compared = task == Task::classify && std::ssize(wanted) - weights > 2;
    look.reasons["data.columns"] = "as --columns says";
  } else if (header) {
    take_header(file, task, rows, d, look);
  } else if (task == Task::classify) {
    take_by_content(file, rows, d, look);
  } else if (task == Task::language) {
    fail(ErrorKind::usage, "{} has {} columns: which is the text?\n  fix: say it: --columns {}", file, rows[0].size(),
         example_of(look_at_columns(rows, 0), nullptr, task));
  }
  if (task == Task::classify) look_for_numbers(rows, d, look);
  return look;
}

void check_same_columns(const DataSettings& d) {
  const auto width_of = [&](const std::string& file) {
    const std::vector<Row> rows = first_rows(file, d, 1);
    return rows.empty() ? size_t{0} : rows[0].size();
  };
  const size_t wanted = width_of(d.train[0]);
  std::vector<std::string> files(d.train.begin(), d.train.end());
  for (const auto* more : {&d.valid, &d.test}) files.insert(files.end(), more->begin(), more->end());
  for (const std::string& file : files)
    if (const size_t width = width_of(file); width != wanted && width > 0)
      fail(ErrorKind::data,
           "{} has {} columns, and {} has {}: one data.columns serves all files\n  fix: leave it out, or give it the "
           "columns of the others",
           file, width, d.train[0], wanted);
}

}  // namespace attune
