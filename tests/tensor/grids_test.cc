#include "tensor/grids.h"

#include "checks.h"

namespace attune {
namespace {

TEST(Grids, LieOneAfterAnother) {
  const Grids g = Grids::of_sizes({{2, 3}, {0, 7}, {1, 4}});
  EXPECT_EQ(g.count(), 3);
  EXPECT_EQ(g.rows(), 10);
  EXPECT_EQ(g.segments.start, (std::vector<int32_t>{0, 6, 6, 10}));
}

TEST(Grids, SayWhatIsWrong) {
  EXPECT_EQ(error_of([] { Grids::of_sizes({{1, 1}, {-1, 2}}); }), "[grids] grid 1 is -1 x 2");
  EXPECT_EQ(error_of([] {
              Grids::of_sizes({{65536, 65536}});
            }),
            "[grids] grid 0 has 4294967296 rows, more than 2147483647");
}

}  // namespace
}  // namespace attune
