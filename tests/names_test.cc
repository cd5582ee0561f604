// No two types of one namespace have the same name: each file compiles, and the linker takes the functions of either
// for both.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "places.h"

namespace {

namespace fs = std::filesystem;

/// The types that the headers below a folder define, with their namespaces, and where.
void types_of(const std::string& folder, std::map<std::string, std::vector<std::string>>& where) {
  const std::regex opens("^(?:inline )?namespace ([A-Za-z0-9_:]+) \\{"), closes("^\\}  // namespace"),
      type("^(?:struct|class|enum class) ([A-Z][A-Za-z0-9]*)(?: [:{]| final| : )");
  for (const auto& entry : fs::recursive_directory_iterator(attune::test::source_dir() + "/" + folder)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    std::vector<std::string> inside;
    std::smatch match;
    for (std::string line; std::getline(in, line);) {
      if (std::regex_search(line, match, opens))
        inside.push_back(match[1]);
      else if (std::regex_search(line, closes) && !inside.empty())
        inside.pop_back();
      else if (std::regex_search(line, match, type)) {
        std::string name;
        for (const std::string& n : inside) name += n + "::";
        where[name + match[1].str()].push_back(entry.path().string());
      }
    }
  }
}

TEST(Names, OfTypesStandForOneThing) {
  std::map<std::string, std::vector<std::string>> where;
  types_of("src", where);
  types_of("include", where);
  EXPECT_GT(where.size(), 300u);
  for (const auto& [name, files] : where) {
    std::string all;
    for (const std::string& f : files) all += "\n  " + f;
    EXPECT_EQ(files.size(), 1u) << name << all;
  }
}

}  // namespace
