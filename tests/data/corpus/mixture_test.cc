// Several corpora mixed by ratio, and lines that weigh more than others, on their way to batches.
#include <map>
#include <set>

#include "data/corpus/number_corpus.h"
#include "data/corpus/random_corpus.h"
#include "data/corpus/training_data.h"

namespace attune::test {
namespace {

/// Corpora of these sizes, whose examples tell their numbers.
Corpus mixed(const std::vector<int64_t>& sizes, std::vector<double> ratio) {
  int64_t all = 0;
  Mixture m{{0}, std::move(ratio)};
  for (const int64_t n : sizes) m.borders.push_back(all += n);
  Corpus c = random_corpus(all, 5);
  c.mixture = std::move(m);
  return c;
}

/// The examples of each of the next epochs.
std::vector<Ids> epochs(Batches& batches, int64_t count) {
  std::vector<Ids> out(static_cast<size_t>(count));
  Batch b;
  while (batches.position().epoch < count) {
    batches.next(b);
    Ids& to = out[static_cast<size_t>(b.at.epoch)];
    to.insert(to.end(), b.examples.begin(), b.examples.end());
  }
  return out;
}

TEST(Mixture, SharesAreByRatioAndAnEpochIsAsLongAsAllTogether) {
  EXPECT_EQ(mixed({100, 100}, {3, 1}).mixture.shares(), (std::vector<int64_t>{150, 50}));
  EXPECT_EQ(mixed({10, 1000}, {1, 1}).mixture.shares(), (std::vector<int64_t>{505, 505}));
  EXPECT_EQ(mixed({7, 5, 3}, {1, 1, 1}).mixture.shares(), (std::vector<int64_t>{5, 5, 5}));
  EXPECT_EQ(mixed({9}, {2.5}).mixture.shares(), (std::vector<int64_t>{9}));
  const Corpus c = mixed({30, 170}, {3, 1});
  Batches batches(c, {.tokens = 40, .seed = 7});
  for (const Ids& epoch : epochs(batches, 5)) {
    EXPECT_EQ(epoch.size(), 200u);
    EXPECT_EQ(std::count_if(epoch.begin(), epoch.end(), [](int32_t i) { return i < 30; }), 150);
    // and mixed evenly: no half of an epoch is of one corpus
    const auto first = std::count_if(epoch.begin(), epoch.begin() + 100, [](int32_t i) { return i < 30; });
    EXPECT_NEAR(first, 75, 20);
  }
}

TEST(Mixture, EveryCorpusGoesToItsEndBeforeItBeginsAnew) {
  const Corpus c = mixed({30, 170}, {3, 1});
  Batches batches(c, {.tokens = 40, .seed = 7});
  const std::vector<Ids> all = epochs(batches, 17);  // 17 * 50 = 5 passes over the second corpus
  std::map<int32_t, int> times;
  for (const Ids& epoch : all)
    for (const int32_t i : epoch) ++times[i];
  for (int32_t i = 0; i < 30; ++i) EXPECT_EQ(times[i], 85);
  for (int32_t i = 30; i < 200; ++i) EXPECT_EQ(times[i], 5);
  std::set<int32_t> pass;  // the first three epochs have nothing twice of the second
  for (size_t e = 0; e < 3; ++e)
    for (const int32_t i : all[e]) EXPECT_TRUE(i < 30 || pass.insert(i).second);
}

TEST(Mixture, SeekAtEveryBorderGoesOnAsIfUninterrupted) {
  const Corpus c = mixed({40, 60, 11}, {1, 2, 4});
  const BatchOptions options{.tokens = 50, .seed = 5};
  Batches whole(c, options);
  const std::vector<Batch> all = take(whole, 40);
  ASSERT_GT(all.back().at.epoch, 1);
  for (size_t i = 1; i < all.size(); ++i) {
    Batches resumed(c, options);
    resumed.seek(all[i - 1].next);
    expect_equal(take(resumed, 1)[0], all[i]);
  }
  Batches other(c, {.tokens = 50, .seed = 6});
  EXPECT_NE(take(other, 1)[0].examples, all[0].examples);
}

DataSettings mixture_trains_on(const Strings& a, const Strings& b, std::vector<double> ratio) {
  DataSettings o;
  o.train = {a[0], a[1], b[0], b[1]};
  o.train.groups = {2, 2};
  o.ratio = std::move(ratio);
  return o;
}

TEST(Mixture, OfFilesInMemoryAndOnTheDisk) {
  const TempFolder dir;
  const DataSettings o = mixture_trains_on(write_corpus(dir, "a", 900), write_corpus(dir, "b", 100), {1, 1});
  CorpusPlace place;
  place.folder = dir.path();
  place.in_memory = 1000;
  const TrainingData memory = read_training_data(o, kNumbers, 1, nullptr);
  EXPECT_EQ(memory.train.mixture.borders.size(), 3u);
  EXPECT_EQ(memory.train.mixture.borders[2], memory.train.size());
  EXPECT_NEAR(memory.train.mixture.borders[1], 880, 20);  // some are held out, and the lines of b are copies of a's
  for (int i = 0; i < 2; ++i) {
    const TrainingData disk = read_training_data(o, kNumbers, 1, nullptr, &place);
    ASSERT_TRUE(disk.train.stored);
    EXPECT_EQ(disk.content_hash, memory.content_hash);
    EXPECT_EQ(disk.train.mixture.borders, memory.train.mixture.borders);
    Batches one(memory.train, {.tokens = 100}), other(disk.train, {.tokens = 100});
    for (int k = 0; k < 30; ++k) expect_equal(take(one, 1)[0], take(other, 1)[0]);
  }
  DataSettings flat = o;
  flat.train.groups.clear();  // each pair of files is a corpus
  EXPECT_EQ(read_training_data(flat, kNumbers, 1, nullptr).train.mixture.borders, memory.train.mixture.borders);
  flat.ratio = {};  // none: as before
  const TrainingData plain = read_training_data(flat, kNumbers, 1, nullptr);
  EXPECT_EQ(plain.train.mixture.count(), 0u);
  EXPECT_NE(plain.content_hash, memory.content_hash);
  DataSettings none =
      mixture_trains_on(write_corpus(dir, "c", 10), {put(dir / "n", "\n"), put(dir / "m", "\n")}, {1, 1});
  EXPECT_EQ(error_with_kind([&] { read_training_data(none, kNumbers, 1, nullptr); }),
            "data: data.train: corpus 2 of 2 has nothing to draw from\n  fix: check its files");
}

TEST(WeightsOfLines, ReachTheRowsOfABatch) {
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", 300);
  std::string weights;
  for (int i = 0; i < 300; ++i) weights += i % 3 == 0 ? "0.5\n" : "1\n";
  DataSettings o;
  o.train = {files[0], files[1]};
  o.valid = files;
  o.weights.texts = {put(dir / "w", weights)};
  CorpusPlace place;
  place.folder = dir.path();
  place.in_memory = 100;
  const TrainingData memory = read_training_data(o, kNumbers, 1, nullptr);
  const TrainingData disk = read_training_data(o, kNumbers, 1, nullptr, &place);
  EXPECT_TRUE(memory.train.weighted() && disk.train.weighted());
  EXPECT_FALSE(memory.valid.weighted());
  Batches one(memory.train, {.tokens = 60}), other(disk.train, {.tokens = 60});
  for (int k = 0; k < 20; ++k) {
    const Batch b = take(one, 1)[0];
    ASSERT_EQ(b.target().weights.size(), b.target().right.ids.size());
    for (int64_t i = 0; i < b.size(); ++i)
      for (int64_t row = b.target().right.segments.begin(i); row < b.target().right.segments.begin(i + 1); ++row)
        EXPECT_EQ(b.target().weights[static_cast<size_t>(row)],
                  b.examples[static_cast<size_t>(i)] % 3 == 0 ? 0.5F : 1.0F);
    const Batch d = take(other, 1)[0];
    expect_equal(b, d);
    EXPECT_EQ(b.target().weights, d.target().weights);
  }
  put(dir / "w", std::string(weights.size() / 4, ' '));
  std::string ones;
  for (int i = 0; i < 300; ++i) ones += "1.0\n";
  put(dir / "w", ones);
  EXPECT_FALSE(read_training_data(o, kNumbers, 1, nullptr).train.weighted());  // all alike: as without
}

}  // namespace
}  // namespace attune::test
