#include "inference/line_pieces.h"

#include <algorithm>

#include "base/text.h"
#include "decode/search.h"
#include "inference/sentences.h"
#include "text/piece_words.h"
#include "text/utf8.h"

namespace attune {

namespace {

/// Tokens of a run of words. max_length is what a model was shown at most, mostly far more than it was shown often, and
/// a text without sentences is hard enough.
constexpr size_t kWindow = 64;

/// Where parts of a text may begin, in bytes: its words, or of a single one its characters.
std::vector<size_t> borders_of(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  std::vector<size_t> starts;
  if (words.size() > 1)
    for (const std::string_view w : words) starts.push_back(static_cast<size_t>(w.data() - text.data()));
  else
    starts = text::character_starts(text);
  if (words.size() <= 1) starts.pop_back();  // the size
  return starts;
}

void cut_text(const text::Tokenizer& tokenizer, std::string_view text, size_t most,
              std::vector<std::string_view>& out) {
  const size_t tokens = tokenizer.encode(text).size();
  const std::vector<size_t> borders = tokens > most ? borders_of(text) : std::vector<size_t>{};
  const size_t parts = std::min((tokens + most - 1) / most, borders.size());
  if (parts < 2) {
    out.push_back(text);
    return;
  }
  for (size_t p = 0; p < parts; ++p) {
    const size_t from = borders[p * borders.size() / parts], next = (p + 1) * borders.size() / parts;
    const size_t end = next < borders.size() ? borders[next] : text.size();
    cut_text(tokenizer, trim(text.substr(from, end - from)), most, out);
  }
}

/// The number of the word of a text, which begins with one, that stands at byte `at`.
int word_at(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const bool inside = at > 0 && !text::is_space(static_cast<unsigned char>(before.back()));
  return text::count_words(before) - (inside ? 1 : 0);
}

/// Where in a text that grows, or is read on, the last piece began.
struct LastWord {
  size_t at = 0;
  int number = 0;
  void move(std::string_view text, size_t to) {
    number += word_at(text.substr(at), to - at);
    at = to;
  }
};

class PieceJoiner {
 public:
  explicit PieceJoiner(std::string_view line) : line_(line) {}

  void add(std::string_view piece, const Translation& t) {
    if (blank_between(whole_.text, t.text)) whole_.text += ' ';
    source_.move(line_, static_cast<size_t>(piece.data() - line_.data()));
    target_.move(whole_.text, whole_.text.size());
    for (const auto& [source, target] : t.alignment)
      whole_.alignment.emplace_back(source + source_.number, target + target_.number);
    whole_.text += t.text;
    whole_.tokens.insert(whole_.tokens.end(), t.tokens.begin(), t.tokens.end());
    whole_.token_scores.insert(whole_.token_scores.end(), t.token_scores.begin(), t.token_scores.end());
    whole_.cropped |= t.cropped;
    whole_.cut_off |= t.cut_off;
    ++whole_.cut;
  }
  Translation finish(double penalty) {
    for (const double x : whole_.token_scores) whole_.score += x;
    whole_.score /= length_penalty(std::ssize(whole_.token_scores), penalty);
    return std::move(whole_);
  }

 private:
  std::string_view line_;
  Translation whole_;
  LastWord source_, target_;
};

}  // namespace

std::vector<std::string_view> pieces_of_line(const text::Tokenizer& tokenizer, std::string_view line, size_t most) {
  if (tokenizer.encode(line).size() <= most) return {line};
  std::vector<std::string_view> pieces;
  for (const std::string_view sentence : sentences_of(line)) {
    const bool fits = tokenizer.encode(sentence).size() <= most;
    cut_text(tokenizer, sentence, fits ? most : std::min(most, kWindow), pieces);
  }
  return pieces;
}

Translation joined_translation(std::string_view line, std::span<const std::string_view> pieces,
                               std::span<const Translation> said, double penalty) {
  size_t count = 0;
  for (const Translation& t : said) count = std::max(count, t.others.size());
  const auto whole = [&](size_t rank) {
    PieceJoiner joiner(line);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const std::vector<Translation>& others = said[i].others;
      const bool best = rank == 0 || others.empty();
      joiner.add(pieces[i], best ? said[i] : others[std::min(rank, others.size()) - 1]);
    }
    return joiner.finish(penalty);
  };
  Translation t = whole(0);
  for (size_t rank = 1; rank <= count; ++rank) t.others.push_back(whole(rank));
  return t;
}

}  // namespace attune
