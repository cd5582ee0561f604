#include "text/links.h"

#include <algorithm>
#include <charconv>

namespace attune::text {

namespace {

constexpr int kMostWords = 1'000'000'000;

bool read_link(std::string_view word, Link& link) {
  const size_t between = word.find_first_of("-p");
  if (between == std::string_view::npos) return false;
  link.possible = word[between] == 'p';
  const auto number = [](std::string_view digits, int& to) {
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;  // no sign
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), to);
    return error == std::errc() && end == digits.data() + digits.size() && to < kMostWords;
  };
  return number(word.substr(0, between), link.source) && number(word.substr(between + 1), link.target);
}

}  // namespace

std::string_view read_links(std::string_view line, std::vector<Link>& links) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  links.clear();
  for (size_t at = line.find_first_not_of(kSpaces); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (Link link; read_link(word, link))
      links.push_back(link);
    else
      return word;
    at = line.find_first_not_of(kSpaces, end);
  }
  return {};
}

}  // namespace attune::text
