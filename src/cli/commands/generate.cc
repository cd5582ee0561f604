// attune generate: a language model goes on with a text.
#include "attune/generator.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "attune/error.h"
#include "attune/text.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/search_options.h"
#include "cli/session.h"
#include "cli/tell.h"
#include "cli/terminal.h"

namespace attune::cli {

namespace {

struct GenerateArguments {
  std::string model, file, stop;
  std::vector<std::string> prompts;
  GenerateOptions options;
  bool scores = false, stream = false, beam = false, sample = false;
};

/// A text in one line: its line ends as \n.
std::string in_one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

/// "\n" and "\t" as people type them.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'n' || text[i + 1] == 't');
    out += !escape ? text[i] : text[i + 1] == 'n' ? '\n' : '\t';
    i += escape;
  }
  return out;
}

Record record_of(const GeneratedText& t) {
  List scores;
  for (const double x : t.token_scores) scores.push_back(x);
  return {{"text", t.text},
          {"continuation", t.continuation},
          {"score", t.score},
          {"tokens", t.tokens},
          {"token_scores", scores}};
}

std::string json_line(const GeneratedText& t) {
  Record r = record_of(t);
  if (!t.others.empty()) {
    List all{record_of(t)};
    for (const GeneratedText& o : t.others) all.push_back(record_of(o));
    r.emplace_back("n_best", all);
  }
  if (t.cropped) r.emplace_back("cropped", true);
  if (t.cut_off) r.emplace_back("cut_off", true);
  return to_json(r) + "\n";
}

class Program {
 public:
  Program(const GenerateArguments& a, const Session& session)
      : a_(a), session_(session), generator_(a.model, session.thread_count()) {}

  void run() {
    GenerateOptions options = a_.options;
    options.sample = a_.sample || !a_.beam;
    options.stop = unescaped(a_.stop);
    generator_.generate(std::vector<std::string>{}, options);  // options that do not go together are told at once
    const bool piped = a_.file.empty() && a_.prompts.empty() && is_piped(STDIN_FILENO);
    if (!a_.file.empty()) {
      from_file(a_.file, options);
    } else if (piped) {
      from_file("-", options);
    }
    if (a_.file.empty() && a_.prompts.empty() && !piped && is_pipe(STDIN_FILENO) && !session_.quiet)
      tell("note: stdin is a pipe that gave nothing yet, and is not waited for; `attune generate {} -` reads it\n",
           a_.model);
    if (a_.file.empty() && done_ == 0) {  // nothing was piped in, if anything could be
      std::vector<std::string> prompts;
      for (const std::string& p : a_.prompts) prompts.push_back(unescaped(p));
      if (prompts.empty()) prompts.emplace_back();
      const bool one = prompts.size() == 1 && options.n_best == 1;
      if (one && !session_.json && (a_.stream || is_live(STDOUT_FILENO)))
        stream(prompts[0], options);
      else
        say(prompts, options, one);
    }
    if (cropped_ > 0 && !session_.quiet)
      tell("note: of {} prompt{} the model could not see the begin\n", thousands(cropped_), cropped_ == 1 ? "" : "s");
    if (unknown_ > 0 && !session_.quiet)
      tell("note: {} prompt{} letters or words that the model does not know: it reads ⁇ there\n", thousands(unknown_),
           unknown_ == 1 ? " has" : "s have");
  }

 private:
  void from_file(const std::string& file, GenerateOptions& options) {
    InputTexts input = open_input({a_.model, file, "lines"}, session_);
    for_line_chunks(input, [&](const std::vector<std::string>& lines) {
      std::vector<std::string> prompts;
      for (const std::string& line : lines) prompts.push_back(unescaped(line));
      say(prompts, options, false);
      finish_output();  // whoever waits for it gets it
      options.first_line += prompts.size();
    });
    tell_notes(input, session_);
  }

  void say(const std::vector<std::string>& prompts, const GenerateOptions& options, bool as_it_is) {
    for (const GeneratedText& t : generator_.generate(prompts, options)) {
      cropped_ += t.cropped;
      unknown_ += t.unknown > 0;
      print(session_.json ? json_line(t) : as_it_is && !a_.scores ? t.text + "\n" : lines_of(t));
      ++done_;
    }
  }

  /// `0 ||| text ||| score` of several; otherwise the text and what else was asked for.
  std::string lines_of(const GeneratedText& t) const {
    const auto fields = [&](const GeneratedText& x) {
      const bool several = a_.options.n_best > 1;
      std::string out = (several ? fmt::format("{} ||| ", done_) : "") + in_one_line(x.text);
      if (several || a_.scores) out += fmt::format(" ||| {:.6f}", x.score);
      return out + "\n";
    };
    std::string out = fields(t);
    for (const GeneratedText& o : t.others) out += fields(o);
    return out;
  }

  /// Token by token, as they are said.
  void stream(const std::string& prompt, GenerateOptions& options) {
    std::string told;
    options.on_token = [&](const StreamedToken& t) {
      print(t.text);
      finish_output();
      told += t.text;
      return true;
    };
    print(prompt);
    finish_output();
    const GeneratedText t = generator_.generate(prompt, options);
    cropped_ += t.cropped;
    unknown_ += t.unknown > 0;
    if (t.continuation.starts_with(told)) print(t.continuation.substr(told.size()));
    print("\n");
  }

  const GenerateArguments& a_;
  const Session& session_;
  const Generator generator_;
  int64_t done_ = 0, cropped_ = 0, unknown_ = 0;
};

}  // namespace

void add_generate(CLI::App& app, Session& session) {
  auto a = std::make_shared<GenerateArguments>();
  CLI::App* command =
      add_command(app, session, "generate", "go on with a text",
                  "  attune generate model --prompt 'ROMEO:' --temperature 0.8\n"
                  "  attune generate model --prompt 'To be' --n-best 3 --max-length 50 --stop '\\n'\n"
                  "  attune generate model prompts.txt --top-p 0.9 --seed 7 > texts.txt\n"
                  "  attune generate model --prompt 'ROMEO:' --beam 1                  # the most probable text");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a folder of a language model; several, separated by commas, are an ensemble")
      ->required();
  CLI::Option* file = command->add_option(
      "FILE", a->file,
      "a prompt a line, plain or .gz; - is stdin, which is read without it, too, where something is piped in. A line "
      "comes out for each, its line ends as \\n");
  command->add_option("--prompt", a->prompts, "what to go on with; once more for each (default: nothing)")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->excludes(file);
  add_search_options(command, a->options);
  command->add_option("--n-best", a->options.n_best, "texts for each prompt: NUMBER ||| text ||| score (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--stop", a->stop, "a text ends before this; \\n is a line end")->type_name("TEXT");
  command->add_flag("--scores", a->scores, "add the length-normalised log-probability: ... ||| -0.5");
  command->add_flag("--stream", a->stream, "write tokens as they are said (default: on a terminal)");
  set_work(command, session, [&session, a, command] {
    a->beam = command->count("--beam") > 0;
    a->sample = command->count("--sample") > 0;
    Program(*a, session).run();
  });
}

}  // namespace attune::cli
