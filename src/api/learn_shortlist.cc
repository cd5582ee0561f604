#include "api/learn_shortlist.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "data/word_translations.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostSampleTokens = int64_t{1} << 26;  // of both sides, kept in memory to learn from: 256 MB

/// The files to learn from, in place of data.train.
DataSettings training_files(const Recipe& recipe, const QuantizeOptions& options) {
  DataSettings data = recipe.data;
  if (!options.shortlist_data.empty()) {
    std::vector<std::string> files;
    for (const std::string& f : options.shortlist_data) files.push_back(fs::absolute(f).string());
    data.train = GroupedTexts(std::move(files));
    data.weights = {};
  }
  for (const std::string& file : data.train)
    if (std::error_code ignored; !fs::exists(file, ignored))
      fail(ErrorKind::data,
           "a shortlist is learned from the training data, but {} is not there\n"
           "  fix: name the source's and the target's file by --shortlist-data",
           file);
  return data;
}

std::vector<int32_t> most_frequent(const std::vector<int64_t>& counts, int64_t most) {
  std::vector<int32_t> words;
  for (size_t w = text::kMarks; w < counts.size(); ++w)
    if (counts[w] > 0) words.push_back(static_cast<int32_t>(w));
  std::stable_sort(words.begin(), words.end(), [&](int32_t a, int32_t b) {
    return counts[static_cast<size_t>(a)] > counts[static_cast<size_t>(b)];
  });
  words.resize(std::min(words.size(), static_cast<size_t>(most)));
  return words;
}

}  // namespace

Shortlist learn_shortlist(const OpenedModel& model, const Recipe& recipe, const QuantizeOptions& options,
                          ThreadPool& pool, std::vector<std::string>& notes) {
  if (recipe.task != Task::translate || recipe.model.shape != ModelShape::encoder_decoder)
    fail(ErrorKind::usage, "only a model that translates can have a shortlist\n  fix: leave --shortlist out");
  const DataSettings data = training_files(recipe, options);
  PairReader reader(data.train, data, "data.train");
  PairSample sample(kMostSampleTokens);
  encode_pairs({reader}, data, model.tokenizers.encoders(), &pool, {}, sample);
  refuse_empty(reader.report(), data.train, "data.train", data.overlong);
  if (sample.stride() > 1)
    notes.push_back(fmt::format("the shortlist was learned from {} of {} pairs of lines",
                                thousands(sample.source.count()), thousands(reader.report().kept)));
  const text::Tokenizer &source = *model.tokenizers.source, &target = *model.tokenizers.target;
  const WordTranslations learned = learn_translations(
      sample.source, sample.target, {.source_words = source.size(), .target_words = target.size()}, &pool);
  std::vector<std::vector<int32_t>> translations(learned.of.size());
  for (size_t e = text::kMarks; e < learned.of.size(); ++e) {
    const auto most = std::min(learned.of[e].size(), static_cast<size_t>(options.shortlist_translations));
    for (size_t i = 0; i < most; ++i)
      if (const int32_t f = learned.of[e][i].word; f >= text::kMarks) translations[e].push_back(f);
    if (const int32_t same = target.id(source.piece(static_cast<int32_t>(e))); same >= text::kMarks)
      translations[e].push_back(same);
  }
  std::vector<int32_t> always = most_frequent(learned.counts, options.shortlist_frequent);
  always.push_back(text::kEnd);
  return Shortlist(target.size(), std::move(always), translations);
}

}  // namespace attune
