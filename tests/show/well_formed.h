// Whether a page is one that a browser reads as it was meant: every tag closed, every text escaped, nothing from
// elsewhere.
#pragma once
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace attune::test {

/// "" for markup that is well formed as XML is; otherwise what is wrong.
inline std::string trouble_with_markup(const std::string& page) {
  std::vector<std::string> open;
  const std::regex tag(R"re(^<(/?)([A-Za-z][A-Za-z0-9]*)((?:\s+[A-Za-z:-]+="[^"<>]*")*)\s*(/?)>)re");
  for (size_t at = 0; at < page.size();) {
    if (page[at] == '>' && (open.empty() || open.back() != "style")) return "a bare > at " + page.substr(at, 40);
    if (page[at] == '&' && !std::regex_search(page.substr(at, 10), std::regex("^&(amp|lt|gt|quot|#39);")))
      return "a bare & at " + page.substr(at, 40);
    if (page[at] != '<') {
      ++at;
      continue;
    }
    if (page.compare(at, 15, "<!DOCTYPE html>") == 0) {
      at += 15;
      continue;
    }
    std::smatch m;
    const std::string rest = page.substr(at, page.find('>', at) + 1 - at);
    if (!std::regex_search(rest, m, tag)) return "no tag: " + rest.substr(0, 80);
    if (m[1] == "/") {
      if (open.empty() || open.back() != m[2]) return "</" + m[2].str() + "> closes nothing";
      open.pop_back();
    } else if (m[4] != "/") {
      open.push_back(m[2]);
    }
    at += rest.size();
    if (m[1] != "/" && m[2] == "script") at = std::min(page.find("</script>", at), page.size());  // no markup in there
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace attune::test
