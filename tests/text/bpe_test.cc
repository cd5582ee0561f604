// Subwords against SentencePiece itself: the same pieces, the same ids, the same texts.
#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include <iostream>

#include "base/clock.h"
#include "text/corpus.h"

namespace attune::text {
namespace {

namespace sp = sentencepiece;
using test::random_lines;
using test::train_on;

class LineIterator : public sp::SentenceIterator {
 public:
  explicit LineIterator(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sp::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  size_t at_ = 0;
};

/// Trained by SentencePiece on whole lines, not on counted words.
struct Oracle : sp::SentencePieceProcessor {
  Oracle(const std::vector<std::string>& lines, const char* size, const char* coverage) {
    LineIterator iterator(lines);
    std::string model;
    const auto status = sp::SentencePieceTrainer::Train({{"model_type", "bpe"},
                                                         {"vocab_size", size},
                                                         {"character_coverage", coverage},
                                                         {"normalization_rule_name", "identity"},
                                                         {"num_threads", "1"},
                                                         {"hard_vocab_limit", "false"},
                                                         {"pad_id", "0"},
                                                         {"bos_id", "1"},
                                                         {"eos_id", "2"},
                                                         {"unk_id", "3"},
                                                         {"minloglevel", "4"}},
                                                        &iterator, &model);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(LoadFromSerializedProto(model).ok());
  }
};

std::vector<std::string> normalized(std::vector<std::string> lines) {
  for (auto& l : lines) l = normalize(l);
  return lines;
}

void expect_same(const Oracle& oracle, const Tokenizer& ours, const std::vector<std::string>& lines) {
  for (const std::string& raw : lines) {
    const std::string line = normalize(raw);
    const std::vector<int> ids = oracle.EncodeAsIds(line);
    ASSERT_EQ(ours.encode(raw), ids) << line;
    ASSERT_EQ(ours.decode(ids), oracle.DecodeIds(ids)) << line;
  }
}

TEST(Bpe, PiecesAndIdsAreSentencePieces) {
  const auto lines = random_lines(3000, 1);
  for (const auto& [size, coverage] : {std::pair{"600", "1.0"}, {"2000", "1.0"}, {"2000", "0.98"}}) {
    const Oracle oracle(normalized(lines), size, coverage);
    const auto ours = train_on(lines, {.size = std::stoi(size), .character_coverage = std::stod(coverage)});
    const Tokenizer& t = ours.tokenizer;
    ASSERT_EQ(t.size(), oracle.GetPieceSize());
    for (int id = 0; id < t.size(); ++id) ASSERT_EQ(t.piece(id), oracle.IdToPiece(id));
    expect_same(oracle, t, lines);
    expect_same(oracle, t, random_lines(3000, 2));  // other words, partly unknown characters
    expect_same(oracle, t,
                {"", "\u6F22\u5B57\u304B\u306A", "x\u6F22 \u6F22y", std::string(3000, 'b'), "<s> </s> <unk>"});
  }
}

TEST(Bpe, LongWordsTakeNotMuchLonger) {
  const Tokenizer t = train_on(random_lines(500, 1), {.size = 400}).tokenizer;
  Random random(5);
  std::string word;
  while (word.size() < 1 << 20) word += test::random_word(random);
  const Stopwatch watch;
  EXPECT_EQ(t.decode(t.encode(word)), normalize(word));
  EXPECT_LT(watch.seconds(), 20) << "quadratic?";
}

TEST(Bpe, TextCantForgeMarks) {
  std::vector<std::string> lines(50, "<s> a <unk> b </s> <pad>");
  const Tokenizer t = train_on(lines, {.size = 60}).tokenizer;
  for (const int32_t id : t.encode(lines[0])) EXPECT_GE(id, kMarks);
  EXPECT_EQ(t.decode(t.encode(lines[0])), lines[0]);
}

TEST(Bpe, UnknownCharactersInARowAreOneToken) {
  const Tokenizer t = train_on({"ab ab ba"}, {.size = 100}).tokenizer;
  const Encoded e = t.encode_with_spans("ab xyz");
  ASSERT_EQ(e.ids, (std::vector<int32_t>{t.id("▁ab"), t.id("▁"), kUnknown}));
  EXPECT_EQ(e.spans, (std::vector<Span>{{0, 2}, {3, 3}, {3, 6}}));
  EXPECT_EQ(t.decode(e.ids), "ab  \u2047 ");
}

TEST(Bpe, SpeedForTheRecord) {
  const auto lines = random_lines(5000, 1);
  const Oracle oracle(normalized(lines), "2000", "1.0");
  const Tokenizer t = train_on(lines, {.size = 2000}).tokenizer;
  size_t ids = 0;
  Stopwatch watch;
  for (const auto& l : lines) ids += oracle.EncodeAsIds(l).size();
  const double theirs = watch.seconds();
  watch.restart();
  for (const auto& l : lines) ids -= t.encode(l).size();
  const double ours = watch.seconds();
  EXPECT_EQ(ids, 0u);
  std::cout << "lines/s: SentencePiece " << 5000 / theirs << ", attune " << 5000 / ours << "\n";
}

}  // namespace
}  // namespace attune::text
