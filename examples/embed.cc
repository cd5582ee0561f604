// embed MODEL FILE QUESTION: the line of a file that is nearest to a question, by the angle between their vectors.
#include <attune/attune.h>

#include <cmath>
#include <fstream>
#include <iostream>

namespace {

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return std::cerr << "embed MODEL FILE QUESTION\n", 2;
  const attune::Embedder embedder(argv[1]);
  std::vector<std::string> lines{argv[3]};
  std::ifstream file(argv[2]);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const auto all = embedder.embed(lines);
  size_t best = 0;
  for (size_t i = 1; i < all.size(); ++i)
    if (best == 0 || cosine(all[0].vector, all[i].vector) > cosine(all[0].vector, all[best].vector)) best = i;
  if (best > 0) std::cout << cosine(all[0].vector, all[best].vector) << "\t" << lines[best] << "\n";
} catch (const attune::Error& e) {
  std::cerr << e.what() << "\n";
  return attune::exit_code(e.kind());
}
