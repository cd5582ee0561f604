// Small pictures and graphs for tests.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "data/files.h"

namespace attune::test {

/// A number of an IDX file: 4 bytes, the most significant first.
inline std::string idx_number(uint32_t x) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(x >> shift & 0xff);
  return out;
}
inline std::string idx_pictures(const std::vector<std::string>& pictures, uint32_t height, uint32_t width) {
  std::string all =
      idx_number(0x803) + idx_number(static_cast<uint32_t>(pictures.size())) + idx_number(height) + idx_number(width);
  for (const std::string& p : pictures) all += p;
  return all;
}
inline std::string idx_labels(const std::string& labels) {
  return idx_number(0x801) + idx_number(static_cast<uint32_t>(labels.size())) + labels;
}

/// Pictures of 8 x 8 pixels of three shapes: a bar that lies (0), one that stands (1), a square (2); and noise.
struct Shapes {
  std::vector<std::string> pictures;
  std::string labels;

  Shapes(int count, unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < count; ++i) {
      std::string p(64, '\0');
      for (char& c : p) c = static_cast<char>(random() % 40);
      const unsigned kind = random() % 3, y = random() % 4, x = random() % 4;
      for (unsigned a = 0; a < (kind == 1 ? 4u : 2u); ++a)
        for (unsigned b = 0; b < (kind == 0 ? 4u : 2u); ++b)
          p[(y + a) * 8 + x + b] = static_cast<char>(200 + random() % 56);
      pictures.push_back(p);
      labels += static_cast<char>(kind);
    }
  }
  /// Two files, as data.train names them.
  std::vector<std::string> put_in(const std::string& folder, const std::string& name) const {
    return {put(folder + "/" + name + "-images.gz", gzipped(idx_pictures(pictures, 8, 8))),
            put(folder + "/" + name + "-labels", idx_labels(labels))};
  }
};

/// Two clubs of so many nodes each: friends are mostly of the own club, and some nodes wear its colour (a feature); the
/// others are known by their friends alone.
inline std::vector<std::string> put_clubs(const std::string& folder, int each, unsigned seed) {
  std::mt19937 random(seed);
  std::string nodes = "node\tlabel\tsplit\tfeatures\n", edges = "from\tto\n";
  const char* splits[] = {"train", "val", "test"};
  for (int i = 0; i < 2 * each; ++i) {
    const int club = i % 2;
    const int colour = random() % 3 == 0 ? 2 : club;
    nodes += "n" + std::to_string(i) + "\t" + (club ? "blue" : "red") + "\t" + splits[i / 2 % 3] + "\t" +
             std::to_string(colour) + " " + std::to_string(3 + random() % 5) + "\n";
    for (int k = 0; k < 3; ++k) {
      const int other = static_cast<int>(random() % static_cast<unsigned>(each)) * 2 + club;
      edges += "n" + std::to_string(i) + "\tn" + std::to_string(other) + "\n";
    }
  }
  return {put(folder + "/nodes.tsv", nodes), put(folder + "/edges.tsv", edges)};
}

}  // namespace attune::test
