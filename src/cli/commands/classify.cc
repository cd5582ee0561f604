// attune classify: a label per line.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/classifier.h"
#include "attune/error.h"
#include "attune/text.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct ClassifyArguments {
  std::string model;
  std::vector<std::string> files;
  ClassifyOptions options;
  std::string format = "auto";
  bool scores = false;
};

Record record_of(const Classification& c, const std::vector<std::string>& labels) {
  Record all;  // of a number none
  for (size_t i = 0; i < labels.size(); ++i) all.emplace_back(labels[i], c.scores[i]);
  return {{"label", c.label}, {"score", c.score}, {"scores", all}};
}

std::string json_line(const Classification& c, const Classifier& classifier, const std::string& file = "") {
  Record r = record_of(c, c.parts.empty() ? classifier.labels() : std::vector<std::string>{});
  if (!file.empty()) r.insert(r.begin(), {"file", file});
  if (!c.parts.empty()) {
    List heads;
    for (size_t h = 0; h < c.parts.size(); ++h) heads.push_back(record_of(c.parts[h], classifier.labels(h)));
    r.emplace_back("heads", heads);
  }
  if (c.cropped) r.emplace_back("cropped", true);
  return to_json(r) + "\n";
}

/// Each answer, and perhaps how probable it is.
std::string text_line(const Classification& c, bool scores) {
  if (!scores) return c.label + "\n";
  std::string line;
  for (const Classification& part : c.parts.empty() ? std::vector{c} : c.parts)
    line += fmt::format("{}{}\t{:.9g}", line.empty() ? "" : "\t", part.label, part.score);
  return line + "\n";
}

void run_classify(const ClassifyArguments& a, const Session& session) {
  const Classifier classifier(a.model, session.thread_count());
  if (classifier.reads_files()) {
    if (a.options.windows)
      throw Error(ErrorKind::usage, "--windows is for texts, and this model reads none\n  fix: leave it out");
    if (a.files.empty()) throw Error(ErrorKind::usage, "this model reads files\n  fix: name them behind the model");
    classifier.classify_files(a.files, [&](const std::string& name, const Classification& c) {
      print(session.json ? json_line(c, classifier, name) : text_line(c, a.scores));
    });
    finish_output();
    return;
  }
  if (a.files.size() > 1)
    throw Error(ErrorKind::usage, "this model reads the lines of one file\n  fix: name one, or pipe several into it");
  int64_t cropped = 0, other = 0;
  const int texts = classifier.texts();
  InputTexts input = open_input({a.model, a.files.empty() ? "-" : a.files[0], a.format}, session);
  for_line_chunks(input, [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) other += texts > 0 && (line.find('\t') == line.npos) != (texts == 1);
    for (const Classification& c : classifier.classify(lines, a.options)) {
      cropped += c.cropped;
      if (session.json)
        print(json_line(c, classifier));
      else
        print(text_line(c, a.scores));
    }
    finish_output();
  });
  if (!session.quiet) note_cropped(cropped, classifier.longest());
  if (!session.quiet && other > 0)
    tell("note: {} line{} {}: worth little\n", thousands(other), other == 1 ? "" : "s",
         texts == 2 ? "without a tab, and the model learned from pairs of texts"
                    : "with a tab, so a pair of texts, and the model learned from one");
  tell_notes(input, session);
}

}  // namespace

void add_classify(CLI::App& app, Session& session) {
  auto a = std::make_shared<ClassifyArguments>();
  CLI::App* command = add_command(app, session, "classify", "give lines, pictures or nodes labels",
                                  "  attune classify model reviews.txt > labels.txt\n"
                                  "  attune classify model reviews.txt --scores\n"
                                  "  attune classify model 'What a film!' --json\n"
                                  "  attune classify digits t10k-images-idx3-ubyte.gz");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option(
      "FILE", a->files,
      "a text a line, plain or .gz, or a pair of texts with a tab; or rows as the recipe reads them; - is "
      "stdin, and the default; or the text itself; of pictures an IDX file, of graphs nodes.tsv and "
      "edges.tsv");
  add_input_format(command, a->format);
  command->add_flag("--scores", a->scores, "a tab and the probability behind the label");
  command->add_flag(
      "--windows", a->options.windows,
      "read texts that are too long in windows, and take the mean; otherwise, and of pairs, their end is left "
      "out");
  command
      ->add_option("--batch-tokens", a->options.batch_tokens, "tokens that are read at the same time (default: 4096)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24));
  set_work(command, session, [&session, a] { run_classify(*a, session); });
}

}  // namespace attune::cli
