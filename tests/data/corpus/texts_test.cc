// One-sided corpora on their way to batches: lines by themselves, and texts that are read on and on.
#include <map>
#include <numbers>
#include <set>

#include "data/corpus/characters.h"
#include "data/corpus/number_corpus.h"
#include "data/corpus/random_corpus.h"
#include "data/corpus/training_data.h"
#include "data/shards.h"
#include "data/tokenizers.h"

namespace attune::test {
namespace {

const Encoders kTextsOneSide{{}, numbers};

DataSettings settings(bool stream, int64_t max_length = 256) {
  DataSettings o;
  o.stream = stream;
  o.max_length = max_length;
  return o;
}

/// Texts of these lengths whose ids tell their places: 10, 11, 12 ...
Corpus texts(const std::vector<int>& lengths, int64_t window) {
  Corpus c;
  int32_t id = 10;
  for (const int n : lengths) {
    c.target.add({});
    for (int i = 0; i < n; ++i, ++id) c.target.extend({&id, 1});
  }
  c.window = window;
  return c;
}

TEST(Lines, EachIsAnExampleAndTheEmptyAreSkipped) {
  const TempFolder dir;
  const std::string a = put(dir / "a.txt", "5 6 7\n\n  \n8\n"), b = put(dir / "b.gz", gzipped("9 10"));
  const LoadedCorpus c = read_corpus({a, b}, "data.train", settings(false), kTextsOneSide, nullptr);
  EXPECT_TRUE(c.corpus.one_sided());
  ASSERT_EQ(c.corpus.size(), 3);
  EXPECT_EQ(ids_of(c.corpus.target[0]), (Ids{5, 6, 7}));
  EXPECT_EQ(ids_of(c.corpus.target[2]), (Ids{9, 10}));
  EXPECT_EQ(c.report.sentences(Overlong::skip), (Strings{"2 empty lines skipped (" + a + ":2, " + a + ":3)"}));
  EXPECT_EQ(c.corpus.rows(), 9);
  EXPECT_EQ(c.corpus.longest(), 4);
  Batches batches(c.corpus, {.tokens = 100, .begin = 1, .end = 2, .shuffle = false});
  Batch batch;
  batches.next(batch);
  EXPECT_EQ(batch.read.ids, (Ids{1, 5, 6, 7, 1, 8, 1, 9, 10}));
  EXPECT_EQ(batch.target().right.ids, (Ids{5, 6, 7, 2, 8, 2, 9, 10, 2}));
  EXPECT_EQ(batch.target().right.segments.start, (Ids{0, 4, 6, 9}));
  EXPECT_FALSE(batch.has_source());
  EXPECT_TRUE(batch.source.ids.empty());
  EXPECT_EQ(batch.source_tokens(), 0);
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(batch.examples, (Ids{0, 1, 2}));
  EXPECT_TRUE(batch.read.streams.empty());
}

TEST(Lines, TheOverlongAreSkippedCroppedOrAnError) {
  const TempFolder dir;
  const std::string a = put(dir / "a", "1 2 3\n4\n");
  DataSettings o = settings(false, 2);
  EXPECT_EQ(read_corpus({a}, "data.train", o, kTextsOneSide, nullptr).report.sentences(o.overlong),
            (Strings{"1 overlong line skipped (" + a + ":1)"}));
  o.overlong = Overlong::crop;
  EXPECT_EQ(ids_of(read_corpus({a}, "data.train", o, kTextsOneSide, nullptr).corpus.target[0]), (Ids{1, 2}));
  o.overlong = Overlong::error;
  EXPECT_EQ(error_with_kind([&] { read_corpus({a}, "data.train", o, kTextsOneSide, nullptr); }),
            "data: " + a +
                ":1: 3 tokens, more than data.max_length = 2\n"
                "  fix: raise data.max_length, or set data.overlong to \"skip\" or \"crop\"");
}

TEST(Texts, AFileIsOneTextWithItsLineEnds) {
  const TempFolder dir;
  const std::string a = put(dir / "a.txt", "5 6\n\n7\n"), none = put(dir / "none", ""), b = put(dir / "b", "8\r\n9");
  const LoadedCorpus c = read_corpus({a, none, b}, "data.train", settings(true, 4), kTextsOneSide, nullptr);
  ASSERT_EQ(c.corpus.target.count(), 2);
  EXPECT_EQ(ids_of(c.corpus.target[0]), (Ids{5, 6, text::kEnd, text::kEnd, 7, text::kEnd}));
  EXPECT_EQ(ids_of(c.corpus.target[1]), (Ids{8, text::kEnd, 9, text::kEnd}));
  EXPECT_EQ(c.corpus.window, 4);
  EXPECT_EQ(c.corpus.size(), 10);
  EXPECT_EQ(c.corpus.rows(), 10);
  EXPECT_EQ(c.corpus.longest(), 4);
  EXPECT_TRUE(c.report.sentences(Overlong::skip).empty());
  // A text shorter than a window is one window: to validate on it is no mistake.
  EXPECT_EQ(read_corpus({a}, "data.valid", settings(true, 100), kTextsOneSide, nullptr).corpus.window, 6);
}

TEST(Texts, ReadTheSameByAnyNumberOfThreads) {
  const TempFolder dir;
  const Strings files = write_corpus(dir, "a", 20000);
  const LoadedCorpus one = read_corpus(files, "data.train", settings(true), kTextsOneSide, nullptr);
  ASSERT_EQ(one.corpus.target.count(), 2);
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    const LoadedCorpus many = read_corpus(files, "data.train", settings(true), kTextsOneSide, &pool);
    EXPECT_TRUE(many.corpus == one.corpus);
    EXPECT_EQ(many.content_hash, one.content_hash);
  }
}

TEST(Texts, AWindowIsWhatComesNextAndATextBeginsWithItsMark) {
  const Corpus c = texts({5, 3}, 4);
  Batches batches(c, {.tokens = 8, .begin = 1, .end = 2, .shuffle = false});
  Batch b;
  batches.next(b);
  EXPECT_EQ(b.target().right.ids, (Ids{10, 11, 12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(b.read.ids, (Ids{1, 10, 11, 12, 13, 1, 15, 16}));
  EXPECT_EQ(b.target().right.segments.start, (Ids{0, 4, 8}));
  EXPECT_EQ(b.read.streams, (Ids{0, 1}));
  EXPECT_TRUE(b.examples.empty());
  EXPECT_EQ(b.next, (DataPosition{1, 0}));
}

TEST(Texts, ATextThatBeginsWithAWindowReadsNothingOfTheOneBefore) {
  const Corpus c = texts({4, 4, 1, 3}, 4);
  Batches batches(c, {.tokens = 12, .begin = 1, .end = 2, .shuffle = false});
  Batch b;
  batches.next(b);
  EXPECT_EQ(b.target().right.ids, (Ids{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
  EXPECT_EQ(b.read.ids, (Ids{1, 10, 11, 12, 1, 14, 15, 16, 1, 1, 19, 20}));
  EXPECT_EQ(b.target().right.segments.start, (Ids{0, 4, 8, 12}));
}

TEST(Texts, EveryTokenOnceAnEpochAndStreamsGoOnFromBatchToBatch) {
  for (const int64_t budget : {64, 200, 1000, 5000}) {
    const std::vector<int> lengths{700, 1, 0, 299, 1003};
    const std::set<int32_t> begins{10, 710, 711, 1010};
    const Corpus c = texts(lengths, 64);
    const auto n = static_cast<int32_t>(c.size());
    Batches batches(c, {.tokens = budget, .seed = 3});
    Batch b;
    std::set<int32_t> first_tokens;
    for (int64_t epoch = 0; epoch < 4; ++epoch) {
      Ids seen(static_cast<size_t>(n));
      std::map<int32_t, int32_t> last;  // of each stream
      while (batches.position().epoch == epoch) {
        batches.next(b);
        EXPECT_EQ(b.first, last.empty());
        EXPECT_LE(b.target_tokens(), budget);
        ASSERT_EQ(std::ssize(b.read.streams), b.size());
        EXPECT_EQ(b.size(), std::max<int64_t>(1, std::min<int64_t>(budget, n) / 64)) << "every stream in every batch";
        for (int64_t i = 0; i < b.size(); ++i) {
          const int32_t stream = b.read.streams[static_cast<size_t>(i)];
          for (auto row = static_cast<size_t>(b.target().right.segments.begin(i));
               row < static_cast<size_t>(b.target().right.segments.begin(i + 1)); ++row) {
            const int32_t out = b.target().right.ids[row], in = b.read.ids[row];
            ++seen[static_cast<size_t>(out - 10)];
            EXPECT_EQ(in, begins.contains(out) ? 1 : out - 1);
            if (last.contains(stream)) { EXPECT_EQ(out, (last[stream] - 10 + 1) % n + 10) << "the text goes round"; }
            if (!last.contains(stream) && stream == 0) first_tokens.insert(out);
            last[stream] = out;
          }
        }
      }
      EXPECT_EQ(seen, Ids(static_cast<size_t>(n), 1));
    }
    EXPECT_GE(first_tokens.size(), 3u) << "epochs begin in different places";
  }
}

TEST(Texts, SeekAtEveryBorderGoesOnAsIfUninterrupted) {
  const Corpus c = texts({1000, 777}, 50);
  const BatchOptions options{.tokens = 220, .seed = 5};
  Batches whole(c, options);
  const std::vector<Batch> all = take(whole, 30);  // several epochs
  ASSERT_GT(all.back().at.epoch, 2);
  for (size_t i = 0; i < all.size(); ++i) {
    Batches resumed(c, options);
    resumed.seek(i == 0 ? DataPosition{} : all[i - 1].next);
    for (size_t j = i; j < std::min(i + 3, all.size()); ++j) expect_equal(take(resumed, 1)[0], all[j]);
  }
  EXPECT_EQ(error_with_kind([&] { Batches(c, options).seek({0, 7}); }), "usage: [batches] no batch begins at token 7");
}

TEST(Texts, ShardsKeepTheStreamsOfTheirSegments) {
  const Corpus c = texts({100000}, 128);
  Batches batches(c, {.tokens = 4096, .seed = 2});
  Shards shards;
  for (const Batch& b : take(batches, 3)) {
    cut(b, 8, shards);
    EXPECT_EQ(shards.size(), 8u);
    Ids streams, in, out;
    for (const Batch& s : shards) {
      EXPECT_EQ(s.first, b.first);
      EXPECT_EQ(s.source.segments.count(), 0);
      EXPECT_TRUE(s.source.ids.empty());
      EXPECT_EQ(s.target().right.segments.count(), std::ssize(s.read.streams));
      EXPECT_EQ(s.read.first_row, std::ssize(in));
      streams.insert(streams.end(), s.read.streams.begin(), s.read.streams.end());
      in.insert(in.end(), s.read.ids.begin(), s.read.ids.end());
      out.insert(out.end(), s.target().right.ids.begin(), s.target().right.ids.end());
    }
    EXPECT_EQ(streams, b.read.streams);
    EXPECT_EQ(in, b.read.ids);
    EXPECT_EQ(out, b.target().right.ids);
  }
  Batch lines;
  Corpus l;
  for (int i = 0; i < 600; ++i) l.target.add(Ids{7, 8, 9});
  Batches(l, {.tokens = 2000}).next(lines);
  cut(lines, 4, shards);
  EXPECT_EQ(shards.size(), 4u);
  EXPECT_TRUE(shards[1].read.streams.empty());
}

TEST(Texts, TheEndIsHeldOutFromTheBeginOfALine) {
  const TempFolder dir;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("{} {} {}\n", i, i, i);  // 4 tokens a line
  DataSettings o = settings(true, 32);
  o.train = {put(dir / "a", text), put(dir / "b", "7 8\n")};
  const TrainingData d = read_training_data(o, kTextsOneSide, 1, nullptr);
  EXPECT_TRUE(d.held_out);
  EXPECT_EQ(d.valid.target.count(), 2);
  EXPECT_EQ(d.valid.target[0][0], 981);  // of 4,003 tokens the last 80, less the end of a line
  EXPECT_EQ(ids_of(d.valid.target[1]), (Ids{7, 8, text::kEnd}));
  EXPECT_EQ(d.train.size() + d.valid.size(), 4003);
  EXPECT_EQ(d.train.target.ids.back(), text::kEnd);
  EXPECT_EQ(d.train.window, 32);
  EXPECT_EQ(d.valid.window, 32);
  // Lines by themselves are held out by their text, as pairs are.
  o.stream = false;
  const TrainingData lines = read_training_data(o, kTextsOneSide, 1, nullptr);
  EXPECT_EQ(lines.valid.size(), 20);
  EXPECT_EQ(lines.train.size(), 981);
  EXPECT_TRUE(lines.valid.one_sided());
}

TEST(Texts, Messages) {
  const TempFolder dir;
  const std::string none = put(dir / "none", ""), blank = put(dir / "blank", " \n\n"),
                    three = put(dir / "a", "1 2 3\n");
  const auto reads = [&](const std::string& file, bool stream) {
    return error_with_kind([&] { read_corpus({file}, "data.valid", settings(stream), kTextsOneSide, nullptr); });
  };
  for (const bool stream : {true, false})
    EXPECT_EQ(reads(none, stream),
              "data: data.valid: no line is left of 0 read from " + none + "\n  fix: the files are empty: name others");
  EXPECT_EQ(reads(blank, false), "data: data.valid: no line is left of 2 read from " + blank +
                                     ": 2 empty lines skipped (" + blank + ":1, " + blank +
                                     ":2)\n  fix: name files that have text");
  EXPECT_EQ(error_with_kind([&] { read_corpus({}, "data.valid", settings(true), kTextsOneSide, nullptr); }),
            "recipe: data.valid names no files\n  fix: data.valid = [\"train.txt\"]");
  DataSettings o = settings(true, 64);
  o.train = o.valid = {three};
  EXPECT_EQ(error_with_kind([&] { read_training_data(o, kTextsOneSide, 1, nullptr); }),
            "data: data.train has 4 tokens to train on, fewer than one window of data.max_length = 64\n"
            "  fix: lower data.max_length, or add text");
  EXPECT_EQ(error_with_kind([&] { Batches(texts({1000}, 64), {.tokens = 63}); }),
            "recipe: train.batch_tokens = 63 is less than a window of data.max_length = 64 tokens\n"
            "  fix: raise train.batch_tokens, or lower data.max_length");
}

TEST(Texts, TokenizersLearnFromOneSide) {
  const TempFolder dir;
  DataSettings o = settings(true);
  o.train = {put(dir / "a", "ab\n\nba c\n")};
  text::TokenizerOptions options;
  options.kind = text::TokenizerKind::character;
  const Tokenizers t = train_tokenizers(o, options, Sides::one);
  EXPECT_TRUE(t.joint());
  EXPECT_EQ(t.target->size(), 8);  // four marks, a, b, c and the space
  EXPECT_FALSE(t.encoders(Sides::one).source);
  const LoadedCorpus c = read_corpus(o.train, "data.train", o, t.encoders(Sides::one), nullptr);
  EXPECT_EQ(c.corpus.target.tokens(), 9) << "a token for each character and each line end";
}

/// Whatever tokens a text is cut into, its characters are as many as they are.
TEST(Texts, CharactersAreCountedForEveryTokenizer) {
  const TempFolder dir;
  const std::string text =
      "low lower  lowest \u00e9t\u00e9\nnew newer newest low\n\nthe widest of \u00e9t\u00e9s low\n";
  DataSettings o = settings(true);
  o.train = {put(dir / "a.txt", text)};
  const int64_t letters = 20 + 20 + 22;  // two blanks are one
  for (const bool stream : {true, false})
    for (const auto kind : {text::TokenizerKind::bpe, text::TokenizerKind::unigram, text::TokenizerKind::wordpiece,
                            text::TokenizerKind::word, text::TokenizerKind::character, text::TokenizerKind::byte}) {
      o.stream = stream;
      const int64_t lines = stream ? 4 : 3;  // empty ones by themselves are skipped
      text::TokenizerOptions options;
      options.kind = kind;
      options.size = kind == text::TokenizerKind::byte ? 260 : 40;
      const Tokenizers t = train_tokenizers(o, options, Sides::one);
      const Encoders encoders{{}, [&](std::string_view line) { return t.target->encode(line); }};
      const LoadedCorpus c = read_corpus(o.train, "data.train", o, encoders, nullptr);
      EXPECT_EQ(characters_of(*t.target, c.corpus), letters + lines) << static_cast<int>(kind) << stream;
      const TextUnit unit = text_unit(*t.target, c.corpus);
      if (kind == text::TokenizerKind::byte) {
        EXPECT_EQ(unit.name, "bits_per_byte");
        EXPECT_DOUBLE_EQ(unit.bits(std::numbers::ln2), 1);
        continue;
      }
      EXPECT_EQ(unit.name, "bits_per_character");
      EXPECT_DOUBLE_EQ(unit.bits(std::numbers::ln2),
                       static_cast<double>(c.corpus.rows()) / static_cast<double>(letters + lines));
    }
}

}  // namespace
}  // namespace attune::test
