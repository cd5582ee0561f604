// Positions as plain numbers.
#include <gtest/gtest.h>

#include "model/position/scheme.h"

namespace attune {
namespace {

TEST(CountingPosition, IsTheNumberAlongOneDirection) {
  for (const bool normalised : {false, true}) {
    Parameters parameters;
    Blueprint::Shared shared{parameters};
    const auto scheme = make_position({"counting", {{"normalised", normalised}}}, {6, 21}, Blueprint(shared, "encoder"),
                                      "model.position");
    parameters.allocate();
    initialize(parameters, shared.inits, 5);
    parameters.repack();
    Arena arena;
    Ctx ctx(arena);
    const Pass pass{ctx, parameters};
    const Var table = scheme->table(pass, 9);
    ASSERT_EQ(table.rows(), 9);
    for (int64_t i = 0; i < 9; ++i)
      for (int64_t d = 0; d < 6; ++d)
        EXPECT_NEAR(table.value().row<float>(i)[d],
                    static_cast<double>(parameters.data()[d]) * static_cast<double>(i) / (normalised ? 20 : 1), 1e-6);
  }
}

}  // namespace
}  // namespace attune
