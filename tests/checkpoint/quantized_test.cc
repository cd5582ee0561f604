#include "checkpoint/quantized.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "autograd/operations/embed.h"
#include "autograd/operations/linear.h"
#include "base/random.h"
#include "checkpoint/tensors.h"
#include "checks.h"
#include "data/files.h"

namespace attune {
namespace {

using test::TempFolder;

/// A matrix, a word table, a joined matrix, a vector and a table of other use.
struct Model {
  Parameters p;
  int matrix, words, joined, vector, table;
  explicit Model(bool filled) {
    matrix = p.add("w", {40, 64}, true);
    words = p.add("words", {30, 64});
    joined = p.add_joined({{"q", 64}, {"k", 64}}, 64, true);
    vector = p.add("b", {40});
    table = p.add("positions", {5, 64});
    p.mark_words(words);
    p.allocate();
    if (!filled) return;
    Random random(1);
    for (const NamedParameter& n : p.named())
      for (int64_t i = 0; i < n.shape.size(); ++i) p.data()[n.offset + i] = static_cast<float>(random.normal());
    p.repack();
  }
};

std::vector<float> products(const Parameters& p, int i, const std::vector<float>& x) {
  Arena arena;
  Ctx ctx(arena);
  const Var y = linear(ctx, ctx.input(Tensor(x.data(), Shape{std::ssize(x) / 64, 64})), p.var(ctx, i, nullptr));
  return {y.value().as<float>(), y.value().as<float>() + y.value().size()};
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i] - b[i]), 2);
    size += std::pow(static_cast<double>(a[i]), 2);
  }
  return std::sqrt(error / size);
}

struct Quantized : testing::Test {
  TempFolder dir;
  std::string path = dir / "m.safetensors";
  Model from{true};
  std::vector<float> x =
      std::vector<float>(from.p.value(from.words).as<float>(), from.p.value(from.words).as<float>() + 7 * 64);
};

TEST_F(Quantized, Int8ThroughAFile) {
  write_safetensors(path, QuantizedTensors::int8(from.p).tensors());
  EXPECT_LT(std::filesystem::file_size(path), 40 * 64 + 30 * 64 + 128 * 64 + 5 * 64 * 4 + 40 * 4 + 198 * 4 + 1024);
  Model to(false);
  load_parameters(path, to.p);
  EXPECT_TRUE(to.p.holds_int8());
  EXPECT_EQ(to.p.size(), 48 + 320);  // what stayed f32
  for (const int i : {from.matrix, from.joined}) {
    const double d = distance(products(from.p, i, x), products(to.p, i, x));
    EXPECT_LT(d, 0.015);
    EXPECT_GT(d, 1e-4);
  }
  EXPECT_EQ(std::memcmp(from.p.value(from.table).as<float>(), to.p.value(to.table).as<float>(), 5 * 64 * 4), 0);
  EXPECT_EQ(std::memcmp(from.p.value(from.vector).as<float>(), to.p.value(to.vector).as<float>(), 40 * 4), 0);
}

TEST_F(Quantized, WordsAreLookedUp) {
  write_safetensors(path, QuantizedTensors::int8(from.p).tensors());
  Model to(false);
  load_parameters(path, to.p);
  Arena arena;
  Ctx ctx(arena);
  const std::vector<int32_t> ids{0, 29, 3, 3};
  const auto rows = [&](Model& m) {
    EmbedArgs e;
    e.table = m.p.var(ctx, m.words, nullptr);
    e.ids = Tensor(ids.data(), Shape{4});
    e.scale = 8;
    const Var y = embed(ctx, e);
    return std::vector<float>(y.value().as<float>(), y.value().as<float>() + 4 * 64);
  };
  const auto a = rows(from), b = rows(to);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 8 * 4.0f / 127 / 2);
  EXPECT_LT(distance(a, b), 0.01);
}

TEST_F(Quantized, F16ThroughAFile) {
  write_safetensors(path, QuantizedTensors::f16(from.p).tensors());
  Model to(false);
  load_parameters(path, to.p);
  EXPECT_FALSE(to.p.holds_int8());
  EXPECT_LT(distance(products(from.p, from.joined, x), products(to.p, to.joined, x)), 5e-4);
}

TEST_F(Quantized, WhatIsMissingOrWrongIsNamed) {
  StoredTensors some = QuantizedTensors::int8(from.p).tensors();
  const QuantizedTensors kept = QuantizedTensors::int8(from.p);
  some = kept.tensors();
  std::erase_if(some, [](const StoredTensor& t) { return t.name == "k.scale"; });
  write_safetensors(path, some);
  Model a(false);
  EXPECT_NE(error_of([&] { load_parameters(path, a.p); }, ErrorKind::model).find("tensor 'k.scale' [64] is missing"),
            std::string::npos);
  some = kept.tensors();
  const std::vector<float> wide(30 * 64);
  for (StoredTensor& t : some)
    if (t.name == "words") t.type = Stored::f32, t.data = const_cast<float*>(wide.data());
  write_safetensors(path, some);
  Model b(false);
  EXPECT_NE(error_of([&] { load_parameters(path, b.p); }, ErrorKind::model).find("tensor 'words' is F32, not I8"),
            std::string::npos);
}

TEST_F(Quantized, WeightsThatCanNot) {
  from.p.value(from.vector).as<float>()[3] = 1e5f;
  EXPECT_NE(error_of([&] { QuantizedTensors::f16(from.p); }, ErrorKind::model).find("'b' has a weight of 100000"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { QuantizedTensors::int8(from.p); }), "no error");
  from.p.value(from.matrix).as<float>()[5] = std::nanf("");
  EXPECT_NE(error_of([&] { QuantizedTensors::int8(from.p); }, ErrorKind::model).find("'w' has a weight of nan"),
            std::string::npos);
}

TEST_F(Quantized, IsNotTrained) {
  write_safetensors(path, QuantizedTensors::int8(from.p).tensors());
  Model to(false);
  load_parameters(path, to.p);
  EXPECT_NE(error_of([&] { Gradients g(to.p); }), "no error");
  EXPECT_NE(error_of([&] { tensors_of(to.p); }), "no error");
}

}  // namespace
}  // namespace attune
