// attune embed: a vector per line.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/embedder.h"
#include "attune/error.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

struct EmbedArguments {
  std::string model, file = "-", pool = "mean", format = "auto";
  EmbedOptions options;
  bool npy = false;
};

std::string plain_line(const Embedding& e) {
  std::string line;
  for (const float x : e.vector) line += fmt::format("{}{:.9g}", line.empty() ? "" : " ", x);
  return line + "\n";
}

std::string json_line(const Embedding& e) {
  const std::vector<double> numbers(e.vector.begin(), e.vector.end());
  Record r{{"vector", List(numbers.begin(), numbers.end())}};
  if (e.cropped) r.emplace_back("cropped", true);
  if (e.beyond) r.emplace_back("beyond", true);
  return to_json(r) + "\n";
}

/// The head of a file of NumPy, version 1.0: f32 [rows, columns].
std::string npy_head(int64_t rows, int64_t columns) {
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 255) +
         static_cast<char>(text.size() >> 8) + text;
}

void run_embed(const EmbedArguments& a, const Session& session) {
  const Embedder embedder(a.model, session.thread_count());
  EmbedOptions options = a.options;
  options.pool = a.pool == "first"  ? Pool::first
                 : a.pool == "last" ? Pool::last
                 : a.pool == "max"  ? Pool::max
                                    : Pool::mean;
  int64_t done = 0, cropped = 0, beyond = 0;
  std::vector<float> numbers;  // of all lines, where the head of the file comes first
  InputTexts input = open_input({a.model, a.file, a.format}, session);
  for_line_chunks(input, [&](const std::vector<std::string>& lines) {
    for (const Embedding& e : embedder.embed(lines, options)) {
      if (a.npy)
        numbers.insert(numbers.end(), e.vector.begin(), e.vector.end());
      else
        print(session.json ? json_line(e) : plain_line(e));
      cropped += e.cropped;
      beyond += e.beyond && !e.cropped;
      ++done;
    }
    if (!a.npy) finish_output();  // whoever waits for it gets it
  });
  if (a.npy) {
    print(npy_head(done, embedder.width()));
    print(std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)));
  }
  if (!session.quiet) {
    note_cropped(cropped, embedder.longest());
    note_beyond(beyond, embedder.learned());
  }
  tell_notes(input, session);
}

}  // namespace

void add_embed(CLI::App& app, Session& session) {
  auto a = std::make_shared<EmbedArguments>();
  CLI::App* command = add_command(app, session, "embed", "turn lines into vectors",
                                  "  attune embed model test.en > vectors.txt\n"
                                  "  attune embed model test.en --npy > vectors.npy\n"
                                  "  echo 'A dog runs.' | attune embed model --pool max --json");
  command->group("Using models");
  command->add_option("MODEL", a->model, "a model folder")->required();
  command->add_option("FILE", a->file,
                      "a text a line, plain or .gz; or rows as the recipe reads them; - is stdin, and the default; or "
                      "the text itself");
  add_input_format(command, a->format);
  command->add_option("--pool", a->pool, "what of its tokens' states: mean, first, last or max (default: mean)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"mean", "first", "last", "max"}));
  command->add_flag("--npy", a->npy, "a file of NumPy, f32 [lines, numbers], instead of text");
  command
      ->add_option("--batch-tokens", a->options.batch_tokens, "tokens that are read at the same time (default: 4096)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24));
  set_work(command, session, [&session, a] { run_embed(*a, session); });
}

}  // namespace attune::cli
