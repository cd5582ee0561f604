// How positions are told where a recipe says nothing of them.
#pragma once
#include "recipe/settings.h"

namespace attune {

/// Gives the sides whose attention can't turn queries and keys, or whose heads have an odd number of columns,
/// sinusoidal positions in place of rope, where no key chose positions. When a run begins, so that its model's recipe
/// says which.
void settle_position(Recipe& recipe);
/// Whether any side of the model is told positions.
bool has_use_for_positions(const ModelOptions& options);

}  // namespace attune
