#include "kernels/vocabulary/columns.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/matrix/int8_tiles.h"

namespace attune::kernels {

PackedMatrix pack_rows(const float* w, int64_t k, std::span<const int32_t> rows, float* to) {
  thread_local std::vector<float> copy;  // of one thread, taken once and kept
  copy.resize(std::max(copy.size(), rows.size() * static_cast<size_t>(k)));
  float* at = copy.data();
  for (const int32_t row : rows) at = std::copy_n(w + row * k, k, at);
  return pack(copy.data(), k, true, k, std::ssize(rows), to);
}

namespace {

/// Column `from` of panels to column `to` of others; groups of neighbours in k lie together.
template <int kGroup>
void copy_column(const int8_t* from, int64_t depth, int64_t panel, int8_t* to) {
  for (int64_t p = 0; p < depth; p += kGroup) std::memcpy(to + p * panel, from + p * panel, kGroup);
}

}  // namespace

PackedInt8 pack_rows(const PackedInt8& w, std::span<const int32_t> rows, int8_t* to) {
  const int64_t depth = (w.k + kInt8Depth - 1) / kInt8Depth * kInt8Depth, panel = w.panel, n = std::ssize(rows);
  const int64_t padded = (n + panel - 1) / panel * panel;
  auto* scales = reinterpret_cast<float*>(to + padded * depth);
  auto* sums = reinterpret_cast<int32_t*>(scales + padded);
  const auto place = [&](int64_t j) { return j / panel * panel * depth + j % panel * w.group; };
  for (int64_t j = 0; j < padded; ++j) {
    // What pads the last panel need not be zero: nobody reads its sums.
    const int64_t row = j < n ? rows[static_cast<size_t>(j)] : 0;
    w.group == 4 ? copy_column<4>(w.data + place(row), depth, panel, to + place(j))
                 : copy_column<2>(w.data + place(row), depth, panel, to + place(j));
    scales[j] = w.scales[row];
    sums[j] = w.sums[row];
  }
  return {to, scales, sums, w.k, n, w.panel, w.group};
}

}  // namespace attune::kernels
