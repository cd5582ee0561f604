#include "attune/text.h"

#include "text/width.h"

namespace attune {

std::string fit_columns(std::string_view text, int columns) {
  const std::string safe = text::harmless(text);
  return columns > 0 ? text::shortened(safe, columns) : safe;
}

}  // namespace attune
