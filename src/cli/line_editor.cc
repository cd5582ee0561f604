#include "cli/line_editor.h"

#include <clocale>
#include <cstdio>
#include <iostream>
#ifdef ATTUNE_HAS_LIBEDIT
#include <histedit.h>
#endif

namespace attune::cli {

#ifdef ATTUNE_HAS_LIBEDIT

struct LineEditor::Body {
  std::string prompt;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event = {};

  static char* show(EditLine* editor) {
    Body* body = nullptr;
    el_get(editor, EL_CLIENTDATA, &body);
    return body->prompt.data();
  }
};

LineEditor::LineEditor(std::string prompt) : body_(std::make_unique<Body>()) {
  std::setlocale(LC_CTYPE, "");  // so that it knows letters of several bytes
  body_->prompt = std::move(prompt);
  body_->editor = el_init("attune", stdin, stderr, stderr);
  body_->history = history_init();
  history(body_->history, &body_->event, H_SETSIZE, 1000);
  history(body_->history, &body_->event, H_SETUNIQUE, 1);
  el_set(body_->editor, EL_CLIENTDATA, body_.get());
  el_set(body_->editor, EL_PROMPT, &Body::show);
  el_set(body_->editor, EL_EDITOR, "emacs");
  el_set(body_->editor, EL_SIGNAL, 1);  // whatever ends the program, the terminal is as it was
  el_set(body_->editor, EL_HIST, history, body_->history);
  el_source(body_->editor, nullptr);  // ~/.editrc
}

LineEditor::~LineEditor() {
  history_end(body_->history);
  el_end(body_->editor);
}

bool LineEditor::next(std::string& line) {
  el_set(body_->editor, EL_PREP_TERM, 1);  // before the prompt is there: Ctrl-D right after it is no letter
  int count = 0;
  const char* typed = el_gets(body_->editor, &count);
  if (!typed || count <= 0) return false;
  line.assign(typed, static_cast<size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (!line.empty()) history(body_->history, &body_->event, H_ENTER, line.c_str());
  return true;
}

#else

struct LineEditor::Body {
  std::string prompt;
};

LineEditor::LineEditor(std::string prompt) : body_(new Body{std::move(prompt)}) {}
LineEditor::~LineEditor() = default;

bool LineEditor::next(std::string& line) {
  std::fputs(body_->prompt.c_str(), stderr);
  return static_cast<bool>(std::getline(std::cin, line));
}

#endif

}  // namespace attune::cli
