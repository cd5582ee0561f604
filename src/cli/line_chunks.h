// Lines of a file or a pipe as a filter takes them: as many as are there without waiting, so that whoever writes a line
// and waits for the answer gets it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attune/lines.h"

namespace attune::cli {

template <class Work>
void for_line_chunks(const std::string& file, Work work) {
  constexpr size_t kLines = 4096, kBytes = 4 << 20;
  TextLines reader({file});
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.clear();
    size_t bytes = 0;
    do {
      bytes += line.size();
      lines.push_back(std::move(line));
    } while (lines.size() < kLines && bytes < kBytes && reader.ready() && reader.next(line));
    work(lines);
  }
}

}  // namespace attune::cli
