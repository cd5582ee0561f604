#include <gtest/gtest.h>

#include <cmath>

#include "advise/recipe_sizes.h"
#include "advise/trial.h"
#include "recipe/settings.h"

namespace attune::test {
namespace {

CorpusLook look_of(int64_t pairs, int64_t tokens) {
  CorpusLook look;
  look.pairs = pairs;
  look.source.tokens = look.target.tokens = tokens * pairs;
  look.lengths.resize(CorpusLook::kLongest + 1);
  look.lengths[static_cast<size_t>(tokens)] = pairs;
  look.different_words = CorpusLook::kMostWords;
  look.different_characters = 90;
  return look;
}

/// A machine that takes 40 nanoseconds for a parameter and a thousand tokens.
Room room_of(double seconds) {
  Room room{.seconds = seconds, .validated = 20'000};
  room.seconds_of_update = [](const Recipe& r) {
    return 4e-11 * static_cast<double>(parameters_of(r)) * static_cast<double>(r.train.batch_tokens.tokens);
  };
  return room;
}

/// What the run takes on that machine, validations not counted.
double seconds_of(const SizedRecipe& s) { return s.recipe.train.stop.count * room_of(1).seconds_of_update(s.recipe); }

TEST(FitToRoom, TheRunEndsInTheTimeThereIs) {
  const CorpusLook look = look_of(29'000, 15);
  double before = 0;
  for (const double seconds : {120.0, 600.0, 3600.0, 36'000.0, 360'000.0}) {
    const SizedRecipe s = choose_sizes(look, room_of(seconds));
    EXPECT_LE(s.seconds, 1.05 * seconds);
    EXPECT_GE(s.recipe.train.stop.count, before);
    const TrainOptions& t = s.recipe.train;
    EXPECT_LE(static_cast<double>(t.warmup), t.stop.count / 5) << seconds;
    EXPECT_GE(t.stop.count / t.validate.count, 4) << seconds;
    EXPECT_LE(t.stop.count / t.validate.count, 20.5) << seconds;
    before = t.stop.count * static_cast<double>(t.batch_tokens.tokens) / 4096;
  }
  // What is wanted at most is a matter of the corpus, not of the time.
  EXPECT_EQ(choose_sizes(look, room_of(1e6)).recipe.train.stop.count,
            choose_sizes(look, room_of(0)).recipe.train.stop.count);
}

TEST(FitToRoom, NoTimeIsLeftUnused) {
  for (const double seconds : {60.0, 300.0, 1200.0})
    EXPECT_GT(seconds_of(choose_sizes(look_of(137'000, 9), room_of(seconds))), 0.7 * seconds);
}

TEST(FitToRoom, LittleTimeMakesASmallerModel) {
  const CorpusLook look = look_of(137'000, 9);
  const SizedRecipe in_a_minute = choose_sizes(look, room_of(60)), in_a_week = choose_sizes(look, room_of(604'800));
  EXPECT_EQ(in_a_minute.name, "quick");
  EXPECT_EQ(in_a_week.name, "middle");
  ASSERT_EQ(in_a_minute.notes.size(), 1u);
  EXPECT_EQ(in_a_minute.notes[0], "a middle model would suit the corpus, but learns too little in the time there is");
  EXPECT_TRUE(in_a_week.notes.empty());
  EXPECT_LT(in_a_minute.recipe.model.dropout, in_a_week.recipe.model.dropout) << "what is seen once needs none";
}

TEST(FitToRoom, EveryTaskFits) {
  CorpusLook text = look_of(40'000, 30);
  text.target.characters = 1'000'000;
  text.target.words = 200'000;
  for (const double seconds : {30.0, 120.0, 600.0}) {
    for (const SizedRecipe& s :
         {choose_language_sizes(text, room_of(seconds)),
          choose_answer_sizes(Task::classify, look_of(5'000, 20), {}, room_of(seconds)),
          choose_answer_sizes(Task::classify, look_of(5'000, 20), {.compared = true}, room_of(seconds)),
          choose_answer_sizes(Task::tag, look_of(12'000, 20), {.spans = true}, room_of(seconds))}) {
      EXPECT_LE(s.seconds, 1.05 * seconds) << s.name;
      EXPECT_GT(s.seconds, 0) << s.name;
      EXPECT_GE(s.recipe.train.stop.count, 1);
    }
  }
  EXPECT_EQ(choose_answer_sizes(Task::tag, look_of(12'000, 20), {.spans = true}, {}).recipe.train.metric, "span-f1");
  EXPECT_EQ(choose_answer_sizes(Task::tag, look_of(12'000, 20), {}, {}).recipe.train.metric, "accuracy");
}

TEST(FitToRoom, ATrialTakesAnyTask) {
  CorpusLook look = look_of(300, 6);
  look.target.characters = 5'000;
  look.different_words = 200;
  for (SizedRecipe s :
       {choose_sizes(look, {}), choose_language_sizes(look, {}), choose_answer_sizes(Task::classify, look, {}, {}),
        choose_answer_sizes(Task::classify, look, {.compared = true}, {}),
        choose_answer_sizes(Task::tag, look, {.spans = true}, {})}) {
    s.recipe.train.batch_tokens.tokens = 64;
    s.recipe.data.max_length = std::min<int64_t>(s.recipe.data.max_length, 16);
    const double seconds = seconds_of_update(s.recipe, look, 5, 1);
    EXPECT_TRUE(std::isfinite(seconds) && seconds > 0) << seconds;
  }
}

TEST(RecipeSizes, AnswersByWhatTextsAreLike) {
  const auto classify = [](int64_t pairs, int64_t words, const ColumnsLook& columns = {}) {
    CorpusLook look = look_of(pairs, 20);
    look.source.words = pairs * words;
    return choose_answer_sizes(Task::classify, look, columns, {}).recipe;
  };
  EXPECT_EQ(classify(5'000, 10).tokenizer.kind, text::TokenizerKind::word);
  EXPECT_EQ(classify(5'000, 40).tokenizer.kind, text::TokenizerKind::bpe) << "of long texts most words are rare";
  EXPECT_EQ(classify(5'000, 10).model.attention.at(0).kind, "band") << "few texts: a word looks at its neighbours";
  EXPECT_EQ(classify(500, 10).train.stop.count, 900) << "few texts want updates too";
  EXPECT_EQ(classify(5'000, 10).train.label_smoothing, 0.1);
  EXPECT_EQ(classify(5'000, 10, {.numbers = true}).train.label_smoothing, 0) << "numbers are not smoothed";
  EXPECT_NE(classify(50'000, 10).model.attention.at(0).kind, "band");
  EXPECT_NE(classify(5'000, 10, {.compared = true}).model.attention.at(0).kind, "band");
  const Recipe tags = choose_answer_sizes(Task::tag, look_of(3'000, 20), {}, {}).recipe;
  EXPECT_EQ(tags.model.head.literal(), "{ kind = \"tags\", ngrams = 2 }");
}

TEST(RecipeSizes, GrowWithTheCorpus) {
  const int64_t plenty = int64_t{1} << 40;
  const auto model = [&](int64_t pairs) { return choose_sizes(look_of(pairs, 20), {.memory = plenty}).recipe; };
  EXPECT_EQ(model(160'000).model.d_model, 256);
  EXPECT_EQ(model(160'000).model.d_ff, 1024);
  EXPECT_EQ(model(4'500'000).model.d_model, 512);
  EXPECT_EQ(model(4'500'000).model.d_ff, 2048);
  EXPECT_EQ(model(4'500'000).model.heads, 8);
  EXPECT_EQ(model(4'500'000).model.dropout, 0.1);
  Recipe last = model(1);
  for (const int64_t pairs : {300, 1000, 5'000, 15'000, 29'000, 200'000, 900'000, 2'000'000, 50'000'000}) {
    Recipe r = model(pairs);
    r.data.train = {"a.en", "a.de"};
    check_recipe(r);
    EXPECT_GE(r.tokenizer.size, last.tokenizer.size) << pairs;
    EXPECT_GE(r.model.d_model, last.model.d_model) << pairs;
    EXPECT_GE(r.train.batch_tokens.tokens, last.train.batch_tokens.tokens) << pairs;
    EXPECT_GE(r.train.stop.count, last.train.stop.count) << pairs;
    EXPECT_GE(r.train.warmup, last.train.warmup) << pairs;
    EXPECT_LE(r.model.dropout, last.model.dropout) << pairs;
    EXPECT_LT(static_cast<double>(r.train.warmup), r.train.stop.count / 3) << pairs;
    last = r;
  }
}

TEST(RecipeSizes, LanguageModelsGrowWithTheText) {
  const int64_t plenty = int64_t{1} << 40;
  const auto sized = [&](int64_t characters, int64_t memory) {
    CorpusLook look = look_of(characters / 100, 20);
    look.target.characters = characters;
    look.target.words = characters / 5;
    look.target.tokens = characters / 4;
    return choose_language_sizes(look, {.memory = memory, .threads = 2});
  };
  EXPECT_EQ(sized(100'000, plenty).recipe.tokenizer.kind, text::TokenizerKind::character);
  EXPECT_EQ(sized(1'000'000, plenty).recipe.tokenizer.kind, text::TokenizerKind::bpe);
  EXPECT_EQ(sized(100'000'000, plenty).recipe.tokenizer.kind, text::TokenizerKind::bpe);
  Recipe last = sized(1, plenty).recipe;
  EXPECT_EQ(last.data.max_length, 1);
  for (const int64_t characters : {30, 3000, 200'000, 1'000'000, 9'000'000, 90'000'000, 900'000'000}) {
    Recipe r = sized(characters, plenty).recipe;
    r.data.train = {"a.txt"};
    check_recipe(r);
    EXPECT_GE(r.model.d_model, last.model.d_model) << characters;
    EXPECT_GE(r.data.max_length, last.data.max_length) << characters;
    EXPECT_GE(r.train.batch_tokens.tokens, 4 * r.data.max_length) << characters;
    EXPECT_GE(r.train.stop.count, last.train.stop.count) << characters;
    EXPECT_GE(parameters_of(r), parameters_of(last)) << characters;
    last = r;
  }
  const SizedRecipe small = sized(900'000'000, int64_t{1} << 30);
  EXPECT_EQ(small.recipe.model.d_model, 256);
  ASSERT_EQ(small.notes.size(), 1u);
  EXPECT_TRUE(small.notes[0].starts_with("a base model would suit the corpus, but wants about ")) << small.notes[0];
}

TEST(RecipeSizes, MemoryLimitsTheModel) {
  const CorpusLook look = look_of(4'500'000, 20);
  const auto sized = [&](int64_t memory) { return choose_sizes(look, {.memory = memory, .threads = 2}); };
  const SizedRecipe s = sized(int64_t{2} << 30);
  EXPECT_EQ(s.recipe.model.d_model, 256);
  EXPECT_LE(training_memory(s.recipe, 2), int64_t{2} << 30);
  ASSERT_EQ(s.notes.size(), 1u);
  EXPECT_TRUE(s.notes[0].starts_with("a base model would suit the corpus, but wants about ")) << s.notes[0];
  EXPECT_EQ(sized(1).recipe.model.d_model, 128) << "the smallest there is";
  EXPECT_TRUE(sized(int64_t{1} << 40).notes.empty());
}

TEST(RecipeSizes, ParametersAreCountedAsTheModelHasThem) {
  Recipe r;  // one layer each, by hand
  r.model.encoder_layers = r.model.decoder_layers = 1;
  r.model.d_model = 2;
  r.model.d_ff = 3;
  r.tokenizer.size = 10;
  const int64_t attention = 4 * (2 * 2 + 2), feed_forward = 2 * 2 * 3 + 3 + 2, norm = 4;
  EXPECT_EQ(parameters_of(r),
            20 + (attention + norm + feed_forward + norm) + (2 * (attention + norm) + feed_forward + norm));
}

}  // namespace
}  // namespace attune::test
