// Text that may hold anything, made safe for a page, and the frame that all pages share: one file that needs nothing
// else.
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

/// A string of JSON, its quotes included, that may also stand within a script of a page.
std::string json_quoted(std::string_view text);

/// Colours for light and dark, type, sections, cards, tables that scroll within themselves with their first column in
/// sight, and what else pages share. `.wide` is for screens with room, `.narrow` is shown instead of it on a phone.
std::string page_style();

struct Page {
  std::string title;        // of the window; escaped here
  std::string style = {};   // beside page_style()
  std::string body;         // within <main>
  std::string script = {};  // what is there must be readable without it; "": none
};
std::string page_of(const Page& page);

/// A card with a headline, and a sentence below it unless that is "". "" for an empty body.
std::string section(const std::string& title, const std::string& lead, const std::string& body);

/// A number as short as a scale wants it: 0.25, 12, 15.4k, 3M, 2.1G.
std::string short_number(double x);

}  // namespace attune::show
