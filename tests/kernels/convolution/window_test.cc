#include "kernels/convolution/window.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune::kernels {
namespace {

/// All (tap, point) that a place sees, by the definition.
std::vector<std::pair<int64_t, int64_t>> seen(const Window& w, int64_t place, int64_t length) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (int64_t j = 0; j < w.taps; ++j) {
    const int64_t at = place * w.stride + j * w.dilation - w.before;
    if (at >= 0 && at < length) all.emplace_back(j, at);
  }
  return all;
}

std::vector<std::pair<int64_t, int64_t>> listed(const Look& l) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (int64_t k = l.begin; k < l.end; ++k) all.emplace_back(l.tap_of(k), l.source(k));
  return all;
}

TEST(Window, LooksAheadAndBehindAsItsDefinitionSays) {
  for (int64_t taps : {1, 2, 3, 5, 8})
    for (int64_t stride : {1, 2, 3, 4, 6})
      for (int64_t dilation : {1, 2, 3, 4})
        for (int64_t before : {0, 1, 3, 28})
          for (int64_t after : {0, 2})
            for (int64_t length : {1, 2, 7, 12}) {
              const Window w{taps, stride, dilation, before, after};
              const int64_t places = w.places(length);
              int64_t fit = 0;
              while (fit * stride + w.reach() < length + before + after) ++fit;
              ASSERT_EQ(places, fit);
              for (int64_t p = 0; p < places; ++p) ASSERT_EQ(listed(look_ahead(w, p, length)), seen(w, p, length));
              for (int64_t at = 0; at < length; ++at) {
                std::vector<std::pair<int64_t, int64_t>> by;  // (tap, place), taps ascending
                for (int64_t j = 0; j < taps; ++j)
                  for (int64_t p = 0; p < places; ++p)
                    if (p * stride + j * dilation - before == at) by.emplace_back(j, p);
                ASSERT_EQ(listed(look_behind(w, taps_of_phase(w, (at + before) % stride), at, places)), by);
              }
            }
}

TEST(Window, NothingSeesAnEmptyAxis) {
  EXPECT_EQ((Window{3, 1, 1, 1, 1}.places(0)), 0);
  EXPECT_EQ((Window{3, 1, 1, 0, 0}.places(2)), 0);
  EXPECT_EQ((Window{3, 1, 1, 0, 0}.places(3)), 1);
}

}  // namespace
}  // namespace attune::kernels
