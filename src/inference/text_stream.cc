#include "inference/text_stream.h"

#include <algorithm>

namespace attune {

namespace {

constexpr std::string_view kBroken = "\xef\xbf\xbd";  // U+FFFD: maybe a letter whose other bytes are to come

/// Bytes at the end of a text that may be the begin of `stop`.
size_t begun(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size()); n > 0; --n)
    if (text.ends_with(stop.substr(0, n))) return n;
  return 0;
}

}  // namespace

std::string text_of(const text::Tokenizer& tokenizer, std::span<const int32_t> ids) {
  std::string text;
  for (size_t from = 0; from <= ids.size();) {
    const auto line = ids.subspan(from);
    const auto n = static_cast<size_t>(std::find(line.begin(), line.end(), text::kEnd) - line.begin());
    text += (from ? "\n" : "") + tokenizer.decode(line.first(n));
    from += n + 1;
  }
  return text;
}

TextStream::TextStream(const text::Tokenizer& tokenizer, std::vector<int32_t> given, std::string stop)
    : tokenizer_(&tokenizer), ids_(std::move(given)), stop_(std::move(stop)) {
  given_ = told_ = text_of(tokenizer, ids_).size();
}

std::string TextStream::add(int32_t id) {
  if (stopped_) return "";
  ids_.push_back(id);
  std::string text = text_of(*tokenizer_, ids_);
  if (const size_t at = stop_.empty() ? std::string::npos : text.find(stop_, std::min(given_, text.size()));
      at != std::string::npos) {
    stopped_ = true;
    text.resize(at);
  } else {
    size_t open = stop_.empty() ? 0 : begun(std::string_view(text).substr(std::min(given_, text.size())), stop_);
    if (open == 0)
      while (std::string_view(text).substr(0, text.size() - open).ends_with(kBroken)) open += kBroken.size();
    text.resize(text.size() - open);
  }
  if (text.size() <= told_) return "";
  std::string more = text.substr(told_);
  told_ = text.size();
  return more;
}

}  // namespace attune
