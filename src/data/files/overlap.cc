#include "data/files/overlap.h"

#include <fmt/core.h>

#include <array>
#include <functional>
#include <unordered_map>

#include "base/hash.h"
#include "base/text.h"
#include "data/files/pairs.h"
#include "data/files/row_files.h"

namespace attune {

namespace {

constexpr size_t kShortestLine = 24;  // bytes: "Exit." and a speaker's name stand everywhere

/// What a pair is known by; "" for one that does not count.
std::string_view read_of(const TextPair& pair, Sides sides) {
  const std::string_view text = trim(has_source(sides) ? pair.source : pair.target);
  return has_source(sides) || text.size() >= kShortestLine ? text : std::string_view();
}

/// Called with what an example is known by; false: enough.
using OnKey = std::function<bool(std::string_view key)>;

/// Nodes whose answers count, each by its graph and its name: other nodes of one graph are other examples.
bool read_nodes(const RowExample& graph, const OnKey& on_key) {
  for (size_t i = 0; i < graph.answers.size(); ++i)
    if (graph.weights[i] > 0 && !on_key(graph.row_names[i] + "\n" + graph.content)) return false;
  return true;
}

void read_keys(const std::vector<std::string>& files, const std::string& key, const DataSettings& data, Sides sides,
               const OnKey& on_key) {
  if (files.empty()) return;
  if (holds_rows(data.format)) {
    const auto reader = open_rows({files, key}, data.format);
    for (RowExample e; reader->next(e);)
      if (data.format == DataFormat::graph ? !read_nodes(e, on_key) : !on_key(e.content)) return;
    return;
  }
  PairReader reader(files, data, key, sides);
  for (TextPair pair; reader.next(pair);)
    if (const std::string_view text = read_of(pair, sides); !text.empty() && !on_key(text)) return;
}

const char* unit_of(DataFormat format, Sides sides) {
  if (format == DataFormat::idx) return "pictures";
  if (format == DataFormat::graph) return "nodes";
  return sides == Sides::one ? "lines" : sides == Sides::two ? "sources" : "texts";
}

}  // namespace

Overlaps count_overlaps(const DataSettings& data, Sides sides) {
  Overlaps all;
  std::unordered_map<uint64_t, std::array<int64_t, 2>> expected;  // how often it is in valid and test, by its hash
  const auto expect = [&](const std::vector<std::string>& files, const char* key, size_t which, Overlap& count) {
    count.unit = unit_of(data.format, sides);
    read_keys(files, key, data, sides, [&](std::string_view example) {
      ++expected[hash64(example)][which];
      return ++count.examples < Overlap::kMost;
    });
  };
  expect(data.valid, "data.valid", 0, all.valid);
  expect(data.test, "data.test", 1, all.test);
  if (expected.empty()) return all;
  read_keys(data.train, "data.train", data, sides, [&](std::string_view example) {
    if (const auto found = expected.find(hash64(example)); found != expected.end()) {
      all.valid.in_train += found->second[0];
      all.test.in_train += found->second[1];
      expected.erase(found);
    }
    return !expected.empty();
  });
  return all;
}

std::string Overlap::sentence(const std::string& what) const {
  if (in_train == 0) return "";
  const bool whole = in_train == examples, much = 10 * in_train > examples;
  const double percent = 100.0 * static_cast<double>(in_train) / static_cast<double>(examples);
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

std::vector<std::string> Overlaps::sentences() const {
  std::vector<std::string> out;
  for (std::string s : {valid.sentence("validation"), test.sentence("test")})
    if (!s.empty()) out.push_back(std::move(s));
  return out;
}

}  // namespace attune
