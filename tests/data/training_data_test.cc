#include "data/training_data.h"

#include <sys/resource.h>

#include <set>

#include "base/clock.h"
#include "data/number_corpus.h"

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

/// Not a promise but a figure: ATTUNE_BIG=1000000 asks for a corpus of that many lines.
TEST(TrainingData, TimeAndMemory) {
  const char* big = std::getenv("ATTUNE_BIG");
  const int lines = big ? std::atoi(big) : 10000;
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", lines);
  ThreadPool pool(2);
  struct rusage before {
  }, after{};
  getrusage(RUSAGE_SELF, &before);
  const Stopwatch watch;
  const TrainingData d = read_training_data(training_data_trains_on(files), kNumbers, 1, &pool);
  getrusage(RUSAGE_SELF, &after);
  const int64_t tokens = d.train.source.tokens() + d.train.target.tokens();
  EXPECT_EQ(d.train.size() + d.valid.size(), lines);
  std::printf("%d lines, %ld tokens: %.2f s, peak grew by %ld MB, ids are %ld MB\n", lines, static_cast<long>(tokens),
              watch.seconds(), (after.ru_maxrss - before.ru_maxrss) / 1024, static_cast<long>(tokens * 4 >> 20));
}

}  // namespace
}  // namespace attune::test
