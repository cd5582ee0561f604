#include "checkpoint/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/files.h"
#include "base/random.h"
#include "checks.h"
#include "places.h"
#include "run_program.h"

namespace attune {
namespace {

using test::TempFolder;

template <class T>
StoredTensor stored(const std::string& name, Stored type, std::vector<int64_t> dims, std::vector<T>& values) {
  return {name, type, std::move(dims), values.data()};
}

/// A file with a header as given and so many bytes of data.
std::string raw(const std::string& header, size_t data) {
  const uint64_t length = header.size();
  std::string s(reinterpret_cast<const char*>(&length), 8);
  return s + header + std::string(data, '\1');
}

std::string good_entry(const std::string& name, int begin, int end) {
  return "\"" + name + R"(":{"dtype":"F32","shape":[)" + std::to_string((end - begin) / 4) + R"(],"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

struct SafetensorsTest : testing::Test {
  TempFolder folder;
  std::string path = folder / "a.safetensors";

  /// What reading such a file says.
  std::string says(const std::string& bytes) {
    write_file(path, bytes);
    std::string text = error_of([&] { SafetensorsFile file(path); }, ErrorKind::model);
    EXPECT_TRUE(text.starts_with(path + ": ")) << text;
    EXPECT_NE(text.find("\n  fix: "), std::string::npos) << text;
    text = text.substr(0, text.find('\n'));
    return text.size() > path.size() + 2 ? text.substr(path.size() + 2) : text;
  }
};

TEST_F(SafetensorsTest, NumbersComeBackBitByBit) {
  using L = std::numeric_limits<float>;
  std::vector<float> f{0.0f,     -0.0f,         L::denorm_min(), -L::min() / 2,
                       L::max(), L::infinity(), L::quiet_NaN(),  std::bit_cast<float>(0x7fa00001u)};
  std::vector<double> d{-0.0, std::numeric_limits<double>::denorm_min(), std::nan("7"), 1.0 / 3};
  std::vector<int32_t> i{std::numeric_limits<int32_t>::min(), -1, 0, std::numeric_limits<int32_t>::max()};
  std::vector<int8_t> b{-128, 0, 127};
  std::vector<uint16_t> h{0, 0x8000, 0x7f80, 0xffff}, g{1, 0x7c00};
  float scalar = 42;
  const StoredTensors all{stored("z", Stored::f32, {2, 4}, f),
                          stored("double", Stored::f64, {4}, d),
                          stored("ids", Stored::i32, {2, 1, 2}, i),
                          stored("bytes", Stored::i8, {3}, b),
                          stored("half", Stored::bf16, {4}, h),
                          stored("other.half", Stored::f16, {1, 2}, g),
                          {"scalar", Stored::f32, {}, &scalar},
                          {"nothing", Stored::f32, {0, 7}, nullptr},
                          {"n\u00e4me \"quoted\"", Stored::f32, {1}, &scalar}};
  write_safetensors(path, all, {{"format", "attune"}, {"note", "a \"b\"\n"}});
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "attune"}, {"note", "a \"b\"\n"}}));
  ASSERT_EQ(file.tensors().size(), all.size());
  for (size_t k = 1; k < all.size(); ++k) EXPECT_LT(file.tensors()[k - 1].name, file.tensors()[k].name);
  for (const StoredTensor& t : all) {
    const StoredTensor* found = file.find(t.name);
    ASSERT_TRUE(found) << t.name;
    EXPECT_EQ(found->type, t.type);
    EXPECT_EQ(found->dims, t.dims);
    std::vector<char> bytes(static_cast<size_t>(t.bytes()) + 1, 'x');
    file.read(*found, bytes.data());
    EXPECT_TRUE(!t.data || std::memcmp(bytes.data(), t.data, static_cast<size_t>(t.bytes())) == 0) << t.name;
    EXPECT_EQ(bytes.back(), 'x') << "wrote too far";
  }
  EXPECT_EQ(file.find("no such"), nullptr);

  const std::string bytes = read_file(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0u);
  StoredTensors turned(all.rbegin(), all.rend());
  write_safetensors(path, turned, file.metadata());
  EXPECT_EQ(read_file(path), bytes) << "the order of the list must not matter";
}

TEST_F(SafetensorsTest, AnEmptyFileIsAFile) {
  write_safetensors(path, {});
  EXPECT_TRUE(SafetensorsFile(path).tensors().empty());
}

