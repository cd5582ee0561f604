// A task that nobody thought of, in one file and one line: texts get a label by the largest number of each column.
#include <gtest/gtest.h>

#include "attune/classifier.h"
#include "autograd/losses/output_loss.h"
#include "autograd/operations/pool.h"
#include "model/heads/head.h"
#include "model/layers/linear.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

class LargestHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "largest", .sentence = "a label by the largest number of each column", .cite = "nobody"};
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  LargestHead(const Options&, const HeadSetup& setup, const Blueprint& b) : output_(b, setup.labels, setup.d_model) {}
  Var scores(const Pass& pass, const HeadInput& in) const override {
    return output_(pass, segment_max(pass.ctx, in.x, in.texts()));
  }
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override {
    OutputLoss o{segment_max(pass.ctx, in.x, in.texts()), pass[output_.weight], pass[output_.bias]};
    o.targets = in.wanted->right.id_tensor();
    o.scale = options.scale;
    return output_loss(pass.ctx, o);
  }
  std::vector<int32_t> answers(const Pass&, const Tensor& scores, const Tensor&) const override {
    const float* x = scores.as<float>();
    return {static_cast<int32_t>(std::max_element(x, x + scores.cols()) - x)};
  }

 private:
  Linear output_;
};

TEST(ToyTask, OneFileAndOneLine) {
  add_head<LargestHead>();
  const TempFolder folder(memory_folder());
  std::string text;
  for (int i = 0; i < 300; ++i) text += i % 3 == 0 ? "yes\tb c a\n" : i % 3 == 1 ? "no\tb c\n" : "no\tc c b b\n";
  put(folder / "t.tsv", text);
  put(folder / "recipe.toml", R"(task = "classify"
[data]
train = ["t.tsv"]
valid = ["t.tsv"]
[tokenizer]
kind = "word"
[model]
head = "largest"
encoder_layers = 1
d_model = 16
d_ff = 16
heads = 2
dropout = 0.0
[train]
batch_tokens = 512
warmup = 5
stop = "40u"
average = 1
)");
  Trainer({.recipe = folder / "recipe.toml", .out = folder / "m", .sets = {}, .threads = 1}).run();
  const Classifier c(folder / "m", 1);
  EXPECT_EQ(c.classify("c a").label, "yes");
  EXPECT_EQ(c.classify("c b").label, "no");
}

}  // namespace
}  // namespace attune::test
