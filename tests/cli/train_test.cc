// attune train as people watch it and scripts read it: on a terminal, in a pipe, with --json.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "attune/text.h"
#include "data/files.h"
#include "places.h"
#include "run_program.h"
#include "text/width.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

/// Two files of a few words, and a recipe of a model so small that an update takes a millisecond.
std::string small_recipe(const TempFolder& dir, const std::string& stop) {
  std::string lines;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 3 + i % 3; ++j)
      lines += (j ? " " : "") + std::string(1, static_cast<char>('a' + (i * 7 + j * 5) % 20));
    lines += "\n";
  }
  put(dir / "a.en", lines);
  put(dir / "a.de", lines);
  return put(dir / "r.toml",
             "task = \"translate\"\n[data]\ntrain = [\"a.en\", \"a.de\"]\nvalid = [\"a.en\", \"a.de\"]\n"
             "[tokenizer]\nkind = \"word\"\n[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nd_ff = 16\n"
             "heads = 2\n[train]\nbatch_tokens = 128\nshards = 1\nvalidate = \"100u\"\naverage = 1\nschedule = "
             "\"inverse-sqrt\"\nstop = \"" +
                 stop + "\"\n");
}

TEST(Train, TellsInAPipeWhatMarianWouldAndHowToGoOn) {
  const TempFolder dir;
  const Outcome r = run_attune({"train", small_recipe(dir, "200u"), "--out", dir / "m"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find(" : Up. 100 : "), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find('\r'), std::string::npos);
  EXPECT_EQ(r.err.find('\x1b'), std::string::npos);
  EXPECT_TRUE(r.err.ends_with("  attune translate " + (dir / "m") + " FILE\n")) << r.err;
  EXPECT_EQ(run_attune({"train", dir / "r.toml", "--out", dir / "q", "--quiet"}).err, "");
}

TEST(Train, JsonIsWhatMetricsHas) {
  const TempFolder dir;
  const Outcome r = run_attune({"train", small_recipe(dir, "200u"), "--out", dir / "m", "--json", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out, slurp(dir / "m/metrics.jsonl"));
  std::istringstream lines(r.out);
  int validations = 0;
  Json last;
  for (std::string line; std::getline(lines, line);) {
    last = Json::parse(line);
    validations += last.contains("valid_bleu") && last.contains("best");
  }
  EXPECT_EQ(validations, 2);
  EXPECT_EQ(last["finished"], true);
}

TEST(Train, TheFolderOfARunGoesOnAndInfoSaysItsWeights) {
  const TempFolder dir;
  ASSERT_EQ(run_attune({"train", small_recipe(dir, "200u"), "--out", dir / "m", "--quiet"}).code, 0);
  const Outcome on = run_attune({"train", dir / "m", "--set", "train.stop=250u"});
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_NE(on.err.find("going on from update 200\n"), std::string::npos) << on.err;
  EXPECT_TRUE(std::regex_search(on.err, std::regex("the model is the best one, update [0-9]+: bleu [0-9.]+\n")))
      << on.err;
  const std::string info = run_attune({"info", dir / "m"}).out;
  EXPECT_TRUE(std::regex_search(info, std::regex("\nweights +the best, update [0-9]+ of 250: bleu [0-9.]+\n"))) << info;
  EXPECT_EQ(info.find("\nupdate "), std::string::npos) << info;
  const Outcome none = run_attune({"train", dir.path()});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("is a folder, and there is no run in it\n  fix: "), std::string::npos) << none.err;
}

/// A program on a terminal of its own.
class OnTerminal {
 public:
  OnTerminal(const std::vector<std::string>& arguments, int columns) {
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(master_ >= 0 && grantpt(master_) == 0 && unlockpt(master_) == 0);
    resize(columns);
    const std::string name = ptsname(master_);
    child_ = fork();
    if (child_ == 0) {
      setsid();
      const int side = open(name.c_str(), O_RDWR);
      ioctl(side, TIOCSCTTY, 0);
      for (int fd : {0, 1, 2}) dup2(side, fd);
      close(master_);
      setenv("TERM", "xterm-256color", 1);
      unsetenv("NO_COLOR");
      std::vector<char*> words{const_cast<char*>(program_path().c_str())};
      for (const std::string& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
      words.push_back(nullptr);
      execv(program_path().c_str(), words.data());
      _exit(127);
    }
  }
  ~OnTerminal() {
    if (child_ > 0) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
    close(master_);
  }
  void resize(int columns) {
    winsize size{};
    size.ws_row = 30;
    size.ws_col = static_cast<unsigned short>(columns);
    ioctl(master_, TIOCSWINSZ, &size);
  }
  void type(const std::string& keys) { EXPECT_EQ(write(master_, keys.data(), keys.size()), std::ssize(keys)); }
  /// Reads until the text has come, or the program has gone. All that came since the last time.
  std::string until(const std::string& text) {
    std::string seen;
    while (text.empty() || seen.find(text) == std::string::npos) {
      char part[4096];
      const ssize_t n = read(master_, part, sizeof(part));
      if (n <= 0) break;
      seen.append(part, static_cast<size_t>(n));
    }
    return seen;
  }
  int code() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  int master_ = -1;
  pid_t child_ = -1;
};

/// The widest line, as the terminal would show it.
int widest(const std::string& screen) {
  int most = 0;
  const std::string plain = std::regex_replace(screen, std::regex("\x1b\\[[0-9]*[A-Za-z]"), "");
  std::string line;
  for (char c : plain + "\n") {
    if (c != '\n' && c != '\r') {
      line += c;
      continue;
    }
    const bool whole = line.starts_with("the model is in ") || line.starts_with("  note ");  // never cut
    if (!whole) most = std::max(most, text::display_width(line));
    line.clear();
  }
  return most;
}

TEST(Train, ShowsABarOnATerminal) {
  const TempFolder dir;
  OnTerminal t({"train", small_recipe(dir, "600u"), "--out", dir / "m"}, 72);
  const std::string screen = t.until("");
  EXPECT_EQ(t.code(), 0);
  EXPECT_NE(screen.find("\x1b[32m#"), std::string::npos) << screen;
  EXPECT_NE(screen.find("/600  "), std::string::npos) << screen;
  EXPECT_NE(screen.find("best so far"), std::string::npos) << screen;
  EXPECT_NE(screen.find("attune translate " + (dir / "m") + " FILE"), std::string::npos) << screen;
  EXPECT_LT(widest(screen), 72) << screen;
  EXPECT_EQ(screen.find("\x1b[?25l"), std::string::npos);  // no cursor is hidden
}

TEST(Train, CtrlCSavesAndTheSameCommandGoesOn) {
  const TempFolder dir;
  const std::vector<std::string> command{"train", small_recipe(dir, "2000000u"), "--out", dir / "m"};
  OnTerminal t(command, 80);
  t.until("tok/s");
  t.resize(40);
  t.type("\x03");
  const std::string screen = t.until("");
  EXPECT_EQ(t.code(), 75);
  EXPECT_NE(screen.find("saving a checkpoint (Ctrl-C again to stop at once)\r\n"), std::string::npos) << screen;
  std::smatch saved;
  ASSERT_TRUE(std::regex_search(screen, saved, std::regex("saved at update ([0-9,]+); the same command goes on\r\n$")))
      << screen;
  OnTerminal again(command, 80);
  EXPECT_NE(again.until("at update " + saved[1].str()).find("resumed"), std::string::npos);
  again.until("tok/s");
  again.type("\x03\x03");  // at once, whatever is being saved
  again.until("");
  const int code = again.code();
  EXPECT_TRUE(code == 130 || code == 75) << code;
}

}  // namespace
}  // namespace attune::test