TEST_F(SafetensorsTest, ReadsWhatThePythonPackageWrites) {
  const SafetensorsFile file(test::source_dir() + "/tests/golden/python.safetensors");
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "np"}, {"made_by", "python"}}));
  ASSERT_EQ(file.tensors().size(), 6u);
  std::vector<float> weight(6);
  ASSERT_TRUE(file.find("layer.weight"));
  EXPECT_EQ(file.find("layer.weight")->dims, (std::vector<int64_t>{2, 3}));
  file.read(*file.find("layer.weight"), weight.data());
  EXPECT_EQ(weight, (std::vector<float>{0, -0.5f, 1e-45f, 3.0e38f, 2, 7}));
  EXPECT_TRUE(file.find("empty")->dims == (std::vector<int64_t>{0, 4}));
  int8_t small[3];
  file.read(*file.find("small"), small);
  EXPECT_EQ(small[0] + small[1] * 1000 + small[2] * 1000000, -128 + 0 + 127 * 1000000);
  double scalar = 0;
  ASSERT_EQ(file.find("scalar")->type, Stored::f64);
  file.read(*file.find("scalar"), &scalar);
  EXPECT_EQ(scalar, 1.0 / 3);
  EXPECT_EQ(file.find("half")->type, Stored::f16);
  EXPECT_EQ(file.find("ids")->type, Stored::i32);
}

