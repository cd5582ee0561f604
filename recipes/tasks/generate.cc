// Writes the corpora of three tasks of which everybody knows the answer: generate FOLDER [SEED]. The source side serves
// all three; the target is the same letters, the letters from the end to the beginning, or in the order of the
// alphabet.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

namespace {

constexpr int kTrain = 40000, kValid = 200, kTest = 1000;
constexpr int kShortest = 4, kLongest = 16;

/// A line of letters without the spaces. The C++ standard fixes the generator's numbers: the same everywhere.
std::string draw(std::mt19937_64& random) {
  std::string letters(kShortest + random() % (kLongest - kShortest + 1), ' ');
  for (char& c : letters) c = static_cast<char>('a' + random() % 26);
  return letters;
}

std::string spaced(const std::string& letters) {
  std::string line;
  for (const char c : letters) (line += c) += ' ';
  line.back() = '\n';
  return line;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) throw std::runtime_error("usage: generate FOLDER [SEED]");
  const std::string folder = argv[1];
  std::filesystem::create_directories(folder);
  std::mt19937_64 random(argc == 3 ? std::stoull(argv[2]) : 1);
  std::set<std::string> seen;  // no line twice: what is tested was never trained on
  for (const auto& [part, count] : {std::pair{"train", kTrain}, {"valid", kValid}, {"test", kTest}}) {
    std::string source, reversed, sorted;
    for (int i = 0; i < count; ++i) {
      std::string line = draw(random);
      while (!seen.insert(line).second) line = draw(random);
      source += spaced(line);
      reversed += spaced({line.rbegin(), line.rend()});
      std::sort(line.begin(), line.end());
      sorted += spaced(line);
    }
    const std::string stem = folder + "/" + part;
    write(stem + ".letters", source);
    write(stem + ".reverse", reversed);
    write(stem + ".sort", sorted);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "generate: %s\n", e.what());
  return 1;
}
