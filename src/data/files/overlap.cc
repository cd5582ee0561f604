#include "data/files/overlap.h"

#include <fmt/core.h>

#include <array>
#include <unordered_map>

#include "base/hash.h"
#include "base/text.h"
#include "data/files/pairs.h"

namespace attune {

namespace {

constexpr size_t kShortestLine = 24;  // bytes: "Exit." and a speaker's name stand everywhere

/// What an example is known by; "" for one that does not count.
std::string_view read_of(const TextPair& pair, Sides sides) {
  const std::string_view text = trim(has_source(sides) ? pair.source : pair.target);
  return has_source(sides) || text.size() >= kShortestLine ? text : std::string_view();
}

/// How often a text stands in the validation and in the test files, by its hash.
using Expected = std::unordered_map<uint64_t, std::array<int64_t, 2>>;

void expect(const std::vector<std::string>& files, const DataSettings& data, Sides sides, size_t which, Overlap& count,
            Expected& expected) {
  if (files.empty()) return;
  PairReader reader(files, data, which == 0 ? "data.valid" : "data.test", sides);
  for (TextPair pair; count.examples < Overlap::kMost && reader.next(pair);) {
    const std::string_view text = read_of(pair, sides);
    if (text.empty()) continue;
    ++count.examples;
    ++expected[hash64(text)][which];
  }
}

}  // namespace

Overlaps count_overlaps(const DataSettings& data, Sides sides) {
  Overlaps all;
  Expected expected;
  expect(data.valid, data, sides, 0, all.valid, expected);
  expect(data.test, data, sides, 1, all.test, expected);
  if (expected.empty()) return all;
  PairReader reader(data.train, data, "data.train", sides);
  for (TextPair pair; !expected.empty() && reader.next(pair);) {
    const std::string_view text = read_of(pair, sides);
    const auto found = text.empty() ? expected.end() : expected.find(hash64(text));
    if (found == expected.end()) continue;
    all.valid.in_train += found->second[0];
    all.test.in_train += found->second[1];
    expected.erase(found);
  }
  return all;
}

std::string Overlap::sentence(const std::string& what, Sides sides) const {
  if (in_train == 0) return "";
  const bool whole = in_train == examples, much = 10 * in_train > examples;
  const double percent = 100.0 * static_cast<double>(in_train) / static_cast<double>(examples);
  const char* unit = sides == Sides::one ? "lines" : sides == Sides::two ? "sources" : "texts";
  const std::string found = whole ? fmt::format("all {} {} {} stand", thousands(examples), what, unit)
                                  : fmt::format("{} of {} {} {} ({:.{}f} %) stand", thousands(in_train),
                                                thousands(examples), what, unit, percent, percent < 10 ? 1 : 0);
  if (percent < 1) return found + " in the training files too: too few to matter";
  if (!much)
    return fmt::format("{} in the training files too: the score is a little too good; leave them out of one", found);
  return fmt::format("WARNING: {} in the training files too: the score will tell what was learned by heart. {}", found,
                     what == "test" ? "Test on other data, or take them out of data.train"
                                    : "Take them out of data.train; or leave data.valid out, and some are held out");
}

std::vector<std::string> Overlaps::sentences(Sides sides) const {
  std::vector<std::string> out;
  for (std::string s : {valid.sentence("validation", sides), test.sentence("test", sides)})
    if (!s.empty()) out.push_back(std::move(s));
  return out;
}

}  // namespace attune
