#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "attune/error.h"
#include "run_program.h"
#include "text/corpus.h"

namespace attune::text {
namespace {

using attune::test::slurp;
using attune::test::TempFolder;
using test::random_lines;
using test::train_on;

const TokenizerKind kKinds[] = {TokenizerKind::bpe,  TokenizerKind::unigram,   TokenizerKind::wordpiece,
                                TokenizerKind::byte, TokenizerKind::character, TokenizerKind::word};
const TokenizerKind kWithBytes[] = {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::character};

Tokenizer small(TokenizerKind kind, bool lowercase = false, bool byte_fallback = false) {
  return train_on(random_lines(400, 1),
                  {.kind = kind, .size = 5000, .lowercase = lowercase, .byte_fallback = byte_fallback})
      .tokenizer;
}

/// Any bytes, UTF-8 or not, letters known and unknown.
std::string random_bytes(Random& random) {
  std::string bytes;
  for (uint64_t n = random.below(40); n > 0; --n) switch (random.below(4)) {
      case 0:
        bytes += static_cast<char>(random.next());
        break;
      case 1:
        append_utf8(bytes, static_cast<char32_t>(random.below(0x11000)));
        break;
      default:
        bytes += "bakori m\n<0x#"[random.below(13)];
    }
  return bytes;
}

TEST(Tokenizer, TextComesBackNormalized) {
  for (const auto kind : kKinds)
    for (const bool lowercase : {false, true}) {
      const Tokenizer t = small(kind, lowercase);
      for (const auto& line : random_lines(400, 1)) {
        const auto ids = t.encode("  " + line + " \t");
        ASSERT_EQ(t.decode(ids), normalize(line, lowercase));
        for (const int32_t id : ids) ASSERT_TRUE(id >= kMarks && id < t.size());
      }
    }
}

TEST(Tokenizer, MarksHaveFixedIds) {
  for (const auto kind : kKinds) {
    const Tokenizer t = small(kind);
    EXPECT_EQ(t.piece(0), "<pad>");
    EXPECT_EQ(t.piece(1), "<s>");
    EXPECT_EQ(t.piece(2), "</s>");
    EXPECT_EQ(t.piece(3), "<unk>");
    EXPECT_EQ(t.id("</s>"), 2);
    EXPECT_EQ(t.id("no such piece"), 3);
    for (int32_t id = 0; id < t.size(); ++id) ASSERT_EQ(t.id(t.piece(id)), id);
    auto ids = t.encode("ko", true);
    EXPECT_EQ(ids.back(), kEnd);
    ids.insert(ids.begin(), {kBegin, kPad});
    EXPECT_EQ(t.decode(ids), "ko");
    EXPECT_EQ(t.encode("", true), std::vector<int32_t>{kEnd});
    EXPECT_THROW(t.decode(std::vector<int32_t>{t.size()}), Error);
    EXPECT_THROW(t.piece(-1), Error);
  }
  const Tokenizer words = small(TokenizerKind::word);
  EXPECT_EQ(words.encode("<s> qqq"), (std::vector<int32_t>{kUnknown, kUnknown}));
  EXPECT_EQ(words.decode(words.encode("ba qqq ko")), "ba \u2047 ko");
}

TEST(Tokenizer, SpansPointAtTheOriginal) {
  const std::string line =
      "  \uFB01ne cafe\u0301,  \uFF21\xFF"
      "b";
  const std::vector<std::string> wanted{"\uFB01ne", "cafe\u0301,",
                                        "\uFF21\xFF"
                                        "b"};
  const Tokenizer words = train_on({line}, {.kind = TokenizerKind::word}).tokenizer;
  const auto starts = character_starts(line);
  const auto text_at = [&](Span s) {
    const auto from = starts[static_cast<size_t>(s.begin)], to = starts[static_cast<size_t>(s.end)];
    return line.substr(from, to - from);
  };
  const Encoded e = words.encode_with_spans(line);
  ASSERT_EQ(e.spans.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(text_at(e.spans[i]), wanted[i]);

  // For subwords and characters: what a span covers is what its piece says.
  for (const auto kind : kWithBytes) {
    const Tokenizer t = small(kind);
    for (const auto& l : random_lines(300, 7)) {
      const Encoded e = t.encode_with_spans(l);
      EXPECT_EQ(e.ids, t.encode(l));
      const auto at = character_starts(l);
      for (size_t i = 0; i < e.ids.size(); ++i) {
        if (e.ids[i] == kUnknown) continue;
        const auto from = at[static_cast<size_t>(e.spans[i].begin)], to = at[static_cast<size_t>(e.spans[i].end)];
        std::string piece = t.piece(e.ids[i]), text = l.substr(from, to - from);
        if (piece.starts_with(kSpacePiece)) piece.replace(0, kSpacePiece.size(), text == " " ? " " : "");
        ASSERT_EQ(text, piece) << l;
      }
    }
  }
}

TEST(Tokenizer, AnyBytesWillDo) {
  for (const auto kind : kKinds) {
    const Tokenizer t = small(kind);
    Random random(9);
    for (int round = 0; round < 5000; ++round) {
      const std::string bytes = random_bytes(random);
      const Encoded e = t.encode_with_spans(bytes);
      const auto count = static_cast<int32_t>(character_starts(bytes).size() - 1);
      for (const Span& s : e.spans) ASSERT_TRUE(s.begin >= 0 && s.begin <= s.end && s.end <= count);
      ASSERT_EQ(t.decode(e.ids).find('\n'), std::string::npos);
      if (std::find(e.ids.begin(), e.ids.end(), kUnknown) == e.ids.end()) {
        ASSERT_EQ(t.decode(e.ids), normalize(bytes));
      }
    }
  }
}

TEST(Tokenizer, WithByteFallbackNothingIsUnknown) {
  for (const auto kind : kWithBytes) {
    const Tokenizer t = small(kind, false, true);
    EXPECT_EQ(t.id("<0x00>"), kMarks);
    EXPECT_EQ(t.id("<0xFF>"), kMarks + 255);
    EXPECT_EQ(t.decode(t.encode("<0x41> <s> \U0001F600\u0E01")), "<0x41> <s> \U0001F600\u0E01");
    const Encoded e = t.encode_with_spans("ba \u0E01");
    EXPECT_EQ(e.ids.back(), Vocabulary::byte_id('\x81'));
    EXPECT_EQ(e.spans.back(), (Span{3, 4}));
    Random random(11);
    for (int round = 0; round < 5000; ++round) {
      const std::string bytes = random_bytes(random);
      const std::vector<int32_t> ids = t.encode(bytes);
      ASSERT_EQ(std::count(ids.begin(), ids.end(), kUnknown), 0);
      ASSERT_EQ(t.decode(ids), normalize(bytes));
    }
  }
}

TEST(Tokenizer, ASpaceThatIsNoPieceComesBackToo) {
  for (const auto kind : kWithBytes) {
    VocabularyContents c{.kind = kind, .byte_fallback = true, .pieces = {"a", "b"}};
    if (kind == TokenizerKind::unigram) c.scores = {-1, -2};
    const Tokenizer t{Vocabulary(std::move(c))};
    EXPECT_EQ(t.decode(t.encode(" ab b  \u00E4 ")), "ab b \u00E4");
  }
}

TEST(Tokenizer, WhateverAModelSaysIsOneLineOfText) {
  for (const auto kind : {TokenizerKind::byte, TokenizerKind::bpe}) {
    const Tokenizer t = small(kind, false, kind != TokenizerKind::byte);
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
      std::vector<int32_t> ids;
      for (uint64_t n = random.below(20); n > 0; --n)
        ids.push_back(static_cast<int32_t>(random.below(random.below(2) ? 270 : static_cast<uint64_t>(t.size())) %
                                           static_cast<uint64_t>(t.size())));
      const std::string text = t.decode(ids);
      ASSERT_TRUE(is_utf8(text));
      for (const char c : text) ASSERT_TRUE(static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
    }
  }
  const Tokenizer bytes = small(TokenizerKind::byte);
  EXPECT_EQ(bytes.size(), kMarks + kBytes);
  EXPECT_EQ(bytes.decode(std::vector<int32_t>{kMarks + 'a', kMarks + '\n', kMarks + 0xC3, kMarks + 'b'}),
            "a\uFFFD\uFFFDb");
}

TEST(Tokenizer, SavedAndLoadedIsTheSame) {
  for (const auto kind : kKinds) {
    const TempFolder folder;
    const bool fallback = kind == TokenizerKind::unigram || kind == TokenizerKind::character;
    const Tokenizer t = small(kind, true, fallback);
    t.save(folder / "new/tokenizer");
    const Tokenizer back = Tokenizer::load(folder / "new/tokenizer");
    EXPECT_EQ(back.hash(), t.hash());
    EXPECT_EQ(back.kind(), kind);
    ASSERT_EQ(back.size(), t.size());
    for (const auto& line : random_lines(100, 3)) ASSERT_EQ(back.encode(line), t.encode(line));
    back.save(folder / "again");
    EXPECT_EQ(slurp(folder / "again/vocabulary.txt"), slurp(folder / "new/tokenizer/vocabulary.txt"));
  }
  try {
    Tokenizer::load("/nonexistent");
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.kind(), ErrorKind::io); }
}

TEST(Tokenizer, SaysWhatATokenIs) {
  EXPECT_EQ(small(TokenizerKind::byte).unit(), "byte");
  EXPECT_EQ(small(TokenizerKind::character).unit(), "character");
  EXPECT_EQ(small(TokenizerKind::character, false, true).unit(), "");
  EXPECT_EQ(small(TokenizerKind::word).unit(), "");
}

TEST(Tokenizer, ThreadsShareIt) {
  const Tokenizer t = small(TokenizerKind::bpe);
  const auto lines = random_lines(300, 4);
  std::vector<std::vector<int32_t>> results[3];
  std::vector<std::thread> threads;
  for (auto& r : results)
    threads.emplace_back([&] {
      for (const auto& l : lines) r.push_back(t.encode(l));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace attune::text
