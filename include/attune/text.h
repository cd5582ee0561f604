// Names and numbers for people to read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// The known name that a mistyped one most likely meant; "" when none is near.
std::string closest_name(std::string_view name, const std::vector<std::string>& known);
/// 29000 -> "29,000".
std::string thousands(int64_t n);
/// 1610612736 -> "1.5 GB" (of 1,024 MB).
std::string human_bytes(int64_t bytes);
/// 3723 -> "1 h 02 min", 75 -> "1 min 15 s".
std::string duration_text(double seconds);
/// Text for a terminal: what could move its cursor or change its colours is replaced. What is wider than `columns` ends
/// with "…" (0: as long as it is); Chinese and Japanese characters and emoji count as two.
std::string fit_columns(std::string_view text, int columns);

}  // namespace attune
