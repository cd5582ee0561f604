#include "attune/input.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/model_folder.h"
#include "data/corpus/answers.h"
#include "data/files/text_rows.h"
#include "text/utf8.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFormats[] = {"lines", "tsv", "csv", "conll"};  // as DataFormat has them

std::string ending_of(const std::string& file) {
  fs::path path(file);
  if (path.extension() == ".gz") path.replace_extension();
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

bool is_named_as(const std::string& file, DataFormat format) {
  const std::string ending = ending_of(file);
  if (format == DataFormat::csv) return ending == ".csv";
  if (format == DataFormat::tsv) return ending == ".tsv" || ending == ".tab";
  return ending.starts_with(".conll") || ending.starts_with(".iob") || ending.starts_with(".bio");
}

/// "texts/a.txt", "test.en": no text that somebody would write.
bool looks_like_a_path(const std::string& input) {
  const bool blanks = input.find_first_of(" \t\n") != std::string::npos;
  const std::string ending = ending_of(input);
  constexpr const char* kOfFiles[] = {".txt", ".csv", ".tsv", ".conll", ".conllu", ".json", ".jsonl", ".md", ".xml"};
  if (blanks) return std::find(std::begin(kOfFiles), std::end(kOfFiles), ending) != std::end(kOfFiles);
  const bool has_ending = ending.size() > 1 && ending.size() <= 7 && ending.find_first_not_of('.') != std::string::npos;
  return has_ending || input.find('/') != std::string::npos || input.ends_with(".gz");
}

bool is_there(const std::string& input) {
  std::error_code ignored;
  return input == "-" || fs::exists(fs::symlink_status(input, ignored));
}

[[noreturn]] void fail_missing(const std::string& input, const std::string& advice) {
  try {
    TextFile opened(input);  // says what else there is
  } catch (const Error& e) {
    const std::string what = e.what();
    throw Error(e.kind(), what + (advice.empty() ? "" : (what.ends_with('?') ? " Or " : "; or ") + advice));
  }
  fail(ErrorKind::io, "cannot read {}", input);
}

Recipe first_recipe(const std::string& models) {
  return load_recipe(models.substr(0, models.find(',')) + "/" + kRecipeName);
}

WantedTexts wanted_by(const Recipe& recipe, const std::string& models, bool pairs) {
  WantedTexts w{sides_of(recipe.task), pairs, {}};
  const std::string folder = models.substr(0, models.find(',')) + "/" + kTokenizerName;
  if (w.sides != Sides::answers || !fs::exists(folder + "/" + text::Labels::kFile)) return w;
  const std::vector<std::string> heads = kinds_of_head(recipe.model.head);
  const Answers answers(heads, std::make_shared<const text::Labels>(text::Labels::load(folder)));
  w.knows = [answers, none = recipe.data.empty_answers](std::string_view text) {
    const std::vector<int32_t> read = answers.read(text);
    return (none || !read.empty()) && std::count(read.begin(), read.end(), text::Labels::kUnseen) == 0;
  };
  return w;
}

}  // namespace

struct InputTexts::Body {
  std::string name;  // "" of a text
  std::unique_ptr<LineReader> lines;
  std::unique_ptr<TextRows> rows;
  std::vector<std::string> texts;  // given instead of a file
  std::string how;
  int64_t count = 0;
  Tally broken, zeros;
  RowSuspicion suspicion;
  std::string recipe_format;

  void open_text(const std::string& input) {
    texts = split(input, '\n');
    if (input.find_first_of(" \t\n") == std::string::npos)
      how = fmt::format("there is no file \"{}\": it is taken for the text itself", input);
  }

  void open_rows(const DataSettings& data, const WantedTexts& wanted, bool alone, bool asked) {
    rows = std::make_unique<TextRows>(name, data, wanted, alone);
    const char* format = kFormats[static_cast<size_t>(data.format)];
    how = fmt::format("{} is read as {}, {}{}: {}", name == "-" ? "stdin" : name, format, rows->columns_text(),
                      data.format == DataFormat::conll ? " the words" : " the text",
                      asked ? "the rest is left out" : "as the recipe does; --input-format lines reads whole lines");
  }

