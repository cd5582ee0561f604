#include "data/tokenizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "run_program.h"

namespace attune::test {
namespace {

using text::TokenizerKind;

TEST(Tokenizers, OneVocabularyForBothSidesOrOneEach) {
  const TempFolder dir;
  std::ofstream(dir / "a.en") << "ab abba\nba\n";
  std::ofstream(dir / "a.de") << "xy xyyx\nyx\n";
  DataSettings data;
  data.train = {dir / "a.en", dir / "a.de"};
  const auto unknown = [](const text::Tokenizer& t, const char* line) {
    const auto ids = t.encode(line);
    return std::count(ids.begin(), ids.end(), text::kUnknown);
  };
  for (const auto kind :
       {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::wordpiece, TokenizerKind::character})
    for (const bool joint : {true, false}) {
      const Tokenizers t = train_tokenizers(data, {.kind = kind, .size = 30, .joint = joint});
      EXPECT_EQ(t.joint(), joint);
      EXPECT_EQ(unknown(*t.source, "abba ba"), 0);
      EXPECT_EQ(unknown(*t.target, "xyyx yx"), 0);
      EXPECT_EQ(unknown(*t.source, "xyyx") > 0, !joint);
      EXPECT_EQ(unknown(*t.target, "abba") > 0, !joint);
      const std::string folder = dir / (joint ? "joint" : "separate");
      t.save(folder);
      const Tokenizers back = Tokenizers::load(folder);
      EXPECT_EQ(back.joint(), joint);
      EXPECT_EQ(back.source->hash(), t.source->hash());
      EXPECT_EQ(back.target->hash(), t.target->hash());
    }
}

}  // namespace
}  // namespace attune::test
