// attune translate: a line in, a line out.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <optional>

#include "attune/error.h"
#include "attune/lines.h"
#include "attune/text.h"
#include "attune/translator.h"
#include "cli/input.h"
#include "cli/line_editor.h"
#include "cli/output.h"
#include "cli/progress_text.h"
#include "cli/search_options.h"
#include "cli/session.h"
#include "cli/tell.h"
#include "cli/terminal.h"

namespace attune::cli {

namespace {

struct TranslateArguments {
  std::string model, file = "-", format = "auto", align_to, prefix;
  std::string alignment;  // "": none; "hard", "soft"
  TranslateOptions options;
  bool scores = false, stream = false;
};

std::string pharaoh(const WordPairs& pairs) {
  std::string out;
  for (const auto& [source, target] : pairs) out += fmt::format("{}{}-{}", out.empty() ? "" : " ", source, target);
  return out;
}

List list_of(const WordPairs& pairs) {
  List list;
  for (const auto& [source, target] : pairs) list.push_back(List{source, target});
  return list;
}

/// A row for each piece of the translation, its numbers separated by commas.
std::string soft(const Translation& t) {
  std::string out;
  const size_t columns = t.source_tokens.size();
  for (size_t i = 0; i < t.attention.size(); ++i)
    out += fmt::format("{}{:.6g}", i == 0 ? "" : i % columns == 0 ? " " : ",", t.attention[i]);
  return out;
}

List rows_of(const Translation& t) {
  List rows;
  const std::vector<double> numbers(t.attention.begin(), t.attention.end());
  const auto columns = static_cast<ptrdiff_t>(t.source_tokens.size());
  for (auto row = numbers.begin(); row != numbers.end(); row += columns) rows.push_back(List(row, row + columns));
  return rows;
}

Record record_of(const Translation& t) {
  List scores;
  for (const double x : t.token_scores) scores.push_back(x);
  Record r{{"text", t.text},
           {"score", t.score},
           {"tokens", t.tokens},
           {"token_scores", scores},
           {"alignment", list_of(t.alignment)}};
  if (!t.source_tokens.empty()) {
    r.emplace_back("source_tokens", t.source_tokens);
    r.emplace_back("attention", rows_of(t));
  }
  return r;
}

std::string json_line(const Translation& t) {
  Record r = record_of(t);
  if (!t.others.empty()) {
    List all{record_of(t)};
    for (const Translation& o : t.others) all.push_back(record_of(o));
    r.emplace_back("n_best", all);
  }
  if (t.cropped) r.emplace_back("cropped", true);
  if (t.cut > 0) r.emplace_back("cut", t.cut);
  if (t.cut_off) r.emplace_back("cut_off", true);
  return to_json(r) + "\n";
}

/// `0 ||| text ||| score` for n-best lists; otherwise the text and what else was asked for.
std::string plain_lines(const Translation& t, const TranslateArguments& a, int64_t line) {
  const auto fields = [&](const Translation& x) {
    std::string out = a.options.n_best > 1 ? fmt::format("{} ||| {}", line, x.text) : x.text;
    if (a.options.n_best > 1 || a.scores) out += fmt::format(" ||| {:.6f}", x.score);
    if (!a.alignment.empty()) out += " ||| " + (a.alignment == "soft" ? soft(x) : pharaoh(x.alignment));
    return out + "\n";
  };
  std::string out = fields(t);
  for (const Translation& o : t.others) out += fields(o);
  return out;
}

[[noreturn]] void fail_twice() {
  throw Error(ErrorKind::usage,
              "the standard input (-) can be read only once\n  fix: put one of the texts into a file");
}

/// Alignments of translations that are there already.
void align(const TranslateArguments& a, const Translator& translator, const Session& session) {
  if (a.file == "-" && a.align_to == "-") fail_twice();
  TextLines sources({a.file}), targets({a.align_to});
  std::vector<std::string> lines, translations;
  for (bool more = true; more;) {
    lines.clear();
    translations.clear();
    for (std::string source, target; lines.size() < kChunkLines;) {
      const bool has_source = sources.next(source), has_target = targets.next(target);
      more = has_source && has_target;
      if (has_source != has_target)
        throw Error(ErrorKind::data, fmt::format("{} ends before {}\n  fix: a line must stand for a line",
                                                 has_source ? a.align_to : a.file, has_source ? a.file : a.align_to));
      if (!more) break;
      lines.push_back(source);
      translations.push_back(target);
    }
    const std::vector<WordPairs> all = translator.align(lines, translations, a.options.align_by);
    for (size_t i = 0; i < all.size(); ++i)
      print(session.json ? to_json({{"text", translations[i]}, {"alignment", list_of(all[i])}}) + "\n"
                         : pharaoh(all[i]) + "\n");
  }
}

/// A bar on stderr for whoever translates a file and watches.
class FileProgress {
 public:
  FileProgress(const std::string& file, const Session& session) {
    std::error_code ignored;
    if (session.quiet || !is_live(STDERR_FILENO) || is_live(STDOUT_FILENO)) return;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    TextLines lines({file});
    for (std::string line; lines.next(line);) ++total_;
  }
  explicit operator bool() const { return total_ > 0; }
  void add(int64_t lines) {
    done_ += lines;
    const double now = seconds();
    if (now - shown_ < 0.1) return;
    shown_ = now;
    const int width = terminal_columns(STDERR_FILENO);
    const std::string text = lines_line(done_, total_, now, width);
    line_.show(painted(text, {has_colours(STDERR_FILENO)}), static_cast<int>(text.size()));
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  void finish() { line_.clear(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t done_ = 0, total_ = 0;
  double shown_ = -1;
  LiveLine line_;
};

/// Writes translations: whole, or with --stream word by word, which is what of them is certain.
class Writer {
 public:
  Writer(const TranslateArguments& a, const Session& session)
      : a_(a), session_(session), streams_(a.stream && a.options.n_best == 1 && !session.json) {}
  bool streams() const { return streams_; }
  /// Before a line is translated that may be streamed.
  void watch(TranslateOptions& options) {
    if (!streams_) return;
    options.on_token = [this](const StreamedToken& t) {
      print(t.text);
      finish_output();
      told_ += t.text;
      return true;
    };
  }
  void write(const Translation& t, int64_t line) {
    const std::string all = session_.json ? json_line(t) : plain_lines(t, a_, line);
    print(all.starts_with(told_) ? all.substr(told_.size()) : "\n" + all);
    told_.clear();
  }

 private:
  const TranslateArguments& a_;
  const Session& session_;
  bool streams_;
  std::string told_;  // of the line at hand
};

/// A line typed, a line said.
void talk(Writer& writer, const Translator& translator, TranslateOptions options, const Session& session) {
  if (!session.quiet) tell("{} to {}; Ctrl-D ends\n", translator.languages().first, translator.languages().second);
  LineEditor editor(translator.languages().first + "> ");
  writer.watch(options);
  for (std::string line; editor.next(line); ++options.first_line) {
    writer.write(translator.translate(line, options), static_cast<int64_t>(options.first_line));
    finish_output();
  }
  if (!session.quiet) tell("\n");
}

void run_translate(const TranslateArguments& a, const Session& session) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(a.model, ignored) && std::filesystem::is_directory(a.file, ignored))
    throw Error(ErrorKind::usage, fmt::format("{} is no model, but {} is a folder\n  fix: attune translate {} {}",
                                              a.model, a.file, a.file, a.model));
  const Translator translator(a.model, session.thread_count());
  if (!a.align_to.empty()) return align(a, translator, session);
  TranslateOptions options = a.options;
  options.alignment = a.alignment == "hard" || session.json;
  options.attention = a.alignment == "soft";
  translator.translate(std::vector<std::string>{}, options);  // options that do not go together are told at once
  Writer writer(a, session);
  if (a.file == "-" && a.prefix.empty() && is_live(STDIN_FILENO) && is_live(STDERR_FILENO))
    return talk(writer, translator, options, session);
  if (a.file == "-" && a.prefix == "-") fail_twice();
  FileProgress progress(a.file, session);
  if (progress) options.on_lines = [&](int64_t lines) { progress.add(lines); };
  writer.watch(options);
  const size_t most = writer.streams() ? 1 : kChunkLines;
  InputTexts reader = open_input({a.model, a.file, a.format}, session);
  std::optional<TextLines> prefixes;
  if (!a.prefix.empty()) prefixes.emplace(std::vector<std::string>{a.prefix});
  int64_t done = 0, cropped = 0, cut = 0, pieces = 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.clear();
    options.prefixes.clear();
    options.first_line = static_cast<uint64_t>(done);
    size_t bytes = 0;
    do {
      bytes += line.size();
      lines.push_back(std::move(line));
      if (!prefixes) continue;
      if (std::string prefix; prefixes->next(prefix))
        options.prefixes.push_back(std::move(prefix));
      else
        throw Error(ErrorKind::data, fmt::format("{} ends before {}\n  fix: a line for each, empty where a translation "
                                                 "may begin as it likes",
                                                 a.prefix, a.file));
    } while (lines.size() < most && bytes < kChunkBytes && reader.ready() && reader.next(line));
    for (const Translation& t : translator.translate(lines, options)) {
      writer.write(t, done);
      cropped += t.cropped;
      cut += t.cut > 0;
      pieces += t.cut;
      ++done;
    }
    finish_output();  // whoever waits for it gets it
  }
  progress.finish();
  if (session.quiet) return;
  note_cropped(cropped, translator.longest());
  if (cut > 0)
    tell(
        "note: {} line{} more than {} tokens, the most this model has learned to read: translated in {} "
        "pieces{}\n",
        thousands(cut), cut == 1 ? " had" : "s had", thousands(translator.longest_whole()), thousands(pieces),
        a.alignment == "soft" ? ", without how much they looked at what" : "");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tell("{} line{} in {:.1f} s\n", thousands(done), done == 1 ? "" : "s", seconds);
  tell_notes(reader, session);
}

}  // namespace

void add_translate(CLI::App& app, Session& session) {
  auto a = std::make_shared<TranslateArguments>();
  CLI::App* command =
      add_command(app, session, "translate", "translate lines with a trained model",
                  "  attune translate model test.en > test.de\n"
                  "  attune translate model 'A dog runs.' --beam 10 --n-best 3\n"
                  "  attune translate model test.en --alignment --scores --json\n"
                  "  attune translate model,other test.en --sample --top-p 0.9 --n-best 3\n"
                  "  attune translate model test.en --align-to test.de | attune metric aer --ref test.align");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder; several, separated by commas, are an ensemble")->required();
  command->add_option("FILE", a->file,
                      "a sentence a line, plain or .gz; or rows as the recipe reads them; - is stdin, and the default; "
                      "or the sentence itself");
  add_input_format(command, a->format);
  add_search_options(command, a->options);
  command->add_option("--n-best", a->options.n_best, "translations a line: NUMBER ||| text ||| score (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--prefix", a->prefix, "how the translations begin, a line for each")->type_name("FILE");
  command
      ->add_flag(
          "--alignment{hard}", a->alignment,
          "add which word came from which: ... ||| 0-0 1-2; --alignment=soft: how much each piece looked at each")
      ->check(CLI::IsMember({"hard", "soft"}));
  command->add_option("--alignment-layer", a->options.align_by.layer, "the decoder's layer that tells it, from 0")
      ->type_name("L")
      ->check(CLI::Range(0, 1 << 16));
  command->add_option("--alignment-heads", a->options.align_by.heads, "the mean of these heads of it, from 0")
      ->type_name("H,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 1 << 16));
  command->add_flag("--stream", a->stream, "write words of a line as soon as they are certain");
  CLI::Option* align_to =
      command
          ->add_option("--align-to", a->align_to,
                       "translate nothing: which words of these translations came from which, a line for each")
          ->type_name("FILE");
  for (const char* other : {"--n-best", "--beam", "--length-penalty", "--alignment", "--prefix", "--sample"})
    align_to->excludes(command->get_option(other));
  command->add_flag("!--no-cut", a->options.cut,
                    "read lines that are longer than what the model has learned to read as they are, not in pieces");
  command->add_flag("!--no-shortlist", a->options.shortlist, "look at all words, where the model has a shortlist");
  command->add_flag("--scores", a->scores, "add the length-normalised log-probability: ... ||| -0.5");
  set_work(command, session, [&session, a] { run_translate(*a, session); });
}

}  // namespace attune::cli
