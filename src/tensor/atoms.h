// The atoms that sparse patterns are made of, by their names: each is a class in atoms.cc and a line in its table.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/pattern.h"

namespace attune {

/// What an atom is made from.
struct AtomSetup {
  std::vector<int64_t> numbers = {};  // in the order of AtomKind::options
  std::vector<int64_t> at = {};       // positions, of those that take some
  int64_t block = 64;
  uint64_t seed = 0;
  bool causal = false;
};

struct AtomOption {
  const char* name;   // the first: the atom's own
  int64_t otherwise;  // where it is not said; 0: it must be
  int64_t least = 1;
};

struct AtomKind {
  const char* name;
  const char* sentence;
  std::vector<AtomOption> options;
  bool takes_positions = false;
  std::shared_ptr<const Atom> (*make)(const AtomSetup&);
};

std::span<const AtomKind> atom_kinds();

/// Reads "band 128, global 2, random 3 ..." into a pattern. ErrorKind::recipe, naming `key` ("model.attention"), for
/// what is none.
Pattern parse_pattern(const std::string& atoms, const AtomSetup& setup, const std::string& key);

}  // namespace attune
