// The section [data] of a recipe for tasks that go from one text to another.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace attune {

enum class TextFormat { lines, tsv };
enum class Overlong { error, skip, crop };

struct DataOptions {
  std::vector<std::string> train, valid, test;
  TextFormat format = TextFormat::lines;
  bool lowercase = false;  // the encoder's work: kept here because the recipe has it here
  std::vector<std::string> languages;
  int64_t max_length = 256;
  Overlong overlong = Overlong::skip;
  bool truncate = false;

  template <class V>
  void fields(V& v) {
    v("train", train, "source and target file, several such pairs one after another; or files of two columns (tsv)");
    v("valid", valid, "the same for validation; missing: 2 %, at most 1,000 lines, of train are held out");
    v("test", test, "the same for the test");
    v("format", format, "a file for each side, or both sides in one with a tab between", one_of({"lines", "tsv"}));
    v("lowercase", lowercase, "make all text lower case");
    v("languages", languages, "names of the two sides; by default the endings of the files");
    v("max_length", max_length, "tokens of a side, without end mark", between(1, 1 << 20));
    v("overlong", overlong, "what to do with a longer one", one_of({"error", "skip", "crop"}));
    v("truncate", truncate, "take as many lines as the shorter side has when the sides differ");
  }
};

/// Source and target of each pair of files; the same name twice for a tsv. ErrorKind::recipe when a side is missing;
/// `key` is what the recipe calls the list ("data.train").
std::vector<std::array<std::string, 2>> pair_files(const std::vector<std::string>& files, TextFormat format,
                                                   const std::string& key);

/// What the two sides are called: `languages`, else the endings of the first two files of train ("en", "de").
std::array<std::string, 2> languages_of(const DataOptions& options);

}  // namespace attune
