#include "show/png.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace attune::show {

std::string png_of(int width, int height, const std::vector<uint8_t>& rgb) {
  check(width > 0 && height > 0 && std::ssize(rgb) == int64_t{3} * width * height, "png", "{} bytes for {} x {} points",
        rgb.size(), width, height);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  const auto write = [&](void* to) {
    if (!png_image_write_to_memory(&image, to, &bytes, 0, rgb.data(), 0, nullptr))
      fail(ErrorKind::internal, "png: {}", image.message);
  };
  write(nullptr);
  std::string png(bytes, '\0');
  write(png.data());
  png.resize(bytes);
  return png;
}

std::string attention_png(const AttentionPicture& p, int cell) {
  const int rows = static_cast<int>(p.rows.size()), columns = static_cast<int>(p.columns.size());
  std::vector<uint8_t> rgb;
  rgb.reserve(static_cast<size_t>(3 * rows * columns * cell * cell));
  for (int y = 0; y < rows * cell; ++y)
    for (int x = 0; x < columns * cell; ++x) {
      const float w = std::clamp(p.weights[static_cast<size_t>(y / cell * columns + x / cell)], 0.0f, 1.0f);
      // Straight from white to the dark end: half as much looks half as dark.
      for (const float dark : {8.0f, 48.0f, 107.0f})
        rgb.push_back(static_cast<uint8_t>(std::lround(255 + (dark - 255) * w)));
    }
  return png_of(columns * cell, rows * cell, rgb);
}

}  // namespace attune::show
