// Which folder of src/ may include which: data flows through them in one direction, includes point only back along it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "places.h"

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

Names operator+(Names a, const Names& b) {
  a.insert(b.begin(), b.end());
  return a;
}

/// For each folder, what it may include beside itself and the public headers.
std::map<std::string, Names> allowed_arrows() {
  const Names base{"base"}, tensor = base + Names{"tensor"}, kernels = tensor + Names{"kernels"};
  const Names outside{"text", "image", "audio", "music", "graph"};  // the world <-> ids, vectors or frames
  const Names autograd = kernels + Names{"autograd"};
  const Names recipe{"recipe"};  // settings: whoever is set by them may read them
  const Names model = autograd + recipe + Names{"model"}, data = tensor + outside + recipe + Names{"data"};
  const Names train = model + data + Names{"train"};
  const Names above = train + Names{"checkpoint", "decode", "measure", "show"};  // of what puts the parts to use
  std::map<std::string, Names> arrows{
      {"base", {}},
      {"tensor", base},
      {"kernels", tensor},
      {"autograd", kernels},
      {"recipe", base + Names{"text"}},
      {"checkpoint", autograd},
      {"data", tensor + outside + recipe},
      {"model", autograd + recipe},
      {"train", model + data},
      {"decode", model},
      {"measure", tensor + outside},
      {"show", tensor + Names{"text"}},  // labels are text: how wide it is, what is safe to show
      {"inference", above},
      {"baseline", data + Names{"measure"}},
      {"run", above + Names{"inference", "baseline"}},
      {"bench", above + Names{"inference", "run"}},
      {"compare", above + Names{"inference", "run"}},
      {"advise", above},
      {"api", above + Names{"inference", "run", "compare", "bench", "advise"}},
      {"serve", {}},  // on the public library alone, as the command line is
      {"cli", {}},
  };
  for (const auto& o : outside) arrows[o] = base;
  return arrows;
}

struct Source {
  std::string path;    // "src/base/files.cc"
  std::string folder;  // "base"; "attune" for the public headers
  std::string room;    // "kernels/attention": the folder it lies in
  int lines = 0;
  std::vector<std::string> own, system;  // what it includes
};

std::vector<Source> read_sources() {
  const fs::path root = attune::test::source_dir();
  const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">].*)re");
  std::vector<Source> sources;
  for (const char* top : {"src", "include"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file()) continue;
      const fs::path relative = fs::relative(entry.path(), root / top);
      Source s{(top / relative).string(), relative.begin()->string(), relative.parent_path().string(), 0, {}, {}};
      std::ifstream in(entry.path());
      std::smatch match;
      for (std::string line; std::getline(in, line); ++s.lines)
        if (line.find('#') != std::string::npos && std::regex_match(line, match, include))
          (match[1] == "\"" ? s.own : s.system).push_back(match[2]);
      sources.push_back(std::move(s));
    }
  return sources;
}

bool is_header(const Source& s) { return s.path.ends_with(".h") || s.path.ends_with(".inc"); }

TEST(Arrows, IncludesPointOneWay) {
  const auto arrows = allowed_arrows();
  const auto sources = read_sources();
  ASSERT_GT(sources.size(), 20u);
  for (const Source& s : sources) {
    const bool is_public = s.path.starts_with("include/");
    if (is_public) {
      EXPECT_EQ(s.folder, "attune") << s.path;
    } else if (!arrows.contains(s.folder)) {
      ADD_FAILURE() << s.path << ": no rule says what " << s.folder << "/ may include; add one to arrows_test.cc";
      continue;
    }
    for (const std::string& include : s.own) {
      const std::string to = include.substr(0, include.find('/'));
      const bool allowed = to == "attune" || (!is_public && (to == s.folder || arrows.at(s.folder).contains(to)));
      EXPECT_TRUE(allowed) << s.path << " may not include \"" << include << "\"";
    }
  }
}

/// Rooms below which `from` stands, in the order in which they were entered; "" when there is no way back to it.
std::string way_back(const std::map<std::string, Names>& arrows, const std::string& from, const std::string& at,
                     Names& seen) {
  if (at == from) return at;
  if (!arrows.contains(at) || !seen.insert(at).second) return "";
  for (const std::string& to : arrows.at(at))
    if (const std::string way = way_back(arrows, from, to, seen); !way.empty()) return at + " -> " + way;
  return "";
}

TEST(Arrows, RoomsOfAFolderPointOneWayToo) {
  const Names whole{"model"};  // its own files are what the rooms share and what is built of them: not looked at
  std::map<std::string, Names> arrows;
  for (const Source& s : read_sources())
    for (const std::string& include : s.own) {
      const std::string to = fs::path(include).parent_path().string();
      if (s.path.starts_with("include/") || to == s.room || !(to + "/").starts_with(s.folder + "/")) continue;
      if (!whole.contains(to) && !whole.contains(s.room)) arrows[s.room].insert(to);
    }
  ASSERT_TRUE(arrows["kernels/matrix"].contains("kernels/rows"));
  for (const auto& [room, others] : arrows)
    for (const std::string& other : others) {
      Names seen;
      EXPECT_EQ(way_back(arrows, room, other, seen), "") << room << " includes " << other << ", which leads back to it";
    }
}

TEST(Arrows, RoomsStayTidy) {
  std::map<std::string, int> files;
  for (const Source& s : read_sources()) ++files[s.room];
  for (const auto& [room, count] : files) EXPECT_LE(count, 40) << room << " wants to be two rooms";
}

TEST(Arrows, FilesStayReadable) {
  for (const Source& s : read_sources())
    EXPECT_LE(s.lines, s.folder == "kernels" ? 600 : 400) << s.path << " wants to be two files";
}

TEST(Arrows, HeavyHeadersStayInSources) {
  const auto is_heavy = [](const std::string& name) {
    for (const char* heavy : {"CLI/", "nlohmann/", "toml++/", "toml.hpp", "boost/beast"})
      if (name.starts_with(heavy)) return true;
    return false;
  };
  for (const Source& s : read_sources()) {
    Names libraries;
    for (const std::string& name : s.system) {
      if (!is_heavy(name)) continue;
      libraries.insert(name.substr(0, name.find('/')));
      EXPECT_FALSE(is_header(s)) << s.path << " brings " << name << " to all who include it";
      EXPECT_TRUE(s.folder == "cli" || !name.starts_with("CLI/")) << s.path << " includes " << name;
    }
    EXPECT_LE(libraries.size(), 1u) << s.path << " includes two heavy libraries";
  }
}

TEST(Arrows, PublicHeadersAreAllInTheOne) {
  Names in_attune_h, headers;
  for (const Source& s : read_sources()) {
    if (s.path == "include/attune/attune.h")
      in_attune_h.insert(s.own.begin(), s.own.end());
    else if (s.path.starts_with("include/"))
      headers.insert(s.path.substr(8));
  }
  EXPECT_EQ(in_attune_h, headers);
}

}  // namespace
