#include "text/normalize.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/lower_case.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

enum class Treatment { keep, drop, space };

Treatment ascii_treatment(char32_t c) {
  if (c > ' ' && c < 0x7F) return Treatment::keep;
  return c == ' ' || (c >= '\t' && c <= '\r') ? Treatment::space : Treatment::drop;
}

Treatment treatment(char32_t c) {
  if (c < 0x80) return ascii_treatment(c);
  if (c == 0x85 || c == 0x200B || c == 0x2581) return Treatment::space;
  if (c == 0xAD || c == 0x200E || c == 0x200F || c == 0x2060 || c == 0xFEFF) return Treatment::drop;
  if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) return Treatment::drop;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Treatment::space;
    case UTF8PROC_CATEGORY_CC:
      return Treatment::drop;
    default:
      return Treatment::keep;
  }
}

int combining_class(char32_t c) {
  return c < 0x300 ? 0 : utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

/// A character on its way, and where it came from.
struct Mark {
  char32_t code;
  int order;  // the canonical combining class; 0: a starter
  Span from;
};
using Marks = std::vector<Mark>;

constexpr auto kForm = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);

void decompose(char32_t c, Span from, bool lowercase, Marks& out) {
  utf8proc_int32_t parts[64];  // the longest decomposition of Unicode has 18
  int boundary = UTF8PROC_BOUNDCLASS_START;
  utf8proc_ssize_t n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 64, kForm, &boundary);
  if (n < 1 || n > 64) {
    parts[0] = static_cast<utf8proc_int32_t>(c);
    n = 1;
  }
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    const auto part = static_cast<char32_t>(parts[i]);
    const char32_t code = lowercase ? lower(part) : part;
    out.push_back({code, combining_class(code), from});
  }
}

/// Accents that do not touch each other stand in one fixed order.
void order(Marks& marks) {
  for (size_t i = 0; i < marks.size();) {
    size_t end = i;
    while (end < marks.size() && marks[end].order) ++end;
    if (end - i > 1)
      std::stable_sort(marks.begin() + static_cast<ptrdiff_t>(i), marks.begin() + static_cast<ptrdiff_t>(end),
                       [](const Mark& a, const Mark& b) { return a.order < b.order; });
    i = end + 1;
  }
}

/// The one character that two make, 0 if none.
char32_t composed(char32_t first, char32_t second) {
  if (second < 0x300) return 0;  // no accent lies below
  utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second), 0};
  return utf8proc_normalize_utf32(pair, 2, kForm) == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

/// Joins letters with their accents, in place.
void compose(Marks& marks) {
  size_t size = 0, starter = marks.size();
  for (size_t i = 0; i < marks.size(); ++i) {
    const Mark m = marks[i];
    // A mark of the same class, or a starter, between the two keeps them apart.
    const bool near =
        starter < size && (starter + 1 == size || (marks[size - 1].order && marks[size - 1].order < m.order));
    if (const char32_t one = near ? composed(marks[starter].code, m.code) : 0) {
      Span& from = marks[starter].from;
      marks[starter].code = one;
      from = {std::min(from.begin, m.from.begin), std::max(from.end, m.from.end)};
      continue;
    }
    if (m.order == 0) starter = size;
    marks[size++] = m;
  }
  marks.resize(size);
}

/// Writes characters with single spaces between words.
class Writer {
 public:
  Writer(std::string& text, std::vector<Span>* spans) : text_(text), spans_(spans) {}
  void put(char32_t code, Span from) {
    if (code == ' ') {
      if (!waiting_) space_ = from;
      space_.end = from.end;
      waiting_ = true;
      return;
    }
    if (waiting_ && !text_.empty()) write(' ', space_);
    waiting_ = false;
    write(code, from);
  }

 private:
  void write(char32_t code, Span from) {
    append_utf8(text_, code);
    if (spans_) spans_->resize(text_.size(), from);
  }
  std::string& text_;
  std::vector<Span>* spans_;
  bool waiting_ = false;
  Span space_;
};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string normalize(std::string_view line, bool lowercase, std::vector<Span>* spans) {
  std::string text;
  text.reserve(line.size());
  if (spans) {
    spans->clear();
    spans->reserve(line.size());
  }
  Writer writer(text, spans);
  Span at{0, 1};
  if (is_ascii(line)) {  // most lines: nothing to take apart or to join
    for (const char c : line) {
      const auto code = static_cast<unsigned char>(c);
      const Treatment t = ascii_treatment(code);
      const bool capital = lowercase && code >= 'A' && code <= 'Z';
      if (t != Treatment::drop) writer.put(t == Treatment::space ? ' ' : capital ? code + 32u : code, at);
      at = {at.end, at.end + 1};
    }
    return text;
  }
  Marks marks;
  marks.reserve(line.size());
  for (Character c : Characters(line)) {
    const Treatment t = treatment(c.code);
    if (t == Treatment::space)
      marks.push_back({' ', 0, at});
    else if (t == Treatment::keep && c.code < 0x80 && !lowercase)
      marks.push_back({c.code, 0, at});
    else if (t == Treatment::keep)
      decompose(c.code, at, lowercase, marks);
    at = {at.end, at.end + 1};
  }
  order(marks);
  compose(marks);
  for (const Mark& m : marks) writer.put(m.code, m.from);
  return text;
}

}  // namespace attune::text
