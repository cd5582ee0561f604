// What commands read: files of lines or of rows, stdin, or a text that was given instead. Chunks of it are as many
// lines as are there without waiting, so that whoever writes a line and waits for the answer gets it.
#pragma once
#include <string>
#include <vector>

#include "attune/input.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

/// The option --input-format.
void add_input_format(CLI::App* command, std::string& format);

/// What was named, for this model, and a note on stderr where it is not just a file of lines.
struct NamedInput {
  std::string model, input, format = "auto";
  bool pairs = false;
};
InputTexts open_input(const NamedInput& named, const Session& session);
/// At the end: notes on stderr about what was read.
void tell_notes(const InputTexts& input, const Session& session);

template <class Work>
void for_line_chunks(InputTexts& reader, Work work) {
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.clear();
    size_t bytes = 0;
    do {
      bytes += line.size();
      lines.push_back(std::move(line));
    } while (lines.size() < kChunkLines && bytes < kChunkBytes && reader.ready() && reader.next(line));
    work(lines);
  }
}

}  // namespace attune::cli
