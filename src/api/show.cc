#include "attune/show.h"

#include "base/error.h"
#include "base/files.h"
#include "show/attention.h"

namespace attune {

namespace {

show::Attention view_of(const AttentionPicture& p, const char* op) {
  const auto rows = static_cast<int64_t>(p.rows.size()), columns = static_cast<int64_t>(p.columns.size());
  check(p.weights.size() == p.rows.size() * p.columns.size(), op, "{} weights for {} rows and {} columns",
        p.weights.size(), rows, columns);
  return {p.rows, p.columns, Tensor(p.weights.data(), {rows, columns})};
}

}  // namespace

void write_look(const AttentionLook& look, const LookFiles& files) {
  if (!files.png.empty()) write_drawing(files.png, look_png(look, files.large));
  if (!files.svg.empty()) write_drawing(files.svg, look_svg(look, files.large));
  if (!files.html.empty()) write_drawing(files.html, look_page(look));
}

std::string draw_attention(const AttentionPicture& picture, const DrawOptions& options) {
  return show::draw(view_of(picture, "draw_attention"), options);
}

std::string alignment(const AttentionPicture& picture) { return show::pharaoh(view_of(picture, "alignment")); }

}  // namespace attune
