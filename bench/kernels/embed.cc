// From ids to rows: table[id] sqrt(d) + position, with dropout.
#include "kernels/vocabulary/embed.h"

#include <cmath>

#include "laboratory.h"

namespace attune::laboratory {

void add_embed(Experiments& to) {
  constexpr int64_t rows = 4096, cols = 512, words = 8000, length = 64;
  Experiment e;
  e.name = "embed/4096x512 of 8000";
  e.kind = Kind::copy;
  e.bytes = 8.0 * rows * cols;
  e.contenders = {"ours", "naive", "memcpy"};
  e.make = [bytes = e.bytes] {
    const auto table = random(words * cols, 1), positions = random(length * cols, 2), y = zeros(rows * cols);
    const auto ids = std::make_shared<std::vector<int32_t>>();
    for (int64_t i = 0; i < rows; ++i) ids->push_back(static_cast<int32_t>(i * 7919 % words));
    const auto segments = std::make_shared<Segments>(
        Segments::of_lengths(std::vector<int32_t>(rows / length, static_cast<int32_t>(length))));
    kernels::Embed a;
    a.table = matrix(table, words, cols);
    a.ids = ids->data();
    a.scale = std::sqrt(static_cast<float>(cols));
    a.positions = matrix(positions, length, cols);
    a.where.segments = segments.get();
    a.dropout = {0.1f, 1, 0};
    a.y = matrix(y, rows, cols);
    return std::vector<Run>{[=] {
                              (void)table, (void)positions, (void)y, (void)ids, (void)segments;  // kept alive
                              kernels::embed(a);
                            },
                            [=] {
                              const float kept = dropout_scale(a.dropout.rate);
                              for (int64_t i = 0; i < rows; ++i)
                                for (int64_t j = 0; j < cols; ++j) {
                                  const float v = table->data()[(*ids)[static_cast<size_t>(i)] * cols + j] * a.scale +
                                                  positions->data()[i % length * cols + j];
                                  const bool drop = dropped(a.dropout, i, static_cast<uint32_t>(j));
                                  y->data()[i * cols + j] = drop ? 0.0f : v * kept;
                                }
                            },
                            copy_of(bytes)};
  };
  to.push_back(e);
}

}  // namespace attune::laboratory
