// Attention along edges against the formula of graph attention networks, in double.
#include <cmath>

#include "autograd/op_checks.h"
#include "model/attention/lab.h"
#include "model/model.h"

namespace attune {
namespace {

Rows two_graphs(int64_t width) {
  Rows r;
  r.width = width;
  r.segments = Segments::of_lengths({4, 3});
  r.edges.start = Column<int32_t>{0, 2, 5, 6, 8, 9, 12, 14};
  r.edges.to = Column<int32_t>{0, 1, 0, 1, 3, 2, 1, 3, 0, 0, 1, 2, 2, 0};
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < 7 * width; ++i) r.values.push_back(normal(random));
  return r;
}

/// What a mechanism makes of projected rows, and the parameters it has.
struct EdgesLab {
  static constexpr int64_t kHeads = 2, kDim = 3, kWidth = 6;
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  std::unique_ptr<AttentionMechanism> attention;
  Rows rows = two_graphs(1);

  explicit EdgesLab(const char* score) {
    AttentionSetup setup;
    setup.heads = setup.heads_kv = kHeads;
    setup.dim = kDim;
    attention = make_attention({"edges", {{"score", std::string(score)}}}, setup, Blueprint(shared, "encoder.0.self"),
                               "model.attention");
    parameters.allocate();
  }
  std::vector<CheckInput> inputs() const {
    std::vector<CheckInput> all{random_input({7, kWidth}, 1), random_input({7, kWidth}, 2),
                                random_input({7, kWidth}, 3)};
    for (size_t i = 0; i < parameters.named().size(); ++i)
      all.push_back(random_input(parameters.named()[i].shape, 4 + i));
    return all;
  }
  CheckedOp op() const {
    return [this](Ctx& ctx, const std::vector<Var>& v) {
      Pass pass{ctx, parameters};
      pass.rows = &rows;
      pass.substitutes = std::span(v).subspan(3);
      std::vector<Var> none{v[0]};
      if (v.size() == 3) pass.substitutes = none;  // for the type alone
      Projected p{v[0], v[1], v[2]};
      p.queries = p.keys = &rows.segments;
      return attention->mix(pass, p);
    };
  }
};

TEST(Edges, IsItsFormula) {
  for (const char* score : {"additive", "dot"}) {
    const EdgesLab lab(score);
    const auto in = lab.inputs();
    const std::vector<double> y = run_checked(lab.op(), in, DType::f64).value;
    const auto at = [](const CheckInput& x, int64_t row, int64_t column) {
      return x.values[static_cast<size_t>(row * EdgesLab::kWidth + column)];
    };
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t h = 0; h < EdgesLab::kHeads; ++h) {
        const int64_t first = i < 4 ? 0 : 4;
        std::vector<double> e;
        for (const int32_t to : lab.rows.edges.of(i)) {
          double s = 0;
          for (int64_t c = h * 3; c < h * 3 + 3; ++c)
            s += score == std::string("dot") ? at(in[0], i, c) * at(in[1], first + to, c) / std::sqrt(3.0)
                                             : in[3].values[static_cast<size_t>(c)] * at(in[0], i, c) +
                                                   in[4].values[static_cast<size_t>(c)] * at(in[1], first + to, c);
          e.push_back(std::exp(score == std::string("additive") && s < 0 ? 0.2 * s : s));
        }
        double sum = 0;
        for (const double x : e) sum += x;
        for (int64_t c = h * 3; c < h * 3 + 3; ++c) {
          double wanted = 0;
          for (size_t k = 0; k < e.size(); ++k) wanted += e[k] / sum * at(in[2], first + lab.rows.edges.of(i)[k], c);
          EXPECT_NEAR(y[static_cast<size_t>(i * 6 + c)], wanted, 1e-9) << score << " " << i << " " << c;
        }
      }
    expect_right(lab.op(), in, score);
  }
}

TEST(Edges, WeightsForPeopleAreThoseOfTheEdges) {
  EdgesLab lab("dot");
  lab.rows.segments = Segments::single(4);
  lab.rows.edges.start = Column<int32_t>{0, 2, 5, 6, 8};
  std::vector<float> numbers(24);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 5) / 2;
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, lab.parameters};
  pass.rows = &lab.rows;
  const Var x = ctx.input(Tensor(numbers.data(), Shape{4, 6}));
  Projected p{x, x, x};
  p.queries = p.keys = &lab.rows.segments;
  std::vector<float> out(2 * 4 * 4, -1);
  ASSERT_TRUE(lab.attention->weights(pass, p, out.data()));
  for (size_t h = 0; h < 2; ++h)
    for (size_t i = 0; i < 4; ++i) {
      const auto to = lab.rows.edges.of(static_cast<int64_t>(i));
      double sum = 0;
      for (size_t j = 0; j < 4; ++j) {
        const double w = static_cast<double>(out[(h * 4 + i) * 4 + j]);
        sum += w;
        EXPECT_EQ(w > 0, std::find(to.begin(), to.end(), static_cast<int32_t>(j)) != to.end()) << i << j;
      }
      EXPECT_NEAR(sum, 1, 1e-6);
    }
}

/// A whole model of nodes: only those that count teach, and gradients are right.
TEST(Edges, AGraphLearnsFromTheNodesThatCount) {
  ModelOptions o;
  o.shape = ModelShape::encoder;
  o.input = {"linear"};
  o.position = {"none"};
  o.attention = {{"edges"}};
  o.encoder_layers = 2;
  o.d_model = o.d_ff = 4;
  o.heads = 2;
  o.dropout = 0;
  o.head = {"tags"};
  ModelSizes sizes{0, 3, 10};
  sizes.source_width = 2;
  const Model model(o, sizes);
  Batch batch;
  batch.source = two_graphs(2);
  batch.target().right.ids = Column<int32_t>{0, 1, 2, 0, 1, 2, 0};
  batch.target().right.segments = batch.source.segments;
  batch.target().weights = Column<float>{1, 0, 0, 0.5f, 0, 0, 1};
  std::vector<CheckInput> inputs;
  for (int i = 0; i < model.parameters().count(); ++i)
    inputs.push_back(random_input(model.parameters().value(i).shape, 10 + static_cast<uint64_t>(i)));
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& v) {
    Pass pass{ctx, model.parameters()};
    pass.substitutes = v;
    return model.loss(pass, batch, {.scale = 0.5f});
  };
  EXPECT_LT(gradient_error(op, inputs), 1e-5);
  const double loss = run_checked(op, inputs, DType::f64).value[0];
  batch.target().right.ids = Column<int32_t>{0, 0, 0, 0, 0, 0, 0};  // other answers of those that do not count
  EXPECT_EQ(run_checked(op, inputs, DType::f64).value[0], loss);
}

}  // namespace
}  // namespace attune
