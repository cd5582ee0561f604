#include "data/corpus/training_data.h"

#include <set>

#include "data/corpus/number_corpus.h"

namespace attune::test {
namespace {

DataSettings training_data_trains_on(const Strings& train, const Strings& valid = {}) {
  DataSettings o;
  o.train = train;
  o.valid = valid;
  return o;
}

TEST(TrainingData, HoldsOutWhenThereIsNoValidation) {
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", 3000);
  const TrainingData d = read_training_data(training_data_trains_on(files), kNumbers, 1, nullptr);
  EXPECT_TRUE(d.held_out);
  EXPECT_EQ(d.valid.size(), 60);
  EXPECT_EQ(d.train.size(), 2940);
  EXPECT_EQ(d.train.source.longest, 9);
  std::set<Ids> valid, train;
  for (int64_t i = 0; i < d.valid.size(); ++i) {
    valid.insert(ids_of(d.valid.target[i]));
    EXPECT_EQ(numbers(d.valid_source[static_cast<size_t>(i)]), ids_of(d.valid.source[i]));  // text and ids agree
  }
  for (int64_t i = 0; i < d.train.size(); ++i) train.insert(ids_of(d.train.target[i]));
  EXPECT_EQ(valid.size() + train.size(), 3000u);
  for (const Ids& v : valid) EXPECT_FALSE(train.contains(v));
  // Fixed by the seed: the same again, on more threads; another choice by another seed.
  ThreadPool pool(3);
  const TrainingData again = read_training_data(training_data_trains_on(files), kNumbers, 1, &pool);
  EXPECT_TRUE(again.train == d.train && again.valid == d.valid);
  EXPECT_EQ(again.content_hash, d.content_hash);
  EXPECT_FALSE(read_training_data(training_data_trains_on(files), kNumbers, 2, nullptr).valid == d.valid);
}

TEST(TrainingData, AtMostAThousandAndSpreadOverTheCorpus) {
  const TempFolder dir;
  const TrainingData d =
      read_training_data(training_data_trains_on(write_corpus(dir, "a", 80000)), kNumbers, 5, nullptr);
  EXPECT_EQ(d.valid.size(), 1000);
  EXPECT_EQ(d.train.size(), 79000);
  int64_t first_half = 0;
  for (int64_t i = 0; i < 1000; ++i) first_half += d.valid.source[i].front() < 40000;
  EXPECT_NEAR(first_half, 500, 80);
}

TEST(TrainingData, CopiesOfWhatIsHeldOutLeaveTraining) {
  const TempFolder dir;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i % 100) + "\n";  // every line ten times
  const TrainingData d =
      read_training_data(training_data_trains_on({put(dir / "s", text), put(dir / "t", text)}), kNumbers, 1, nullptr);
  EXPECT_EQ(d.valid.size(), 2);
  EXPECT_EQ(d.train.size(), 980);
  for (int64_t i = 0; i < d.train.size(); ++i)
    for (int64_t j = 0; j < d.valid.size(); ++j) EXPECT_NE(d.train.source[i][0], d.valid.source[j][0]);
  const std::string one = put(dir / "one", "1\n1\n");
  const TrainingData single = read_training_data(training_data_trains_on({one, one}), kNumbers, 1, nullptr);
  EXPECT_EQ(single.train.size(), 2);
  EXPECT_FALSE(single.held_out);
}

TEST(TrainingData, ValidationFilesAreTakenAsTheyAre) {
  const TempFolder dir;
  const Strings train = write_corpus(dir, "a", 100), valid = write_corpus(dir, "b", 10);
  const TrainingData d = read_training_data(training_data_trains_on(train, valid), kNumbers, 1, nullptr);
  EXPECT_FALSE(d.held_out);
  EXPECT_EQ(d.train.size(), 100);
  EXPECT_EQ(d.valid.size(), 10);
  EXPECT_EQ(d.valid_target[1], "1 2 ");
  put(valid[1], slurp(valid[1]) + "11\n");
  put(valid[0], slurp(valid[0]) + "11\n");
  EXPECT_NE(read_training_data(training_data_trains_on(train, valid), kNumbers, 1, nullptr).content_hash,
            d.content_hash);
}

/// 4 bytes a token, 8 a border of sentences or alignments, 4 an example for its place in an epoch, and the text.
TEST(TrainingData, BytesAreWhatItHolds) {
  TrainingData d;
  EXPECT_EQ(d.bytes(), 2 * 3 * 8) << "where the first of each begins";
  d.train.source.add(Ids{1, 2, 3});
  d.train.target.add(Ids{4});
  EXPECT_EQ(d.bytes(), 48 + 4 * 4 + 2 * 8 + 4);
  d.train.weights = {1.5f};
  d.valid_source = {"ab"};
  EXPECT_EQ(d.bytes(), 48 + 4 * 4 + 2 * 8 + 4 + 4 + 2 + static_cast<int64_t>(sizeof(std::string)));
  d.train.window = 2;  // texts are in order
  EXPECT_EQ(d.bytes(), 48 + 4 * 4 + 2 * 8 + 4 + 2 + static_cast<int64_t>(sizeof(std::string)));
}

}  // namespace
}  // namespace attune::test
