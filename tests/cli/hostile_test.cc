// What comes down a pipe is anything: lines that no one should write, readers that leave, disks that are full.
#include <gtest/gtest.h>

#include "api/model_maker.h"
#include "cli/shell.h"
#include "data/files.h"

namespace attune::test {
namespace {

/// A thousand lines; one of them has a megabyte.
std::string hostile_lines(unsigned seed) {
  using namespace std::string_literals;
  const std::vector<std::string> kinds{"",
                                       "   \t  ",
                                       "a dog runs",
                                       "nul \0 in \0\0 it"s,
                                       "\xff\xfe\xc3 broken \xe2\x82 utf-8 \xf0\x9f",
                                       "\xed\xa0\x80 surrogates \xed\xbf\xbf",
                                       "🐕🏃‍♀️👨‍👩‍👧‍👦 🇩🇪",
                                       "كلب يجري في الحديقة \u202e\u2067שלום\u2069",
                                       "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301 combining",
                                       "\x1b[31mred\x1b[0m \x07 bell",
                                       "||| ||| -0.5 ||| 0-0",
                                       "\r",
                                       "日本語のとても長い文",
                                       std::string(300, 'a'),
                                       "<s> </s> <pad> <unk>",
                                       "\xef\xbb\xbfmark"};
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    std::string line = kinds[random() % kinds.size()];
    if (i == 500)
      while (line.size() < (1 << 20)) line += "dogs run \xff ";
    text += line + "\n";
  }
  return text;
}

int64_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

struct Hostile : testing::Test {
  TempFolder dir;
  std::string model = make_model(dir), one = put(dir / "one", hostile_lines(1)),
              two = put(dir / "two", hostile_lines(2));
};

/// For what follows in a shell: no more than so much memory, so that a program that wants more fails. What a child had
/// at its most can't be asked afterwards: the system counts what its parent held when it began. Sanitizers have memory
/// of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
const std::string kLittleMemory = "ulimit -d 512000 && ";
#else
const std::string kLittleMemory;
#endif

TEST_F(Hostile, AThousandLinesAreAThousandTranslations) {
  for (const char* how : {"--beam 2 --scores --alignment", "--sample --json --batch-tokens 64"}) {
    const Outcome r = shell(model, kLittleMemory + "$A translate $M " + one + " --quiet --max-length 4 " + how);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(lines_in(r.out), 1000) << how;
  }
}

TEST_F(Hostile, AThousandLinesAreAThousandScores) {
  const Outcome r = shell(model, kLittleMemory + "$A score $M " + one + " " + two + " --quiet");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(lines_in(r.out), 1000);
  EXPECT_EQ(r.out.find("nan"), std::string::npos);
  EXPECT_EQ(r.out.find("inf"), std::string::npos);
}

TEST_F(Hostile, AThousandLinesAreAThousandVectors) {
  const Outcome r = shell(model, kLittleMemory + "$A embed $M " + one + " --quiet");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(lines_in(r.out), 1000);
}

/// Positions that go on for ever do not make memory do so.
TEST_F(Hostile, AMegabyteIsCroppedWhateverThePositions) {
  const TempFolder other;
  const std::string any = make_model(other, {.position = "alibi"});
  std::string megabyte(1 << 20, 'a');
  megabyte += '\n';
  const Outcome r = run_attune({"score", any, put(dir / "long", megabyte), put(dir / "short", "a dog\n"), "--json"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("\"cropped\":true"), std::string::npos);
  EXPECT_NE(r.err.find("note: 1 line was cropped to 4,095 tokens"), std::string::npos) << r.err;
}

TEST_F(Hostile, AReaderThatLeavesIsNoError) {
  for (const char* command : {"translate $M --beam 1 --max-length 2", "embed $M"}) {
    const Outcome r = shell(model, "yes 'a dog' | $A " + std::string(command) + " --quiet | head -1");
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(lines_in(r.out), 1);
    EXPECT_EQ(r.err, "");
  }
}

TEST_F(Hostile, AFullDiskIsTold) {
  const std::string short_one = put(dir / "short", "a dog\n");
  for (const std::string& command :
       {"translate $M " + short_one, "score $M " + short_one + " " + short_one, "embed $M " + short_one}) {
    const Outcome r = shell(model, "$A " + command + " > /dev/full");
    EXPECT_EQ(r.code, 6) << command;
    EXPECT_NE(r.err.find("cannot write the result to stdout: No space left on device"), std::string::npos) << r.err;
  }
}

TEST_F(Hostile, AClosedInputIsTold) {
  for (const char* command : {"translate $M", "score $M", "embed $M"}) {
    const Outcome r = shell(model, "$A " + std::string(command) + " <&-");
    EXPECT_EQ(r.code, 6) << r.err;
    EXPECT_NE(r.err.find("Bad file descriptor"), std::string::npos) << r.err;
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
}  // namespace attune::test
