// Lines that a person types at a terminal, with editing and a history where libedit was there when attune was built.
#pragma once
#include <memory>
#include <string>

namespace attune::cli {

class LineEditor {
 public:
  /// Shows `prompt`, and what is typed, on stderr: stdout is for data.
  explicit LineEditor(std::string prompt);
  ~LineEditor();
  /// False when there is no more (Ctrl-D).
  bool next(std::string& line);

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune::cli
