// The maps of a look as SVG, for a file of its own or for a page.
#pragma once
#include <string>

#include "attune/look.h"

namespace attune::show {

/// One large map, in which every cell is an element of class "c" with its weight as a title, in the order of the rows;
/// or all heads, small. Colours come from classes; `in_page`: whose style is plot_style().
std::string svg_maps(const AttentionLook& look, bool large, bool in_page);
/// One map without names, a unit a cell: as large as whoever shows it wants it.
std::string small_map(const std::string& title, const std::vector<float>& weights, size_t columns);
/// The first words of both sides below each other, and lines between those that belong together.
std::string draw_pairs(const AttentionLook& look);

}  // namespace attune::show
