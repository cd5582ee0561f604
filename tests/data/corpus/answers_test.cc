#include "data/corpus/answers.h"

#include <gtest/gtest.h>

#include <bit>

#include "checks.h"
#include "data/batches.h"
#include "data/files.h"
#include "data/tokenizers.h"

namespace attune {
namespace {

using test::put;
using test::TempFolder;
using Ids = std::vector<int32_t>;

std::shared_ptr<const text::Labels> labels(const std::vector<std::string>& names) {
  return std::make_shared<const text::Labels>(names);
}

TEST(AnswersData, TextToNumbersAndBack) {
  const Answers label({"label"}, labels({"no", "oh yes"})), sets({"labels"}, labels({"a", "b", "c"})),
      number({"number"}, labels({}));
  EXPECT_EQ(label.read(" oh yes "), Ids{1});
  EXPECT_EQ(label.read("maybe"), Ids{text::Labels::kUnseen});
  EXPECT_EQ(label.write(Ids{1}), "oh yes");
  EXPECT_EQ(sets.read("c  a"), (Ids{2, 0}));
  EXPECT_EQ(sets.write(Ids{0, 2}), "a c");
  EXPECT_EQ(sets.write({}), "");
  EXPECT_EQ(number.write(number.read("-1.25")), "-1.25");
  EXPECT_EQ(number.read("-0"), Ids{std::bit_cast<int32_t>(0.0f)});
  EXPECT_EQ(number.write(number.read("1,5")), "1.5") << "a decimal comma";
  EXPECT_EQ(number.write(number.read("0,125")), "0.125");
  EXPECT_TRUE(number.read("1,234").empty()) << "which may be thousands";
  EXPECT_TRUE(number.read("1.234,5").empty());
  EXPECT_NE(number.fault("", "1,234").find("may have a decimal comma"), std::string::npos);
  EXPECT_EQ(number.width(), 1);
  EXPECT_EQ(sets.width(), 3);
  EXPECT_NE(number.fault("", "x").find("\"x\" is not a number"), std::string::npos);
  EXPECT_EQ(label.fault("", "x"), "");
  const Answers tags({"tags"}, labels({"X"}));
  EXPECT_EQ(tags.fault("a b", "X X"), "");
  EXPECT_EQ(tags.fault("a b", "X"), "2 words, 1 label\n  fix: write one label for each word");
}

/// Which label may follow which.
TEST(AnswersData, SpansAreWellFormed) {
  const auto may = [](const std::vector<std::string>& names) {
    const std::vector<float> m = Answers({"tags"}, labels(names)).moves();
    return [m, names](const std::string& from, const std::string& to) {
      const auto at = [&](const std::string& s) {
        return s == "begin" ? names.size()
               : s == "end" ? names.size() + 1
                            : static_cast<size_t>(std::find(names.begin(), names.end(), s) - names.begin());
      };
      return to == "end" ? m[at(to) * names.size() + at(from)] == 0 : m[at(from) * names.size() + at(to)] == 0;
    };
  };
  const auto bio = may({"O", "B-X", "I-X", "B-Y", "I-Y"});
  EXPECT_TRUE(bio("begin", "O") && bio("begin", "B-X") && bio("B-X", "I-X") && bio("I-X", "I-X") && bio("B-X", "B-X"));
  EXPECT_TRUE(bio("I-X", "O") && bio("I-X", "B-Y") && bio("I-X", "end") && bio("B-X", "end"));
  EXPECT_FALSE(bio("begin", "I-X") || bio("O", "I-X") || bio("B-Y", "I-X") || bio("I-Y", "I-X"));
  const auto bioes = may({"O", "B-X", "I-X", "E-X", "S-X"});
  EXPECT_TRUE(bioes("B-X", "E-X") && bioes("E-X", "O") && bioes("S-X", "B-X") && bioes("E-X", "end") &&
              bioes("O", "S-X"));
  EXPECT_FALSE(bioes("B-X", "O") || bioes("I-X", "S-X") || bioes("O", "E-X") || bioes("B-X", "end") ||
               bioes("E-X", "I-X"));
  EXPECT_TRUE(Answers({"tags"}, labels({"NOUN", "VERB"})).moves().empty());
  const auto io = may({"O", "I-X", "B-Y", "I-Y"});
  EXPECT_TRUE(io("begin", "I-X") && io("O", "I-X") && io("B-Y", "I-X")) << "no label begins these spans";
  EXPECT_FALSE(io("O", "I-Y"));
}

TEST(AnswersData, EveryWordBeginsOnce) {
  const TempFolder folder;
  put(folder / "t.txt", "O\tthe lower lowest newer\nO\tnewest wider words\nO\tthe the new\n");
  DataSettings data;
  data.train = {folder / "t.txt"};
  data.format = DataFormat::tsv;
  for (const auto kind : {text::TokenizerKind::bpe, text::TokenizerKind::unigram, text::TokenizerKind::wordpiece,
                          text::TokenizerKind::word, text::TokenizerKind::character, text::TokenizerKind::byte}) {
    const auto t =
        train_tokenizers(data, {.kind = kind, .size = kind == text::TokenizerKind::byte ? 260 : 40}, Sides::answers)
            .source;
    const std::vector<bool> begins = word_begins(*t);
    for (const std::string word : {"lowest", "zzz", "\xe2\x96\x81",
                                   "a\xc2\xa0"
                                   "b",
                                   "\xff", "the\xe2\x80\x8b", "\xe2\x80\x8b"}) {
      const Ids ids = encode_words(*t, begins, word);
      EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [&](int32_t id) { return begins[static_cast<size_t>(id)]; }), 1)
          << word << " as " << static_cast<int>(kind);
    }
    EXPECT_TRUE(encode_words(*t, begins, " \t ").empty());
  }
}

