#include "text/piece_words.h"

#include "text/utf8.h"

namespace attune::text {

std::vector<int> words_of_characters(std::string_view text) {
  std::vector<int> words;
  int word = -1;
  bool inside = false;
  for (const Character c : Characters(text)) {
    if (is_space(c.code))
      inside = false;
    else if (!inside) {
      ++word;
      inside = true;
    }
    words.push_back(word);
  }
  return words;
}

std::vector<int> words_of_pieces(const Tokenizer& tokenizer, std::string_view line) {
  const std::vector<int> words = words_of_characters(line);
  std::vector<int> out;
  for (const Span& s : tokenizer.encode_with_spans(line).spans)
    out.push_back(s.begin < s.end ? words[static_cast<size_t>(s.end - 1)] : -1);
  return out;
}

int count_words(std::string_view text) {
  int count = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = is_space(static_cast<unsigned char>(c));
    count += !space && !inside;
    inside = !space;
  }
  return count;
}

}  // namespace attune::text
