#include "show/look_json.h"

#include <fmt/core.h>

#include <cmath>

#include "attune/show.h"
#include "base/text.h"
#include "show/html.h"

namespace attune {

namespace show {

namespace {

const char* site_name(AttentionSite at) {
  return at == AttentionSite::cross ? "cross" : at == AttentionSite::encoder ? "encoder" : "decoder";
}

std::string list_of(const std::vector<std::string>& entries) { return "[" + join(entries, ",") + "]"; }

std::string quoted_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& w : words) quoted.push_back(json_quoted(w));
  return list_of(quoted);
}

/// [rows, columns]
std::string rows_json(const std::vector<float>& weights, size_t columns, int digits) {
  const double scale = std::pow(10.0, digits);
  std::vector<std::string> rows, row;
  for (const float w : weights) {
    row.push_back(std::isfinite(w) ? fmt::format("{}", std::round(static_cast<double>(w) * scale) / scale) : "null");
    if (row.size() < columns) continue;
    rows.push_back(list_of(row));
    row.clear();
  }
  return list_of(rows);
}

}  // namespace

std::string json_of(const AttentionLook& look, int digits) {
  const size_t columns = look.columns.size();
  std::vector<std::string> sites, pairs, silent;
  for (const AttentionHead& h : look.each)
    sites.push_back(fmt::format(R"({{"site":"{}","layer":{},"head":{},"weights":{}}})", site_name(look.at), h.layer,
                                h.head, rows_json(h.weights, columns, digits)));
  for (const auto& [source, target] : look.alignment) pairs.push_back(fmt::format("[{},{}]", source, target));
  for (const int layer : look.silent) silent.push_back(std::to_string(layer));
  const std::string down = quoted_list(look.rows), across = quoted_list(look.columns);
  std::string out = fmt::format(R"({{"task":{},"input":{},"text":{},"rows":{},"columns":{},"sites":{},"alignment":{})",
                                json_quoted(look.task), json_quoted(look.source), json_quoted(look.text), down, across,
                                list_of(sites), list_of(pairs));
  // The one that stands out; source and target are what columns and rows were called before there were several.
  out += fmt::format(R"(,"source":{},"target":{},"site":"{}","layer":{},"head":{},"layers":{},"heads":{},"weights":{})",
                     across, down, site_name(look.at), look.layer, look.head, look.layers, look.heads,
                     rows_json(look.weights, columns, digits));
  return out + fmt::format(R"(,"cropped":{},"without_weights":{}}})", look.cropped, list_of(silent));
}

}  // namespace show

std::string look_json(const AttentionLook& look) { return show::json_of(look, 6); }

}  // namespace attune