TEST(AnswersData, Columns) {
  const TempFolder folder;
  const auto read = [&](const std::string& text, const std::vector<std::string>& columns = {}, bool header = false) {
    put(folder / "d.tsv", text);
    DataSettings d;
    d.train = {folder / "d.tsv"};
    d.format = DataFormat::tsv;
    d.columns.texts = columns;
    d.header = header;
    std::vector<std::string> all;
    PairReader reader(d.train, d, "data.train", Sides::answers);
    for (TextPair p; reader.next(p);) all.push_back(std::string(p.source) + "|" + std::string(p.target));
    return all;
  };
  const std::vector<std::string> one{"a text|yes"}, two{"a\tb|no"};
  EXPECT_EQ(read("yes\ta text\n"), one);
  EXPECT_EQ(read("no\ta\tb\n"), two);
  EXPECT_EQ(read("a text\tyes\n", {"1", "2"}), one);
  EXPECT_EQ(read("x\tb\tno\ta\n", {"4", "2", "3"}), two);
  EXPECT_EQ(read("label\ttext\nyes\ta text\n", {}, true), one);
  EXPECT_EQ(read("text2\tlabel\ttext\nb\tno\ta\n", {}, true), two);
  EXPECT_EQ(read("sentence\tlabel\na text\tyes\n", {}, true), one);
  EXPECT_EQ(read("q\tanswer\na text\tyes\n", {"q", "answer"}, true), one);
  EXPECT_NE(
      error_of([&] { read("q\tanswer\na text\tyes\n", {}, true); }, ErrorKind::recipe).find("are text and label?"),
      std::string::npos);
  EXPECT_NE(error_of([&] { read("yes\n"); }, ErrorKind::data)
                .find("1 column, wanted at least 2: label, tab, text\n"
                      "  fix: write the label and a tab in front"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read("a\tb\tc\td\n"); }, ErrorKind::data).find("4 columns, wanted 2 or 3: label"),
            std::string::npos);
}

/// Batches of answers: no marks on what is to be said, one in front of what is read, and where words begin.
TEST(AnswersData, Batches) {
  Corpus corpus;
  corpus.answers = true;
  corpus.word_begins =
      std::make_shared<const std::vector<bool>>(std::vector<bool>{false, false, false, false, true, false});
  corpus.add({Ids{4, 5, 4}, Ids{7, 8}, 1}, Sides::two);
  corpus.add({Ids{4}, Ids{9}, 1}, Sides::two);
  Batches batches(corpus, {.tokens = 100, .shuffle = false});
  Batch b;
  batches.next(b);
  EXPECT_EQ(b.source.ids, (Ids{1, 4, 5, 4, 2, 1, 4, 2}));
  EXPECT_EQ(b.target().right.ids, (Ids{7, 8, 9}));
  EXPECT_EQ(b.target().right.edges.to, (Ids{1, 3, 1}));
  EXPECT_EQ(b.target().right.edges.start, (Ids{0, 1, 2, 3}));
  EXPECT_EQ(corpus.rows(), 3);
  EXPECT_EQ(corpus.longest(), 5);
  weigh_labels(LabelWeights::balanced, 10, corpus);
  Batches weighed(corpus, {.tokens = 100, .shuffle = false});
  weighed.next(b);
  EXPECT_EQ(b.target().weights, (std::vector<float>{1, 1, 1}));
}

TEST(AnswersData, MissingWords) {
  Corpus corpus;
  corpus.masked = 50;
  Ids text(200);
  for (size_t i = 0; i < text.size(); ++i) text[i] = 4 + static_cast<int32_t>(i % 40);
  corpus.add({{}, text, 1}, Sides::one);
  corpus.add({{}, Ids{7}, 1}, Sides::one);
  const auto batch = [&](uint64_t seed, int64_t epoch, bool shuffle = true) {
    BatchOptions o{.tokens = 1000, .shuffle = shuffle, .seed = seed};
    Batches batches(corpus, o);
    batches.seek({epoch, 0});
    Batch b;
    batches.next(b);
    return b;
  };
  const Batch b = batch(1, 0);
  EXPECT_EQ(b.source_tokens(), 200 + 2 + 1 + 2);  // each between its marks
  EXPECT_GE(b.target_tokens(), 12);
  EXPECT_LE(b.target_tokens(), 60);
  int64_t gaps = 0;
  for (int64_t s = 0; s < 2; ++s)
    for (int64_t r = b.target().right.segments.begin(s); r < b.target().right.segments.begin(s + 1); ++r) {
      const int32_t row = b.target().right.edges.to[static_cast<size_t>(r)],
                    id = b.source.ids[static_cast<size_t>(b.source.segments.begin(s) + row)];
      const Ids own = b.examples[static_cast<size_t>(s)] == 0 ? text : Ids{7};
      EXPECT_EQ(b.target().right.ids[static_cast<size_t>(r)], own[static_cast<size_t>(row - 1)]);
      gaps += id == text::kPad;
    }
  EXPECT_GT(gaps, b.target_tokens() / 2);
  EXPECT_EQ(batch(1, 0).source.ids, b.source.ids);
  EXPECT_NE(batch(1, 1).source.ids, b.source.ids);
  EXPECT_NE(batch(2, 0).source.ids, b.source.ids);
  EXPECT_EQ(batch(1, 0, false).source.ids, batch(1, 1, false).source.ids);  // what is validated on stays
}

}  // namespace
}  // namespace attune
