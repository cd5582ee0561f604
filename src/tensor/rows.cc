#include "tensor/rows.h"

#include <algorithm>

namespace attune {

namespace {

void slice(const Segments& from, int64_t first, int64_t end, Segments& to) {
  to.start.clear();
  to.longest = 0;
  if (from.count() == 0) first = end = 0;
  for (int64_t i = first; i <= end; ++i)
    to.start.push_back(from.start[static_cast<size_t>(i)] - from.start[static_cast<size_t>(first)]);
  for (int64_t i = first; i < end; ++i) to.longest = std::max(to.longest, static_cast<int32_t>(from.length(i)));
}

}  // namespace

void Edges::clear() {
  start.clear();
  to.clear();
  label.clear();
}

void Rows::clear() {
  ids.clear();
  values.clear();
  segments.clear();
  sentences.clear();
  places.clear();
  edges.clear();
  streams.clear();
  prefix.clear();
  first_row = 0;
}

void Batch::clear() {
  source.clear();
  read.clear();
  for (Wanted& w : wanted) {
    w.right.clear();
    w.weights.clear();
  }
  examples.clear();
}

Rows rows_of(std::span<const int32_t> ids, Segments segments) {
  Rows r;
  r.ids = Column<int32_t>::view(ids);
  r.segments = std::move(segments);
  return r;
}

void slice(const Rows& from, int64_t first, int64_t end, Rows& to) {
  slice(from.segments, first, end, to.segments);
  const bool none = from.segments.count() == 0;
  const int64_t row = none ? 0 : from.segments.begin(first), rows = to.segments.rows();
  const auto part = [&](const auto& column, int64_t each, int64_t more = 0) {
    return column.empty() ? column.part(0, 0) : column.part(row * each, rows * each + more);
  };
  to.first_row = from.first_row + row;
  to.ids = part(from.ids, 1);
  to.width = from.width;
  to.values = part(from.values, from.width);
  to.axes = from.axes;
  to.places = part(from.places, from.axes);
  to.edges.start = part(from.edges.start, 1, 1);
  to.edges.to = from.edges.to.part(0, std::ssize(from.edges.to));
  to.edges.label = from.edges.label.part(0, std::ssize(from.edges.label));
  const auto of_segments = [&](const Column<int32_t>& c) {
    return c.empty() ? c.part(0, 0) : c.part(first, end - first);
  };
  to.streams = of_segments(from.streams);
  to.prefix = of_segments(from.prefix);
  to.sentences.clear();
  for (const int32_t begin : from.sentences)
    if (begin >= row && begin <= row + rows) to.sentences.push_back(begin - static_cast<int32_t>(row));
}

}  // namespace attune
