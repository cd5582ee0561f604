// What a terminal can show, and a line at its bottom that is written over and over while others go by above it.
#pragma once
#include <string>

namespace attune::cli {

/// Columns of the terminal behind a file descriptor, as it is now; 80 where nobody knows.
int terminal_columns(int fd);
/// Whether it is a terminal that can go back to the begin of a line.
bool is_live(int fd);
/// Whether a pipe or a file stands there that has something to read within a moment, or has come to its end.
bool is_piped(int fd);
/// Whether it is a pipe that has nothing to read now, and may have later.
bool is_pipe(int fd);
/// Whether to use colours there: a terminal, and neither NO_COLOR nor TERM=dumb speak against it.
bool has_colours(int fd);

/// Text in colours, or as it is.
struct Paint {
  bool on = false;
  std::string good(const std::string& text) const { return with("32", text); }
  std::string bad(const std::string& text) const { return with("31", text); }
  std::string notice(const std::string& text) const { return with("33", text); }
  std::string strong(const std::string& text) const { return with("1", text); }
  std::string faint(const std::string& text) const { return with("2", text); }

 private:
  std::string with(const char* code, const std::string& text) const {
    return on && !text.empty() ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
};

/// The last line of stderr, while it lives. It hides no cursor and changes no mode: whatever ends the program, the
/// terminal is as it was.
class LiveLine {
 public:
  LiveLine() = default;
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  /// Shows `text`, `columns` wide, instead of what the line had. Nothing happens while the program is in the
  /// background.
  void show(const std::string& text, int columns);
  /// Writes whole lines above it; it comes again with the next show().
  void above(const std::string& lines);
  void clear() { above(""); }

 private:
  /// What removes the line from the screen.
  std::string wipe();
  int shown_ = 0;  // columns of the line on the screen
};

}  // namespace attune::cli
