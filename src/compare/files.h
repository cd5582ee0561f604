// What a comparison leaves on the disk: compare.json, compare.md and compare.html, and in the folder of each run
// measured.json, which a comparison that goes on reads instead of measuring again.
#pragma once
#include <optional>
#include <string>

#include "attune/compare.h"

namespace attune {

constexpr const char* kMeasuredName = "measured.json";

/// What was measured on the model that the folder holds now; none where it is another one, or nothing was.
std::optional<VariantFigures> read_figures(const std::string& folder);
void save_figures(const std::string& folder, const VariantFigures& figures);

/// All but the pictures.
std::string comparison_json(const Comparison& comparison);
/// The table as Markdown, the best of each column in bold.
std::string comparison_markdown(const Comparison& comparison);
/// One page without scripts that needs nothing else: table, plots, pictures.
std::string comparison_page(const Comparison& comparison);

}  // namespace attune
