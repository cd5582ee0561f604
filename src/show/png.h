// Pictures as PNG, by libpng.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attune/show.h"

namespace attune::show {

/// `rgb`: width * height * 3 bytes, rows from the top.
std::string png_of(int width, int height, const std::vector<uint8_t>& rgb);

/// Who looked at whom: a square of `cell` points a weight, white for none to dark blue for all.
std::string attention_png(const AttentionPicture& picture, int cell = 16);

}  // namespace attune::show
