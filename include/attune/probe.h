// Probe tasks: generated corpora whose answers are known, each made so that a model must have one ability to solve it.
// Use them to see what an attention mechanism or a position scheme can't do, before trusting it with real data.
//
//   attune::save_probe(attune::make_probe("listops"), "listops");   // then: attune compare listops/recipe.toml ...
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

/// 0 takes the probe's own value. A probe that has no such measure refuses it.
struct ProbeOptions {
  uint64_t seed = 1;
  int64_t lines = 0;  // to train on
  int64_t gap = 0;    // copy, agreement: words between what is asked about and the question
  int64_t depth = 0;  // listops: lists within lists
  int64_t words = 0;  // listops: of a line, at most
};

struct ProbePair {
  std::string source, target;
};

struct Probe {
  std::string name;      // "listops"
  std::string sentence;  // what is to be learned
  std::string recipe;    // text of a recipe that learns it; its data is beside it in data/
  /// No source line is there twice: what is tested was never trained on.
  std::vector<ProbePair> train, valid, test;
};

struct ProbeDescription {
  std::string name, sentence;
};
/// The probes there are.
std::vector<ProbeDescription> probes();

/// The same options give the same lines on every machine. ErrorKind::usage for a name or options there are not.
Probe make_probe(const std::string& name, const ProbeOptions& options = {});

/// Writes FOLDER/recipe.toml and FOLDER/data/{train,valid,test}.{in,out}. ErrorKind::usage where another recipe is in
/// the way, unless `replace`; the same one is not.
void save_probe(const Probe& probe, const std::string& folder, bool replace = false);

}  // namespace attune