TEST_F(SafetensorsTest, HostileFilesAreRefused) {
  const std::string a = good_entry("a", 0, 8), b = good_entry("b", 8, 16);
  const auto entry = [](const char* type, const char* shape, const char* offsets) {
    return std::string(R"({"a":{"dtype":)") + type + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  const struct {
    std::string bytes, says;
  } cases[] = {
      {"", "0 bytes are too few for a header"},
      {"1234567", "7 bytes are too few for a header"},
      {std::string(8, '\xff'), "the header shall be 18446744073709551615 bytes long, the rest of the file is 0"},
      {std::string("\x03\0\0\0\0\0\0\0{}", 10), "the header shall be 3 bytes long, the rest of the file is 2"},
      {raw("", 0), "the header does not begin with '{'"},
      {raw("[]", 0), "the header does not begin with '{'"},
      {raw("{", 0), "the header is not JSON (at byte 2 of it)"},
      {raw("{} x", 0), "the header is not JSON (at byte 4 of it)"},
      {raw("{\"a\xff\":1}", 0), "the header is not JSON (at byte 4 of it)"},
      {raw("{\"a\":1}", 0), "'a' has a number where none belongs"},
      {raw("{\"a\":{}}", 0), "'a' has no dtype, no shape or no data_offsets"},
      {raw("{\"a\":[]}", 0), "'a' has a list where none belongs"},
      {raw("{\"a\":null}", 0), "'a' has null"},
      {raw("{\"a\":{\"b\":{\"c\":{}}}}", 0), "'a' has an unknown key 'b'"},
      {raw("{\"__metadata__\":{\"x\":1}}", 0), "'__metadata__' has a number where none belongs"},
      {raw("{\"__metadata__\":{\"x\":\"1\",\"x\":\"1\"}}", 0), "'__metadata__' has the same key twice"},
      {raw("{\"__metadata__\":[\"x\"]}", 0), "'__metadata__' has a list where none belongs"},
      {raw("{\"__metadata__\":{\"x\":{}}}", 0), "'__metadata__' has an object too many"},
      {raw("{" + a + "," + a + "}", 8), "tensor 'a' is there twice"},
      {raw(entry("\"F31\"", "[2]", "[0,8]"), 8), "'a' has type 'F31', which is not known here"},
      {raw(entry("\"I64\"", "[1]", "[0,8]"), 8), "'a' has type 'I64', which is not known here"},
      {raw(entry("32", "[2]", "[0,8]"), 8), "'a' has a number where none belongs"},
      {raw(entry("[\"F32\"]", "[2]", "[0,8]"), 8), "'a' has a list where none belongs"},
      {raw(entry("\"F32\"", "2", "[0,8]"), 8), "'a' has a number where none belongs"},
      {raw(entry("\"F32\"", "[-2]", "[0,8]"), 8), "'a' has a negative number"},
      {raw(entry("\"F32\"", "[2.0]", "[0,8]"), 8), "'a' has a fraction or a number too large"},
      {raw(entry("\"F32\"", "[1e99]", "[0,8]"), 8), "'a' has a fraction or a number too large"},
      {raw(entry("\"F32\"", "[18446744073709551615]", "[0,8]"), 8), "'a' has a size beyond all files"},
      {raw(entry("\"F32\"", "[[2]]", "[0,8]"), 8), "'a' has a list where none belongs"},
      {raw(entry("\"F32\"", "[{}]", "[0,8]"), 8), "'a' has an object in a list"},
      {raw(entry("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]"), 8), "'a' has too many dimensions"},
      {raw(entry("\"F32\"", "[2]", "[0]"), 8), "'a' has no dtype, no shape or no data_offsets"},
      {raw(entry("\"F32\"", "[2]", "[0,8,8]"), 8), "'a' has more than two data_offsets"},
      {raw(entry("\"F32\"", "[2]", "[8,0]"), 8), "tensor 'a' ends at 0 before it begins at 8"},
      {raw(entry("\"F32\"", "[2]", "[0,8]"), 7), "tensor 'a' reaches to byte 8 of 7: the file is cut short"},
      {raw(entry("\"F32\"", "[3]", "[0,8]"), 8), "tensor 'a' is F32 [3] but has 8 bytes"},
      {raw(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0),
       "tensor 'a' is F32 [4294967296, 4294967296] but has 0 bytes"},
      {raw("{" + a + "," + good_entry("b", 4, 12) + "}", 12),
       "tensor 'b' begins at byte 4, inside another, which ends at byte 8"},
      {raw("{" + a + "," + good_entry("b", 0, 8) + "}", 8),
       "tensor 'b' begins at byte 0, inside another, which ends at byte 8"},
      {raw("{" + a + "," + good_entry("b", 12, 16) + "}", 16),
       "tensor 'b' begins at byte 12, leaving a hole from byte 8"},
      {raw("{" + a + "," + b + "}", 20), "4 bytes of data belong to no tensor"},
      {raw("{\"\\u001b[31m\":1}", 0), "'?[31m' has a number where none belongs"},
      {raw("{\"" + std::string(3000, 'n') + "\":1}", 0),
       "'" + std::string(80, 'n') + "...' has a number where none belongs"},
      {raw("{\"a\":" + std::string(1 << 20, '['), 0), "'a' has a list where none belongs"},
  };
  for (const auto& c : cases) EXPECT_EQ(says(c.bytes), c.says);
}

TEST_F(SafetensorsTest, AHugeHeaderIsRefusedBeforeMemoryIsTaken) {
  write_file(path, std::string("\x00\xe1\xf5\x05\x01\0\0\0{}", 10));  // 4 GB and more
  ASSERT_EQ(truncate(path.c_str(), int64_t{6} << 30), 0);             // with a file, sparse, to match
  const std::string text = error_of([&] { SafetensorsFile file(path); }, ErrorKind::model);
  EXPECT_NE(text.find("the header shall be 4394967296 bytes long, at most 100000000 are allowed"), std::string::npos)
      << text;
}

TEST_F(SafetensorsTest, WhatCannotBeReadIsAnInputError) {
  EXPECT_NE(error_of([&] { SafetensorsFile file(folder / "none"); }, ErrorKind::io).find("No such file"),
            std::string::npos);
  error_of([&] { SafetensorsFile file(folder.path()); }, ErrorKind::io);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  error_of([&] { SafetensorsFile file(folder / "pipe"); }, ErrorKind::io);
}

TEST_F(SafetensorsTest, AFileThatShrinksMeanwhileIsAnError) {
  std::vector<float> f(100, 1);
  write_safetensors(path, {stored("a", Stored::f32, {100}, f)});
  const SafetensorsFile file(path);
  ASSERT_EQ(truncate(path.c_str(), 200), 0);
  EXPECT_NE(error_of([&] { file.read(file.tensors()[0], f.data()); }, ErrorKind::model).find("ends inside 'a'"),
            std::string::npos);
}

TEST_F(SafetensorsTest, WritingChecksNames) {
  float x = 1;
  const StoredTensor a{"a", Stored::f32, {1}, &x}, bad{"\xff", Stored::f32, {1}, &x}, none{"n", Stored::f32, {1}};
  error_of([&] { write_safetensors(path, {a, a}); }, ErrorKind::usage);
  error_of([&] { write_safetensors(path, {bad}); }, ErrorKind::usage);
  error_of([&] { write_safetensors(path, {none}); }, ErrorKind::usage);
  error_of([&] { write_safetensors(path, {{"__metadata__", Stored::f32, {1}, &x}}); }, ErrorKind::usage);
}

TEST_F(SafetensorsTest, RandomDamageNeverCrashes) {
  std::vector<float> f(24);
  std::iota(f.begin(), f.end(), 0.0f);
  write_safetensors(path, {stored("encoder.0.weight", Stored::f32, {4, 3}, f), {"b", Stored::i8, {7}, f.data()}},
                    {{"k", "v"}});
  const std::string good = read_file(path);
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (auto n = random.below(4) + 1; n > 0; --n) {
      const auto at = static_cast<size_t>(random.below(bytes.size()));
      const char any = static_cast<char>(random.below(256)), telling = "0129-.{}[]\",:e\\ \0"[random.below(18)];
      switch (random.below(5)) {
        case 0:
          bytes[at] = any;
          break;
        case 1:
          bytes[at] = telling;
          break;
        case 2:
          bytes.insert(at, 1, telling);
          break;
        case 3:
          bytes.erase(at, random.below(3) + 1);
          break;
        default:
          bytes.resize(at + 1);
      }
    }
    {
      unlink(path.c_str());  // a fresh file each time, and no fsync: some file systems force what they overwrite
      FILE* out = std::fopen(path.c_str(), "wb");
      std::fwrite(bytes.data(), 1, bytes.size(), out);
      std::fclose(out);
    }
    try {
      const SafetensorsFile file(path);
      for (const StoredTensor& t : file.tensors()) {
        ASSERT_LE(t.bytes(), static_cast<int64_t>(bytes.size()));
        std::vector<char> to(static_cast<size_t>(t.bytes()));
        file.read(t, to.data());
      }
    } catch (const Error& e) {
      ASSERT_EQ(e.kind(), ErrorKind::model) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 3000);
  EXPECT_LT(refused, 5000);
}

}  // namespace
}  // namespace attune
