// Training data on the disk: the same as in memory, found again by the next run, and made again where it must be.
#include <cerrno>
#include <filesystem>

#include "base/files.h"
#include "data/corpus/number_corpus.h"
#include "data/corpus/random_corpus.h"
#include "data/corpus/training_data.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

const Encoders kOneSide{{}, numbers};
/// For data that must not be read as text.
const Encoders kNone{[](std::string_view) -> Ids { throw Error(ErrorKind::internal, "text was read"); },
                     [](std::string_view) -> Ids { throw Error(ErrorKind::internal, "text was read"); }};

DataSettings trains_on(const Strings& train) {
  DataSettings o;
  o.train = train;
  return o;
}

CorpusPlace place_in(const TempFolder& dir, int64_t in_memory = 1000) {
  CorpusPlace place;
  place.folder = dir.path();
  place.in_memory = in_memory;
  return place;
}

void expect_same_data(const TrainingData& a, const TrainingData& b, int64_t tokens = 512) {
  EXPECT_EQ(a.content_hash, b.content_hash);
  EXPECT_EQ(a.train.size(), b.train.size());
  EXPECT_EQ(a.train.rows(), b.train.rows());
  EXPECT_EQ(a.train.longest(), b.train.longest());
  EXPECT_EQ(a.train.window, b.train.window);
  EXPECT_EQ(a.train.one_sided(), b.train.one_sided());
  EXPECT_EQ(a.train.sizes().source_tokens, b.train.sizes().source_tokens);
  EXPECT_EQ(a.held_out, b.held_out);
  EXPECT_EQ(a.train_report.sentences(Overlong::skip), b.train_report.sentences(Overlong::skip));
  EXPECT_TRUE(a.valid == b.valid);
  EXPECT_EQ(a.valid.window, b.valid.window);
  EXPECT_EQ(a.valid_source, b.valid_source);
  EXPECT_EQ(a.valid_target, b.valid_target);
  Batches one(a.train, {.tokens = tokens, .seed = 3}), other(b.train, {.tokens = tokens, .seed = 3});
  Batch x, y;
  while (one.position().epoch < 2 && !testing::Test::HasFailure()) {
    one.next(x);
    other.next(y);
    expect_equal(x, y);
  }
  const DataPosition middle{1, x.at.example};
  one.seek(middle);
  other.seek(middle);
  one.next(x);
  other.next(y);
  expect_equal(x, y);
}

TEST(LargeCorpus, IsTheSameOnTheDiskAndInMemory) {
  const TempFolder dir{memory_folder()};
  const Strings files = write_corpus(dir, "a", 50000);
  ThreadPool pool(2);
  const DataSettings o = trains_on(files);
  const TrainingData memory = read_training_data(o, kNumbers, 1, &pool);
  ASSERT_FALSE(memory.train.stored);
  const CorpusPlace place = place_in(dir);
  const TrainingData disk = read_training_data(o, kNumbers, 1, &pool, &place);
  ASSERT_TRUE(disk.train.stored);
  EXPECT_EQ(disk.valid.size(), 1000);
  expect_same_data(memory, disk);
  const TrainingData again = read_training_data(o, kNone, 1, &pool, &place);  // no text is read
  expect_same_data(memory, again);
}

TEST(LargeCorpus, SmallOnesStayInMemory) {
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", 100);
  const CorpusPlace place = place_in(dir, 1000);
  EXPECT_FALSE(read_training_data(trains_on(files), kNumbers, 1, nullptr, &place).train.stored);
  EXPECT_FALSE(fs::exists(dir / "corpus"));
}

TEST(LargeCorpus, NarrowIdsTwoBytesEach) {
  const TempFolder dir;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(65535 - i) + " 7\n";
  const std::string file = put(dir / "a", text);
  const Encoders both{numbers, numbers};
  CorpusPlace place = place_in(dir, 100);
  place.vocabulary = 65536;
  const DataSettings o = trains_on({file, file});
  expect_same_data(read_training_data(o, both, 1, nullptr), read_training_data(o, both, 1, nullptr, &place));
  EXPECT_EQ(fs::file_size(dir / "corpus/tokens.bin"), 2u * 2 * 2 * 2000);
}

TEST(LargeCorpus, TextsThatAreReadOnAndOn) {
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", 3000);  // as two texts
  DataSettings o = trains_on(files);
  o.stream = true;
  o.max_length = 100;
  const CorpusPlace place = place_in(dir);
  const TrainingData memory = read_training_data(o, kOneSide, 1, nullptr);
  const TrainingData disk = read_training_data(o, kOneSide, 1, nullptr, &place);
  ASSERT_TRUE(disk.train.stored);
  EXPECT_GT(disk.valid.size(), 100);
  expect_same_data(memory, disk);
  expect_same_data(memory, read_training_data(o, {{}, kNone.target}, 1, nullptr, &place));
}

