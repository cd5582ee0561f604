#include "data/files/line_reader.h"

#include <unistd.h>

#include <filesystem>

#include "base/random.h"
#include "data/files.h"

namespace attune::test {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::vector<std::string>& files) {
  Lines lines;
  LineReader reader(files);
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

TEST(LineReader, LineEndsAndMarks) {
  const TempFolder dir;
  const struct {
    std::string content;
    Lines lines;
  } cases[] = {
      {"", {}},
      {"\n", {""}},
      {"a", {"a"}},
      {"a\n", {"a"}},
      {"a\nb", {"a", "b"}},
      {"a\r\nb\r\n", {"a", "b"}},
      {"a\r\n\r\nb\r", {"a", "", "b"}},
      {"a\rb\n", {"a\rb"}},
      {"\xef\xbb\xbf"
       "a\n",
       {"a"}},
      {"\xef\xbb\xbf", {}},
      {"\xef\xbb", {"\xef\xbb"}},
      {"a\n\xef\xbb\xbf\n", {"a", "\xef\xbb\xbf"}},
      {std::string("a\0b\nc", 5), {std::string("a\0b", 3), "c"}},
      {"\x1f", {"\x1f"}},
      {"\x1f\x8b lines of bytes\n\x1f\x8b\x08\xff\n", {"\x1f\x8b lines of bytes", "\x1f\x8b\x08\xff"}},
      {"\xff\xc0 no UTF-8\n", {"\xff\xc0 no UTF-8"}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(lines_of({put(dir / "plain", c.content)}), c.lines) << testing::PrintToString(c.content);
    EXPECT_EQ(lines_of({put(dir / "packed", gzipped(c.content))}), c.lines) << testing::PrintToString(c.content);
  }
}

TEST(LineReader, FilesFollowOneAnotherAndPlacesAreTold) {
  const TempFolder dir;
  const std::string a = put(dir / "a", "1\n2"), empty = put(dir / "empty", ""),
                    b = put(dir / "b.gz", gzipped("3\n4\n"));
  LineReader reader({a, empty, b});
  std::string_view line;
  Lines seen;
  while (reader.next(line)) seen.push_back(std::string(line) + " " + reader.place());
  EXPECT_EQ(seen, (Lines{"1 " + a + ":1", "2 " + a + ":2", "3 " + b + ":1", "4 " + b + ":2"}));
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(lines_of({}), Lines{});
}

TEST(LineReader, ContentTellsGzipNotTheName) {
  const TempFolder dir;
  EXPECT_EQ(lines_of({put(dir / "plain.gz", "a\n")}), Lines{"a"});
  EXPECT_EQ(lines_of({put(dir / "packed.txt", gzipped("a\n"))}), Lines{"a"});
  // Several parts in one file, as cat makes them, and zeros behind the last.
  EXPECT_EQ(lines_of({put(dir / "parts", gzipped("a\nb") + gzipped("") + gzipped("c\n") + std::string(100, '\0'))}),
            (Lines{"a", "bc"}));
}

TEST(LineReader, LongLines) {
  const TempFolder dir;
  for (const size_t n : {size_t{65535}, size_t{65536}, size_t{262144}, size_t{262145}, size_t{3000000}}) {
    const std::string line(n, 'x');
    EXPECT_EQ(lines_of({put(dir / "a", "s\n" + line + "\n" + line)}), (Lines{"s", line, line})) << n;
    EXPECT_EQ(lines_of({put(dir / "a", gzipped(line + "\r\ns"))}), (Lines{line, "s"})) << n;
  }
}

TEST(LineReader, StandardInput) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const int old = dup(STDIN_FILENO);
  dup2(pipes[0], STDIN_FILENO);
  ASSERT_EQ(write(pipes[1], "a\nb\n", 4), 4);
  close(pipes[1]);
  LineReader reader("-");
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(reader.place(), "stdin:1");
  EXPECT_TRUE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
  dup2(old, STDIN_FILENO);
  close(old);
  close(pipes[0]);
}

TEST(LineReader, Messages) {
  const TempFolder dir;
  put(dir / "train.en", "a\n");
  const auto says = [&](const std::string& file) { return error_with_kind([&] { lines_of({file}); }); };
  const std::string text = "one line\nanother line\n", packed = gzipped(text);
  std::string wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= 1;
  const struct {
    std::string file, says;
  } cases[] = {
      {dir / "train.ne", "io: cannot read " + (dir / "train.ne") + ": No such file or directory\n  fix: did you mean " +
                             (dir / "train.en") + "?"},
      {dir / "xyzzy", "io: cannot read " + (dir / "xyzzy") + ": No such file or directory\n  fix: check the name"},
      {dir / "no/a", "io: cannot read " + (dir / "no/a") +
                         ": No such file or directory\n  fix: check the name: there is no folder " + (dir / "no")},
      {dir.path(), "io: cannot read " + dir.path() + ": Is a directory\n  fix: name a file in it"},
      {put(dir / "cut.gz", packed.substr(0, packed.size() - 4)),
       "data: " + (dir / "cut.gz") +
           ":3: the compressed data ends too early\n  fix: fetch the file again, or compress it again"},
      {put(dir / "sum.gz", wrong_sum), "data: " + (dir / "sum.gz") +
                                           ":3: the compressed data is broken (incorrect data check)\n"
                                           "  fix: fetch the file again, or compress it again"},
      {put(dir / "tail.gz", packed + "tail"), "data: " + (dir / "tail.gz") +
                                                  ":3: the compressed data is broken (incorrect header check)\n"
                                                  "  fix: fetch the file again, or compress it again"},
      {put(dir / "a.xz", "\xfd\x37zXZ"),
       "data: " + (dir / "a.xz") + " is compressed by xz; only gzip is read\n  fix: unpack it by xz -d"},
      {put(dir / "a.zip", "PK\x03\x04"),
       "data: " + (dir / "a.zip") + " is a zip archive; only gzip is read\n  fix: unpack it"},
      {put(dir / "utf16",
           "\xff\xfe"
           "a"),
       "data: " + (dir / "utf16") +
           " is in UTF-16, not in UTF-8\n  fix: convert it by iconv -f utf-16 -t utf-8; in a recipe, set "
           "data.encoding = \"utf-16\""},
  };
  for (const auto& c : cases) EXPECT_EQ(says(c.file), c.says);
  EXPECT_EQ(error_with_kind([] {
              lines_of({"-", "-"});
            }),
            "data: the standard input (-) can be read only once\n  fix: put it into a file");
}

TEST(LineReader, ALineWithoutEndIsRefusedBeforeMemoryRunsOut) {
  EXPECT_EQ(error_with_kind([] { lines_of({"/dev/zero"}); }),
            "data: /dev/zero:1: a line of more than 64 MB\n  fix: check that this is a text file");
}

TEST(LineReader, LinesBeforeTheBreakAreRead) {
  const TempFolder dir;
  std::string text;
  Random random(7);
  for (int i = 0; i < 500; ++i) text += std::to_string(i) + " " + std::to_string(random.next()) + "\n";
  const std::string packed = gzipped(text);
  for (size_t cut = 0; cut < packed.size(); cut += 7) {  // every cut is found, and no line before it is wrong
    LineReader reader(put(dir / "cut.gz", packed.substr(0, cut)));
    std::string_view line;
    size_t at = 0;
    try {
      while (reader.next(line)) {
        ASSERT_EQ(text.compare(at, line.size(), line), 0) << cut;
        at += line.size() + 1;
      }
      EXPECT_EQ(cut, 0u);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::data);
      EXPECT_NE(std::string(e.what()).find(":" + std::to_string(reader.line() + 1) + ": the compressed data ends"),
                std::string::npos)
          << e.what();
    }
  }
}

TEST(LineReader, RandomBytesAreLinesOrAnError) {
  const TempFolder dir;
  Random random(11);
  const std::string packed = gzipped("some text\nof two lines, " + std::string(300, 'x') + "\n");
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = round % 2 ? packed : std::string();
    if (round % 2 == 0) bytes.resize(random.below(400));
    for (uint64_t i = 0, n = round % 2 ? 1 + random.below(4) : bytes.size(); i < n; ++i)
      bytes[round % 2 ? random.below(bytes.size()) : i] = static_cast<char>(random.next() & (round % 3 ? 0xff : 0x1f));
    if (round % 6 == 0) bytes = "\x1f\x8b\x08" + bytes;
    put(dir / "random", bytes);
    try {
      const Lines lines = lines_of({dir / "random"});
      if (bytes.starts_with("\x1f\x8b")) continue;
      const int64_t ends = std::count(bytes.begin(), bytes.end(), '\n');
      EXPECT_EQ(std::ssize(lines), ends + (!bytes.empty() && bytes.back() != '\n'));
    } catch (const Error& e) { EXPECT_EQ(e.kind(), ErrorKind::data) << e.what(); }
  }
}

}  // namespace
}  // namespace attune::test
