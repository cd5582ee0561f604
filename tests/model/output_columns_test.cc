#include "model/output_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "checks.h"
#include "kernels/isa.h"
#include "model/int8_of.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

/// The same bits as those columns of all logits, for any number of rows.
void expect_columns(const Model& model, int64_t vocabulary) {
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, model.parameters()};
  const int64_t d = model.options().d_model;
  std::mt19937 random(1);
  std::vector<float> x(static_cast<size_t>(7 * d));
  for (float& v : x) v = static_cast<float>(random() % 2001) / 1000 - 1;
  for (const int64_t rows : {1, 5, 7})
    for (const size_t count : {1, 16, 63, 65, 130}) {
      std::vector<int32_t> words(static_cast<size_t>(vocabulary));
      std::iota(words.begin(), words.end(), 0);
      std::shuffle(words.begin(), words.end(), random);
      words.resize(count);
      const Tensor hidden(x.data(), Shape{rows, d});
      const Var all = model.logits(pass, ctx.input(hidden));
      OutputColumns columns(ctx, model, std::ssize(words));
      columns.gather(words);
      std::vector<float> own(static_cast<size_t>(rows) * count, NAN);
      columns.logits(hidden, Tensor(own.data(), Shape{rows, std::ssize(words)}));
      for (int64_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < count; ++j)
          ASSERT_EQ(own[static_cast<size_t>(i) * count + j], all.value().row<float>(i)[words[j]])
              << rows << " rows, word " << j << " of " << count;
    }
}

TEST(OutputColumns, AreThoseOfAllLogits) {
  for (const auto& isa : available_isas()) {
    const IsaScope scope(isa);
    SCOPED_TRACE(isa);
    for (const Tie tie : {Tie::all, Tie::none}) {
      const auto model = tiny_model({.d_model = 36, .vocabulary = 333, .tie = tie});
      expect_columns(*model, 333);
      for (const auto& kernel : kernels::available_int8_kernels()) {
        SCOPED_TRACE(kernel);
        kernels::force_int8_kernel(kernel);
        expect_columns(*int8_of(*model), 333);
        kernels::force_int8_kernel("");
      }
    }
  }
}

}  // namespace
}  // namespace attune
