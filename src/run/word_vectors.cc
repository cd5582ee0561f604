#include "run/word_vectors.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "data/files/line_reader.h"

namespace attune {

namespace {

float* embeddings_of(Model& model) {
  Parameters& all = model.parameters();
  for (const char* name : {"encoder.embedding.weight", "embedding.weight", "decoder.embedding.weight"})
    for (const NamedParameter& p : all.named())
      if (p.name == name && p.shape.cols() == model.options().d_model) return all.data() + p.offset;
  fail(ErrorKind::recipe, "train.vectors: this model has no embeddings\n  fix: leave train.vectors out");
}

/// The piece that is the whole word, or kUnknown.
int32_t piece_of(const text::Tokenizer& t, const std::string& word) {
  const bool marked = t.kind() == text::TokenizerKind::bpe || t.kind() == text::TokenizerKind::unigram;
  return t.id(marked ? std::string(text::kSpacePiece) + word : word);
}

/// "400000 300": how many, and how wide.
bool is_head(const std::vector<std::string>& fields) {
  const auto whole = [](const std::string& s) { return s.find_first_not_of("0123456789") == std::string::npos; };
  return fields.size() == 2 && whole(fields[0]) && whole(fields[1]);
}

}  // namespace

std::string give_word_vectors(const std::string& file, const text::Tokenizer& tokenizer, Model& model) {
  const int64_t width = model.options().d_model;
  float* to = embeddings_of(model);
  const double scale = 1 / std::sqrt(static_cast<double>(width));  // embeddings are read times that
  std::vector<bool> given(static_cast<size_t>(tokenizer.size()), false);
  LineReader reader(file);
  int64_t found = 0;
  for (std::string_view line; reader.next(line);) {
    const std::vector<std::string> fields = split(trim(line), ' ');
    if (reader.line() == 1 && is_head(fields)) continue;
    if (std::ssize(fields) != width + 1)
      fail(ErrorKind::data,
           "{}: {} numbers behind a word, and model.d_model = {}\n  fix: set model.d_model to the width of the vectors",
           reader.place(), std::ssize(fields) - 1, width);
    const int32_t id = piece_of(tokenizer, fields[0]);
    if (id < text::kMarks || given[static_cast<size_t>(id)]) continue;  // of words that come twice, the first
    for (int64_t j = 0; j < width; ++j) {
      const std::string& n = fields[static_cast<size_t>(j) + 1];
      double x = 0;
      const auto [end, error] = std::from_chars(n.data(), n.data() + n.size(), x);
      if (error != std::errc{} || end != n.data() + n.size() || !std::isfinite(x))
        fail(ErrorKind::data, "{}: \"{}\" is not a number\n  fix: a word, then numbers with blanks between them",
             reader.place(), n.substr(0, 40));
      to[id * width + j] = static_cast<float>(x * scale);
    }
    given[static_cast<size_t>(id)] = true;
    ++found;
  }
  model.parameters().repack();
  return fmt::format("{} of {} pieces begin with vectors of {}", thousands(found), thousands(tokenizer.size()), file);
}

}  // namespace attune
