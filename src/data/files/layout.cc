#include "data/files/layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace attune {

namespace {

int64_t packed_numbers(const TypedColumn& c, int64_t rows) {
  return c.type == ColumnType::u8 ? (rows * c.width + 3) / 4 : rows * c.width;
}

/// Whether it has a row for each row of the sequence.
bool counts_rows(ColumnUse use) {
  return use == ColumnUse::ids || use == ColumnUse::values || use == ColumnUse::places || use == ColumnUse::weights;
}

std::span<const int32_t> whole_of(const Rows& r, ColumnUse use) {
  switch (use) {
    case ColumnUse::ids:
      return r.ids;
    case ColumnUse::places:
      return r.places;
    case ColumnUse::edge_start:
      return r.edges.start;
    case ColumnUse::edge_to:
      return r.edges.to;
    case ColumnUse::edge_label:
      return r.edges.label;
    default:
      return {};
  }
}

/// The sizes of a grid whose places these are.
std::vector<int32_t> sizes_of_grid(const Rows& r) {
  std::vector<int32_t> sizes;
  for (int64_t a = 0; a < r.axes; ++a)
    sizes.push_back(r.places.empty() ? 0 : r.places[static_cast<size_t>((r.rows() - 1) * r.axes + a)] + 1);
  return sizes;
}

void put_floats(const TypedColumn& c, std::span<const float> from, std::vector<int32_t>& run) {
  if (c.type == ColumnType::f32) {
    for (const float x : from) run.push_back(std::bit_cast<int32_t>(x));
    return;
  }
  const size_t at = run.size();
  run.resize(at + (from.size() + 3) / 4, 0);
  auto* bytes = reinterpret_cast<uint8_t*>(run.data() + at);
  for (size_t i = 0; i < from.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::lround(std::clamp(from[i], 0.0f, 1.0f) * 255));
}

void take_floats(const TypedColumn& c, std::span<const int32_t> from, int64_t count, Column<float>& to) {
  std::vector<float>& own = to.own();
  const size_t at = own.size();
  own.resize(at + static_cast<size_t>(count));
  if (count == 0) return;
  if (c.type == ColumnType::f32) {
    std::memcpy(own.data() + at, from.data(), static_cast<size_t>(count) * sizeof(float));
    return;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(from.data());
  for (int64_t i = 0; i < count; ++i) own[at + static_cast<size_t>(i)] = static_cast<float>(bytes[i]) / 255;
}

}  // namespace

void add_grid_places(std::span<const int32_t> sizes, Column<int32_t>& places) {
  std::vector<int32_t>& own = places.own();
  std::vector<int32_t> at(sizes.size(), 0);
  int64_t all = 1;
  for (const int32_t s : sizes) all *= s;
  for (int64_t i = 0; i < all; ++i) {
    own.insert(own.end(), at.begin(), at.end());
    for (size_t a = at.size(); a-- > 0 && ++at[a] == sizes[a];) at[a] = 0;
  }
}

void Layout::pack(const Rows& r, std::span<const float> weights, std::vector<int32_t>& run) {
  run.assign(columns.size(), 0);
  longest = std::max(longest, r.rows());
  for (size_t i = 0; i < columns.size(); ++i) {
    const TypedColumn& c = columns[i];
    const size_t before = run.size();
    int64_t count = 0;  // numbers, unpacked
    if (c.use == ColumnUse::values || c.use == ColumnUse::weights) {
      const std::span<const float> from = c.use == ColumnUse::values ? std::span<const float>(r.values) : weights;
      put_floats(c, from, run);
      count = std::ssize(from);
    } else if (c.use == ColumnUse::grid) {
      const std::vector<int32_t> sizes = sizes_of_grid(r);
      run.insert(run.end(), sizes.begin(), sizes.end());
      count = std::ssize(sizes);
    } else {
      const auto from = whole_of(r, c.use);
      run.insert(run.end(), from.begin(), from.end());
      count = std::ssize(from);
    }
    check(count % c.width == 0 && (!counts_rows(c.use) || count == r.rows() * c.width), "layout",
          "column {} has {} numbers in an example of {} rows", i, count, r.rows());
    run[i] = static_cast<int32_t>(count / c.width);
    check(std::ssize(run) - static_cast<int64_t>(before) == packed_numbers(c, run[i]), "layout", "column {} is cut", i);
  }
}

int64_t Layout::rows(std::span<const int32_t> run) const {
  check(run.size() >= columns.size(), "layout", "a run of {} numbers has no {} columns", run.size(), columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    if (counts_rows(columns[i].use)) return run[i];
  fail(ErrorKind::internal, "layout: no column has a row for each row");
}

void Layout::unpack(std::span<const int32_t> run, Rows& to, Column<float>* weights) const {
  const int64_t n = rows(run);
  auto at = static_cast<int64_t>(columns.size());
  const auto first_edge = static_cast<int32_t>(to.edges.to.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const TypedColumn& c = columns[i];
    const int64_t numbers = packed_numbers(c, run[i]);
    check(run[i] >= 0 && (!counts_rows(c.use) || run[i] == n) && at + numbers <= std::ssize(run), "layout",
          "column {} has {} rows, the example {}, in a run of {} numbers", i, run[i], n, run.size());
    const auto part = run.subspan(static_cast<size_t>(at), static_cast<size_t>(numbers));
    at += numbers;
    switch (c.use) {
      case ColumnUse::ids:
        to.ids.append(part);
        break;
      case ColumnUse::values:
        to.width = c.width;
        take_floats(c, part, n * c.width, to.values);
        break;
      case ColumnUse::grid:
        to.axes = std::ssize(part);
        add_grid_places(part, to.places);
        break;
      case ColumnUse::places:
        to.axes = c.width;
        to.places.append(part);
        break;
      case ColumnUse::edge_start: {
        check(std::ssize(part) == n + 1, "layout", "{} rows have {} begins of edges", n, part.size());
        std::vector<int32_t>& start = to.edges.start.own();
        if (start.empty()) start.push_back(0);
        for (size_t r = 1; r < part.size(); ++r) start.push_back(first_edge + part[r]);
        break;
      }
      case ColumnUse::edge_to:
        to.edges.to.append(part);
        break;
      case ColumnUse::edge_label:
        to.edges.label.append(part);
        break;
      case ColumnUse::weights:
        check(weights != nullptr, "layout", "nobody takes the weights");
        take_floats(c, part, n, *weights);
        break;
    }
  }
  to.segments.add(n);
}

}  // namespace attune
