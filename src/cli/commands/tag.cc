// attune tag: a label per word.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/tagger.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

struct TagArguments {
  std::string model, file = "-", format = "labels", input_format = "auto";
  TagOptions options;
};

std::string plain_text(const TaggedText& t, const std::string& format) {
  std::string text;
  for (const TaggedWord& w : t.words) {
    if (format == "conll")
      text += w.word + "\t" + w.label + "\n";
    else
      text += (text.empty() ? "" : " ") + (format == "pairs" ? w.word + "/" : "") + w.label;
  }
  return text + "\n";
}

std::string json_line(const TaggedText& t) {
  List words, labels, scores, spans;
  for (const TaggedWord& w : t.words) {
    words.emplace_back(w.word);
    labels.emplace_back(w.label);
    scores.emplace_back(w.score);
  }
  for (const TaggedSpan& s : t.spans)
    spans.emplace_back(Record{{"label", s.label}, {"first", s.first}, {"last", s.last}});
  Record r{{"words", words}, {"labels", labels}, {"scores", scores}};
  if (!spans.empty()) r.emplace_back("spans", spans);
  return to_json(r) + "\n";
}

void run_tag(const TagArguments& a, const Session& session) {
  const Tagger tagger(a.model, session.thread_count());
  InputTexts input = open_input({a.model, a.file, a.input_format}, session);
  for_line_chunks(input, [&](const std::vector<std::string>& lines) {
    for (const TaggedText& t : tagger.tag(lines, a.options))
      print(session.json ? json_line(t) : plain_text(t, a.format));
    finish_output();
  });
  tell_notes(input, session);
}

}  // namespace

void add_tag(CLI::App& app, Session& session) {
  auto a = std::make_shared<TagArguments>();
  CLI::App* command = add_command(app, session, "tag", "give each word a label",
                                  "  attune tag model sentences.txt > labels.txt\n"
                                  "  attune tag model sentences.txt --format conll\n"
                                  "  echo 'Ada lives in London .' | attune tag model --json");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option("FILE", a->file,
                      "a sentence a line, words with blanks between them, plain or .gz; or CoNLL columns as the "
                      "recipe reads them; - is stdin, and the default; or the sentence itself");
  add_input_format(command, a->input_format);
  command
      ->add_option("--format", a->format,
                   "labels: a label for each word; pairs: word/label; conll: a word a line, a tab, its label")
      ->type_name("HOW")
      ->check(CLI::IsMember({"labels", "pairs", "conll"}));
  command
      ->add_option("--batch-tokens", a->options.batch_tokens, "tokens that are read at the same time (default: 4096)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24));
  set_work(command, session, [&session, a] { run_tag(*a, session); });
}

}  // namespace attune::cli
