// Writes the demo's corpus into a folder: generate recipes/demo. A test compares what ships with it.
#include <zlib.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "sentences.h"

namespace {

/// "T" writes plainly, "9" compresses.
void write(const std::string& path, const std::string& text, bool compressed) {
  gzFile file = gzopen(path.c_str(), compressed ? "wb9" : "wbT");
  if (!file) throw std::runtime_error("cannot write " + path);
  const bool written = gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size());
  if (gzclose(file) != Z_OK || !written) throw std::runtime_error("cannot write " + path);
}

void write_part(const std::string& stem, const std::vector<demo::Pair>& pairs, bool compressed) {
  std::string en, de;
  for (const demo::Pair& p : pairs) {
    en += p.en + "\n";
    de += p.de + "\n";
  }
  write(stem + (compressed ? ".en.gz" : ".en"), en, compressed);
  write(stem + (compressed ? ".de.gz" : ".de"), de, compressed);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: generate FOLDER");
  const demo::Corpus corpus = demo::make_corpus(demo::kSeed);
  const std::string folder = argv[1];
  write_part(folder + "/train", corpus.train, true);
  write_part(folder + "/valid", corpus.valid, false);
  write_part(folder + "/test", corpus.test, false);
} catch (const std::exception& e) {
  std::fprintf(stderr, "generate: %s\n", e.what());
  return 1;
}
