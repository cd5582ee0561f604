#include "attune/lines.h"

#include "data/files/line_reader.h"

namespace attune {

struct TextLines::Body {
  LineReader reader;
  int64_t count = 0;
};

TextLines::TextLines(std::vector<std::string> files) : body_(new Body{LineReader(std::move(files))}) {}
TextLines::~TextLines() = default;

bool TextLines::next(std::string& line) {
  std::string_view text;
  if (!body_->reader.next(text)) return false;
  line = text;
  ++body_->count;
  return true;
}

bool TextLines::ready() const { return body_->reader.ready(); }
int64_t TextLines::count() const { return body_->count; }
std::string TextLines::place() const { return body_->reader.place(); }

}  // namespace attune
