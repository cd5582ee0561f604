// What people type who know other programs, and what it is called here.
#pragma once
#include <string>
#include <string_view>

namespace attune::cli {

/// A sentence for an option that another program has: "--lr" -> "the recipe says that: --set train.learning_rate=1e-3".
/// "" for what is not known.
std::string foreign_option(std::string_view command, std::string_view option);

}  // namespace attune::cli
