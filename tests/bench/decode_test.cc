#include <gtest/gtest.h>

#include "api/model_maker.h"
#include "attune/bench.h"
#include "attune/error.h"
#include "attune/translator.h"
#include "data/files.h"
#include "inference/decode_work.h"

namespace attune::test {
namespace {

const char* const kText = "a dog runs\n\nthe cat sees a dog in the park\nzwei hunde\n";

TEST(BenchDecode, AFigureForEachSettingOfTheSameTranslations) {
  const TempFolder dir;
  DecodeBench bench;
  bench.model = make_model(dir);
  bench.file = put(dir / "in", kText);
  bench.beams = {1, 3};
  bench.threads = {2};
  bench.batch_tokens = {1, 4096};
  bench.rounds = 1;
  bench.max_length = 6;
  const auto figures = bench_decode(bench);
  ASSERT_EQ(figures.size(), 4u);
  int64_t said = 0;
  const Translator translator(bench.model, 1);
  for (const char* line : {"a dog runs", "the cat sees a dog in the park", "zwei hunde"})
    said += std::ssize(translator.translate(line, {.beam = 3, .max_length = 6}).tokens);
  for (const DecodeFigure& f : figures) {
    EXPECT_EQ(f.lines, 4);
    if (f.beam == 3) { EXPECT_EQ(f.tokens, said); }
    EXPECT_EQ(f.type, "f32");
    EXPECT_GT(f.tokens_per_s, 0);
    EXPECT_GE(f.tokens_per_s, f.tokens_per_s_median);
    EXPECT_GT(f.share_of_peak, 0);
    EXPECT_GT(f.p50_ms, 0);
    EXPECT_GE(f.p99_ms, f.p50_ms);
    EXPECT_GT(f.latency_share_of_limit, 0);
    EXPECT_GT(f.peak_rss_mb, f.working_mb);
    EXPECT_GT(f.cache_bytes_per_line, 0);
  }
  EXPECT_EQ(figures[0].p50_ms, figures[1].p50_ms);  // batches do not matter to a single line
  EXPECT_EQ(figures[3].threads, 2);
  EXPECT_EQ(figures[3].beam, 3);
  EXPECT_EQ(figures[3].batch_tokens, 4096);
  EXPECT_GE(figures[2].cache_bytes_per_line, figures[0].cache_bytes_per_line);
}

TEST(BenchDecode, TheFirstLinesAndNoLatencyWhenAskedSo) {
  const TempFolder dir;
  DecodeBench bench;
  bench.model = make_model(dir);
  bench.file = put(dir / "in", kText);
  bench.lines = 1;
  bench.latency_lines = 0;
  bench.rounds = 1;
  const auto figures = bench_decode(bench);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].lines, 1);
  EXPECT_EQ(figures[0].p50_ms, 0);
}

TEST(BenchDecode, AFileOfNothingIsAnError) {
  const TempFolder dir;
  DecodeBench bench;
  bench.model = make_model(dir);
  for (const char* text : {"", "\n\n"}) {
    bench.file = put(dir / "in", text);
    try {
      bench_decode(bench);
      FAIL() << "no error";
    } catch (const Error& e) { EXPECT_EQ(e.kind(), ErrorKind::data) << e.what(); }
  }
}

/// One encoder layer, two decoder layers, d_model and d_ff 32, 60 pieces: 4 or 6 products of d^2, two of d d_ff.
TEST(BenchDecode, CountsWhatMustBeDone) {
  const TempFolder dir;
  const DecodeWork work(make_model(dir));
  const double d2 = 32 * 32, vocabulary = static_cast<double>(letters_and_words(60).size());
  EXPECT_EQ(work.step_bytes(), 4 * (2 * 8 * d2 + 32 * vocabulary));
  EXPECT_EQ(work.encoder_bytes(), 4 * (6 + 2 * 2) * d2);
  const auto one = work.flops({{5, 7}}, 1), four = work.flops({{5, 7}}, 4), none = work.flops({{0, 0}}, 4);
  EXPECT_EQ(none.encoder + none.decoder, 0);
  EXPECT_EQ(one.encoder, four.encoder);
  EXPECT_GT(one.encoder, 2 * 10 * d2 * 5);
  EXPECT_GT(one.decoder, 2 * (16 * d2 + 32 * vocabulary) * 8);
  EXPECT_NEAR(four.decoder / one.decoder, 29.0 / 8, 0.1);
  EXPECT_GT(read_bandwidth(1 << 20, 2), 0.1);
}

TEST(BenchDecode, AnyPositionCanBeMeasured) {
  const TempFolder dir;
  DecodeBench bench;
  bench.model = make_model(dir, {.position = "rope"});
  bench.file = put(dir / "in", kText);
  bench.rounds = 1;
  bench.latency_lines = 1;
  bench.max_length = 3;
  EXPECT_GT(bench_decode(bench)[0].tokens_per_s, 0);
}

}  // namespace
}  // namespace attune::test
