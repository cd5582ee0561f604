#include "data/tokenizers.h"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "data/corpus/answers.h"
#include "data/corpus/row_corpus.h"
#include "data/files/pairs.h"
#include "text/piece_words.h"
#include "text/trainer.h"

namespace attune {

namespace {

constexpr const char *kSource = "source", *kTarget = "target";

std::atomic<int64_t> g_in_memory{0};

/// The lines of the training files: all of one side, then, where both are wanted, all of the other.
class SideLines {
 public:
  SideLines(const DataSettings& data, Sides has, std::vector<int> sides)
      : data_(data), has_(has), sides_(std::move(sides)) {}
  bool next(std::string& line) {
    TextPair pair;
    while (at_ < sides_.size()) {
      if (!reader_) reader_ = std::make_unique<PairReader>(data_.train, data_, "data.train", has_);
      if (reader_->next(pair)) {
        line = sides_[at_] == 0 ? pair.source : pair.target;
        return true;
      }
      reader_.reset();
      ++at_;
    }
    return false;
  }

 private:
  const DataSettings& data_;
  Sides has_;
  std::vector<int> sides_;
  size_t at_ = 0;
  std::unique_ptr<PairReader> reader_;
};

}  // namespace

void Tokenizers::save(const std::string& folder) const {
  if (labels) labels->save(folder);
  if (rows) return rows->save(folder);
  if (joint()) return source->save(folder);
  source->save(folder + "/" + kSource);
  target->save(folder + "/" + kTarget);
}

Tokenizers Tokenizers::load(const std::string& folder) {
  const auto read = [](const std::string& from) {
    return std::make_shared<const text::Tokenizer>(text::Tokenizer::load(from));
  };
  if (std::filesystem::is_directory(folder + "/" + kSource))
    return {read(folder + "/" + kSource), read(folder + "/" + kTarget)};
  Tokenizers both;
  if (std::filesystem::exists(folder + "/" + RowShape::kFile))
    both.rows = std::make_shared<const RowShape>(RowShape::load(folder));
  else
    both.source = both.target = read(folder);
  if (std::filesystem::exists(folder + "/" + text::Labels::kFile))
    both.labels = std::make_shared<const text::Labels>(text::Labels::load(folder));
  return both;
}

Encoders Tokenizers::encoders(Sides sides) const {
  const auto encode = [](std::shared_ptr<const text::Tokenizer> t) {
    return [t](std::string_view line) { return t->encode(line); };
  };
  const auto words = [](std::shared_ptr<const text::Tokenizer> t) {
    return [t](std::string_view line) { return text::words_of_pieces(*t, line); };
  };
  return {has_source(sides) ? encode(source) : Encode(), encode(target), words(source), words(target)};
}

void let_pieces_drop(const Tokenizers& tokenizers, const TrainOptions& options, Corpus& corpus) {
  if (options.piece_dropout == 0) return;
  const auto halves = [&](const text::Tokenizer& t) {
    std::vector<text::Halves> all = text::halves_of_pieces(t.vocabulary());
    if (std::none_of(all.begin(), all.end(), [](const text::Halves& h) { return h.any(); }))
      fail(ErrorKind::recipe,
           "train.piece_dropout = {}, but no piece of this {} vocabulary is made of others\n"
           "  fix: leave piece_dropout out, or set tokenizer.kind to \"bpe\", \"unigram\" or \"wordpiece\"",
           options.piece_dropout, text::tokenizer_kinds()[static_cast<size_t>(t.kind())]);
    return std::make_shared<const std::vector<text::Halves>>(std::move(all));
  };
  corpus.target_halves = halves(*tokenizers.target);
  corpus.source_halves = tokenizers.joint() ? corpus.target_halves : halves(*tokenizers.source);
}

CorpusPlace corpus_place(const std::string& folder, const Tokenizers& t, bool numbers) {
  CorpusPlace place;
  place.folder = folder;
  if (const int64_t tokens = g_in_memory.load()) place.in_memory = tokens;
  if (t.rows) {
    place.tokenizer = mix(t.rows->hash(), t.labels->hash());
    return place;
  }
  place.vocabulary = std::max(t.source->size(), t.target->size());
  if (t.labels) place.vocabulary = std::max(place.vocabulary, int64_t{t.labels->size()});
  if (numbers) place.vocabulary = 0;
  place.tokenizer = mix(t.source->hash(), t.labels ? t.labels->hash() : t.target->hash());
  return place;
}

void limit_corpus_in_memory(int64_t tokens) { g_in_memory = tokens; }

Tokenizers train_tokenizers(const DataSettings& data, const text::TokenizerOptions& options, Sides has) {
  text::TokenizerOptions own = options;
  own.lowercase |= data.lowercase;
  Tokenizers both;
  const auto learn = [&](std::vector<int> sides) {
    SideLines lines(data, has, std::move(sides));
    std::string first;
    if (!lines.next(first))
      fail(ErrorKind::data, "data.train: there is no text in {}\n  fix: check the files", join(data.train, ", "));
    bool begun = false;
    const auto next = [&](std::string& line) {
      if (begun) return lines.next(line);
      line = first;
      return begun = true;
    };
    text::TrainedTokenizer t = text::train_tokenizer(next, own);
    if (!t.note.empty()) both.notes.push_back(t.note);
    return std::make_shared<const text::Tokenizer>(std::move(t.tokenizer));
  };
  if (has != Sides::two) {  // of answers, the texts
    both.source = both.target = learn({has == Sides::one ? 1 : 0});
  } else if (options.joint) {
    both.source = both.target = learn({0, 1});
  } else {
    both.source = learn({0});
    both.target = learn({1});
  }
  return both;
}

Tokenizers learn_tokenizers(const Recipe& recipe) {
  Tokenizers t;
  if (reads_rows(recipe.task))
    t.rows = std::make_shared<const RowShape>(learn_row_shape(recipe.data));
  else
    t = train_tokenizers(recipe.data, recipe.tokenizer, sides_of(recipe.task));
  t.labels = learn_labels_of(recipe);
  return t;
}

std::shared_ptr<const text::Labels> learn_labels_of(const Recipe& recipe) {
  if (!gives_answers(recipe.task)) return nullptr;
  return std::make_shared<const text::Labels>(learn_labels(recipe.data, kinds_of_head(recipe.model.head)));
}

}  // namespace attune