  /// Rows where the recipe has such and the file is one of them.
  bool open_as_recipe(const DataSettings& data, const WantedTexts& wanted) {
    std::error_code ignored;
    if (data.format == DataFormat::lines || !fs::is_regular_file(name, ignored)) return false;
    const bool plain = data.format == DataFormat::tsv && !data.header && data.columns.texts.empty();
    if (wanted.pairs && plain) return false;  // a line is a source, a tab and a target anyway
    const bool named = is_named_as(name, data.format);
    TextRows::Look look;
    try {
      look = TextRows::look(name, data, wanted);
    } catch (const Error& e) {
      if (!named) return false;
      fail(e.kind(), "{}; or read whole lines by --input-format lines", e.what());
    }
    if (look.rows == 0) return false;
    const bool known = wanted.knows ? 2 * look.known >= look.rows : look.fit == look.rows;
    // What is called csv is csv; a line with a tab may be a pair of texts, too.
    const bool sure = data.format == DataFormat::csv || !wanted.knows || data.header;
    if (look.fit == look.rows && (known || (named && sure))) {
      open_rows(data, wanted, false, false);
      return true;
    }
    if (named && look.alone == look.rows && data.format != DataFormat::tsv) {
      open_rows(data, wanted, true, false);
      return true;
    }
    if (named && 2 * look.fit >= look.rows && (known || sure)) {  // some rows are odd: they will be counted
      open_rows(data, wanted, false, false);
      return true;
    }
    if (named && look.alone < look.rows)
      how = fmt::format(
          "{} is read as whole lines: its rows are not those of the recipe's {}; --input-format {} "
          "reads them all the same",
          name, kFormats[static_cast<size_t>(data.format)], kFormats[static_cast<size_t>(data.format)]);
    return false;
  }
};

InputTexts::InputTexts(const std::string& model, const std::string& input, const InputOptions& options)
    : body_(std::make_unique<Body>()) {
  body_->name = input;
  const auto asked = std::find(std::begin(kFormats), std::end(kFormats), options.format);
  if (asked == std::end(kFormats) && options.format != "auto")
    fail(ErrorKind::usage, "the format \"{}\" is unknown\n  fix: auto, lines, tsv, csv or conll", options.format);
  if (!is_there(input)) {
    if (looks_like_a_path(input)) fail_missing(input, options.advice);
    body_->open_text(input);
    return;
  }
  const Recipe recipe = first_recipe(model);
  const WantedTexts wanted = wanted_by(recipe, model, options.pairs);
  if (options.format == "auto" && body_->open_as_recipe(recipe.data, wanted)) return;
  if (options.format != "auto" && options.format != "lines") {
    DataSettings data = recipe.data;
    const auto format = static_cast<DataFormat>(asked - std::begin(kFormats));
    if (data.format != format) data.columns.texts.clear();  // they are those of the other format
    data.header = data.header && data.format == format;
    data.format = format;
    body_->open_rows(data, wanted, false, true);
    return;
  }
  body_->lines = std::make_unique<LineReader>(input);
  if (options.format != "auto" || !body_->how.empty()) return;
  body_->suspicion = RowSuspicion(recipe.data, wanted);
  body_->recipe_format = kFormats[std::min<size_t>(static_cast<size_t>(recipe.data.format), std::size(kFormats) - 1)];
}
InputTexts::InputTexts(InputTexts&&) noexcept = default;
InputTexts::~InputTexts() = default;

bool InputTexts::next(std::string& text) {
  if (body_->rows) {
    if (!body_->rows->next(text)) return false;
  } else if (body_->lines) {
    std::string_view line;
    if (!body_->lines->next(line)) return false;
    text = line;
    body_->suspicion.look_at(text);
  } else {
    if (body_->count == std::ssize(body_->texts)) return false;
    text = body_->texts[static_cast<size_t>(body_->count)];
  }
  ++body_->count;
  if (!text::is_utf8(text)) body_->broken.add(place());
  if (text.find('\0') != text.npos) body_->zeros.add(place());
  return true;
}

bool InputTexts::ready() const { return !body_->lines || body_->lines->ready(); }
int64_t InputTexts::count() const { return body_->count; }

std::string InputTexts::place() const {
  if (body_->lines) return body_->lines->place();
  const std::string file = body_->rows ? (body_->name == "-" ? "stdin" : body_->name) : "line";
  return fmt::format("{}{}{}", file, body_->rows ? ":" : " ", body_->rows ? body_->rows->line() : body_->count);
}

const std::string& InputTexts::how() const { return body_->how; }

std::vector<std::string> InputTexts::notes() const {
  std::vector<std::string> all;
  const auto tell = [&](const Tally& t, const char* what, const char* became) {
    if (t.count > 0)
      all.push_back(fmt::format("{} {}{} {} (first: {}): {}", thousands(t.count), body_->rows ? "row" : "line",
                                t.count == 1 ? "" : "s", what, t.places[0], became));
  };
  if (body_->count == 0) all.push_back(fmt::format("{} has no lines", body_->name == "-" ? "stdin" : body_->name));
  tell(body_->zeros, "had zero bytes", "is it a file of text?");
  tell(body_->broken, "had broken UTF-8", "U+FFFD stands for those letters");
  if (body_->rows) tell(body_->rows->odd(), "had other columns than the recipe", "read as far as their columns go");
  if (body_->suspicion.confirmed())
    all.push_back(
        fmt::format("the lines look like rows of the recipe's {}, and were read whole; --input-format {} "
                    "reads their texts alone",
                    body_->recipe_format, body_->recipe_format));
  return all;
}

}  // namespace attune
