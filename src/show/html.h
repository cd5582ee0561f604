// Text that may hold anything, made safe for a page.
#pragma once
#include <string>
#include <string_view>

namespace attune::show {

/// For the inside of elements and of quoted attributes: what HTML reads as markup is written as entities, what is no
/// text (control characters but tabs and line ends, broken UTF-8) as U+FFFD.
std::string escaped(std::string_view text);
/// The same for a label of one line: marks of direction and line ends are made harmless too, and what is longer than so
/// many columns ends with "…".
std::string label(std::string_view text, int columns);

/// A number as short as a scale wants it: 0.25, 12, 15.4k, 3M, 2.1G.
std::string short_number(double x);

}  // namespace attune::show