TEST(LargeCorpus, LinesOfOneSideWithValidationFilesOfTheirOwn) {
  const TempFolder dir;
  DataSettings o = trains_on({write_corpus(dir, "a", 3000)[0]});
  o.valid = {write_corpus(dir, "b", 20)[0]};
  const CorpusPlace place = place_in(dir);
  const TrainingData memory = read_training_data(o, kOneSide, 1, nullptr);
  expect_same_data(memory, read_training_data(o, kOneSide, 1, nullptr, &place));
  expect_same_data(memory, read_training_data(o, kOneSide, 1, nullptr, &place));
}

TEST(LargeCorpus, IsMadeAgainWhenAnythingChanged) {
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", 500);
  DataSettings o = trains_on(files);
  CorpusPlace place = place_in(dir);
  const std::string hash = read_training_data(o, kNumbers, 1, nullptr, &place).content_hash;
  const auto is_read = [&](uint64_t seed = 1) {
    const std::string said = error_with_kind([&] { read_training_data(o, kNone, seed, nullptr, &place); });
    return said == "internal: text was read";
  };
  EXPECT_FALSE(is_read());
  EXPECT_TRUE(is_read(2));
  place.tokenizer = 5;
  EXPECT_TRUE(is_read());
  place.tokenizer = 0;
  o.max_length = 4;
  EXPECT_TRUE(is_read());
  o.max_length = 256;
  o.valid = files;
  EXPECT_TRUE(is_read());
  o.valid = {};
  place.read_again = true;
  EXPECT_TRUE(is_read());
  place.read_again = false;
  EXPECT_FALSE(is_read());
  fs::last_write_time(files[1], fs::last_write_time(files[1]) + std::chrono::seconds(1));
  EXPECT_TRUE(is_read());
  EXPECT_EQ(read_training_data(o, kNumbers, 1, nullptr, &place).content_hash, hash);
  EXPECT_FALSE(is_read());
  put(files[0], slurp(files[0]) + "1\n");
  put(files[1], slurp(files[1]) + "1\n");
  EXPECT_TRUE(is_read());
  EXPECT_NE(read_training_data(o, kNumbers, 1, nullptr, &place).content_hash, hash);
}

TEST(LargeCorpus, DamageIsNoticedAndMadeGood) {
  const TempFolder dir;
  const DataSettings o = trains_on(write_corpus(dir, "a", 500));
  const CorpusPlace place = place_in(dir);
  const TrainingData good = read_training_data(o, kNumbers, 1, nullptr);
  read_training_data(o, kNumbers, 1, nullptr, &place);
  for (const char* name : {"tokens.bin", "index.bin", "manifest.json", "held-out.source"}) {
    fs::resize_file(dir / ("corpus/" + std::string(name)), 20);
    expect_same_data(good, read_training_data(o, kNumbers, 1, nullptr, &place));
  }
  for (const char* name : {"tokens.bin", "index.bin"}) {  // of the right size: found where it is read
    const std::string path = dir / ("corpus/" + std::string(name));
    std::string bytes = slurp(path);
    for (size_t i = 100; i < 200; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 1);
    put(path, bytes);
    const TrainingData bad = read_training_data(o, kNone, 1, nullptr, &place);
    EXPECT_EQ(error_with_kind([&] {
                Batches batches(bad.train, {.tokens = 512});
                Batch b;
                while (batches.position().epoch < 1) batches.next(b);
              }),
              "io: " + (dir / "corpus") +
                  " is damaged: what is read is not what was written\n  fix: start the same command again: it goes on "
                  "from the last checkpoint and makes these files anew");
    expect_same_data(good, read_training_data(o, kNumbers, 1, nullptr, &place));
  }
}

TEST(LargeCorpus, AFullDiskLeavesNothing) {
  const TempFolder dir;
  const DataSettings o = trains_on(write_corpus(dir, "a", 500));
  const auto names = [&] {
    Strings all;
    for (const auto& e : fs::recursive_directory_iterator(dir.path())) all.push_back(e.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  };
  const CorpusPlace place = place_in(dir);
  for (const int nth : {1, 2, 3, 4, 5}) {
    inject_file_fault({.call = FileFault::Call::write, .nth = nth, .error = ENOSPC});
    const std::string said = error_with_kind([&] { read_training_data(o, kNumbers, 1, nullptr, &place); });
    EXPECT_TRUE(said.starts_with("io: cannot write ")) << said;
    EXPECT_NE(said.find("fix: make room"), std::string::npos) << said;
    EXPECT_EQ(names(), (Strings{"a.de", "a.en"}));
  }
  inject_file_fault({});
  EXPECT_TRUE(read_training_data(o, kNumbers, 1, nullptr, &place).train.stored);
}

}  // namespace
}  // namespace attune::test
