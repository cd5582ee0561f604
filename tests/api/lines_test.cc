#include "attune/lines.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attune/error.h"
#include "run_program.h"

namespace attune::test {
namespace {

TEST(TextLines, OneFileAfterAnother) {
  const TempFolder folder;
  std::ofstream(folder / "a") << "\xEF\xBB\xBFone\r\n\ntwo";
  std::ofstream(folder / "b") << "";
  std::ofstream(folder / "c") << "three\n";
  TextLines lines({folder / "a", folder / "b", folder / "c"});
  std::vector<std::string> read;
  for (std::string line; lines.next(line);) {
    read.push_back(line);
    EXPECT_TRUE(lines.ready());
  }
  EXPECT_EQ(read, (std::vector<std::string>{"one", "", "two", "three"}));
  EXPECT_EQ(lines.count(), 4);
  EXPECT_EQ(lines.place(), (folder / "c") + ":1");
}

TEST(TextLines, MissingFilesAreNamedWhenReached) {
  const TempFolder folder;
  std::ofstream(folder / "a.txt") << "one\n";
  TextLines lines({folder / "a.txt", folder / "b.txt"});
  std::string line;
  EXPECT_TRUE(lines.next(line));
  try {
    lines.next(line);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(std::string(e.what()).find("b.txt"), std::string::npos);
  }
}

}  // namespace
}  // namespace attune::test
