#include "model/heads/word_features.h"

#include <cmath>

#include "autograd/operations/embed.h"
#include "autograd/operations/pool.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/input/input.h"

namespace attune {

namespace {

constexpr int64_t kOfWord = 10, kBeside = 3;  // features of a word, and of each word beside it

template <class Text>
uint64_t hash_of(const Text& of, uint64_t kind) {
  return hash64({reinterpret_cast<const char*>(of.data()), of.size() * sizeof(of[0])}, kind);
}

char32_t shape_of(char32_t c, char32_t lower) {
  if (c >= '0' && c <= '9') return '0';
  if (lower != c) return 'X';
  return (c >= 'a' && c <= 'z') || c >= 0x80 ? 'x' : c;
}

/// Where nobody told how words are spelled, each piece is a letter.
Letters a_letter_each(int64_t vocabulary) {
  std::vector<Spelled> all;
  for (int64_t id = 0; id < vocabulary; ++id) {
    const std::u32string letter(1, static_cast<char32_t>(id));
    all.push_back({letter, letter});
  }
  return std::make_shared<const std::vector<Spelled>>(std::move(all));
}

}  // namespace

Spelling spelling_of(const Spelled& word) {
  std::u32string shape;
  for (size_t i = 0; i < word.letters.size(); ++i)
    if (const char32_t s = shape_of(word.letters[i], word.lower[i]); shape.empty() || shape.back() != s) shape += s;
  Spelling s{hash_of(word.letters, 0), hash_of(word.lower, 1), hash_of(shape, 2)};
  const std::u32string_view all = word.lower;
  for (size_t i = 0; i < s.begins.size(); ++i) s.begins[i] = hash_of(all.substr(0, i + 1), 3 + i);
  for (size_t i = 0; i < s.ends.size(); ++i)
    s.ends[i] = hash_of(all.substr(all.size() - std::min(all.size(), i + 1)), 6 + i);
  return s;
}

int64_t word_features_of(int64_t most) {
  int64_t all = kOfWord + (most > 1 ? 2 * kBeside : 0);
  for (int64_t n = 2; n <= most; ++n) all += n;  // n in a row, of which it is any
  return all;
}

void word_feature_ids(std::span<const Spelled> words, int64_t most, int32_t* to) {
  // Beyond the text are words that are nothing: as many as a row of words may reach.
  const auto beyond = static_cast<size_t>(most);
  std::vector<Spelling> spelled(words.size() + 2 * beyond);
  std::vector<uint64_t> lower(spelled.size());
  for (size_t i = 0; i < words.size(); ++i) {
    spelled[i + beyond] = spelling_of(words[i]);
    lower[i + beyond] = spelled[i + beyond].lower;
  }
  const auto add = [&](uint64_t hash) { *to++ = static_cast<int32_t>(hash % kWordFeatureIds); };
  for (size_t here = beyond; here < words.size() + beyond; ++here) {
    const Spelling& own = spelled[here];
    for (const uint64_t hash : {own.word, own.lower, own.shape}) add(hash);
    for (const uint64_t hash : own.begins) add(hash);
    for (const uint64_t hash : own.ends) add(hash);
    for (size_t side = 0; side < 2 && most > 1; ++side) {
      const Spelling& beside = spelled[here - 1 + 2 * side];
      for (const uint64_t hash : {beside.lower, beside.shape, beside.ends[2]})
        add(hash_of(std::array{hash}, 10 + side));
    }
    for (size_t n = 2; n <= beyond; ++n)
      for (size_t before = 0; before < n; ++before)
        add(hash_of(std::span(lower).subspan(here - before, n), 8 * n + before));
  }
}

WordFeatures::WordFeatures(int64_t most, float rate, const HeadSetup& setup, const Blueprint& b)
    : most_(most),
      count_(word_features_of(most)),
      rate_(rate),
      scale_(std::sqrt(static_cast<float>(setup.d_model))),
      site_(b.site()),
      letters_(setup.letters ? setup.letters : a_letter_each(setup.vocabulary)) {
  if (setup.vocabulary == 0)
    fail(ErrorKind::recipe,
         "model.head: ngrams = {}, but what is read has no words that could have a say of their own\n"
         "  fix: leave ngrams out",
         most);
  table_ = b.table("weight", kWordFeatureIds, setup.labels, Init::zeros());
}

Var WordFeatures::operator()(const Pass& pass, const HeadInput& in) const {
  const int64_t n = in.answers().rows();
  std::vector<int32_t> all(static_cast<size_t>(n * count_));
  pass.ctx.run([&] {
    std::vector<Spelled> words;
    for (int64_t s = 0; s < in.answers().count(); ++s) {
      const int64_t first = in.answers().begin(s), length = in.answers().length(s);
      const auto ids =
          std::span(in.rows->ids.data(), in.rows->ids.size()).subspan(static_cast<size_t>(in.texts().begin(s)));
      words.assign(static_cast<size_t>(length), {});
      for (int64_t i = 0; i < length; ++i) {
        // All its pieces: up to the next word.
        const auto from = static_cast<size_t>(in.words().of(first + i).front());
        const auto end =
            static_cast<size_t>(i + 1 < length ? in.words().of(first + i + 1).front() : in.texts().length(s));
        Spelled& word = words[static_cast<size_t>(i)];
        for (const int32_t id : ids.subspan(from, end - from)) {
          const Spelled& piece = (*letters_)[static_cast<size_t>(id)];
          word.letters += piece.letters;
          word.lower += piece.lower;
        }
      }
      word_feature_ids(words, most_, all.data() + first * count_);
    }
  });
  const auto ids = keep(pass.ctx, std::move(all));
  const auto segments =
      keep(pass.ctx, Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(n), static_cast<int32_t>(count_))));
  EmbedArgs e;
  e.table = pass[table_];
  e.ids = Tensor(ids->data(), Shape{std::ssize(*ids)});
  e.scale = scale_;
  e.words = pass.ctx.dropout(rate_, whole_words(site_));
  return segment_root_sum(pass.ctx, embed(pass.ctx, e), *segments);
}

}  // namespace attune
