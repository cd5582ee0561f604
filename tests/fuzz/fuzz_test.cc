// Ten thousand mutations of each format, the same in every run; ATTUNE_FUZZ_SEED and ATTUNE_FUZZ_ROUNDS choose others.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "base/random.h"
#include "fuzz/formats.h"
#include "places.h"
#include "run_program.h"

namespace attune::test {

void PrintTo(const FuzzFormat& f, std::ostream* out) { *out << f.name; }

namespace {

int64_t number_of(const char* name, int64_t usual) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : usual;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kRounds = 2'000;
#else
constexpr int64_t kRounds = 10'000;
#endif

/// What breaks readers: bytes and signs that mean something, numbers at the ends of their ranges, parts that are gone,
/// there twice, moved or taken from another file.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}
  std::string operator()(const std::vector<std::string>& seeds) {
    std::string bytes = seeds[below(seeds.size())];
    for (size_t n = 1 + below(5); n > 0; --n) change(bytes, seeds);
    return bytes;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_.below(n)); }
  void change(std::string& bytes, const std::vector<std::string>& seeds) {
    static const std::string kTelling = std::string("0129-+.eE{}[]()\"',:;=#\\\t\r\n _<>\0\xff\xef\x80", 33);
    static const std::vector<std::string> kNumbers{"0",
                                                   "-1",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   "18446744073709551616",
                                                   "4294967296",
                                                   "1e308",
                                                   "1e999",
                                                   "nan",
                                                   "inf",
                                                   "0x7f",
                                                   "2147483648",
                                                   "1e-999",
                                                   "00",
                                                   "1_000"};
    const size_t at = below(bytes.size() + 1), more = std::min(bytes.size() - at, 1 + below(40));
    switch (below(9)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = kTelling[below(kTelling.size())];
        break;
      case 2:
        bytes.insert(at, 1 + below(3), kTelling[below(kTelling.size())]);
        break;
      case 3:
        bytes.erase(at, more);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, more));
        break;
      case 5:
        bytes.insert(at, kNumbers[below(kNumbers.size())]);
        break;
      case 6: {  // a number becomes another
        const size_t digit = bytes.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const size_t end = std::min(bytes.find_first_not_of("0123456789", digit), bytes.size());
        bytes.replace(digit, end - digit, kNumbers[below(kNumbers.size())]);
        break;
      }
      case 7: {
        const std::string& other = seeds[below(seeds.size())];
        bytes.insert(at, other.substr(below(other.size()), 1 + below(60)));
        break;
      }
      default:
        bytes.resize(at);
    }
  }

  Random random_;
};

class Fuzz : public testing::TestWithParam<FuzzFormat> {};

TEST_P(Fuzz, WhateverTheBytesAreIsReadOrToldToBeWrong) {
  const TempFolder folder(memory_folder());
  const std::vector<std::string> seeds = GetParam().seeds();
  for (const std::string& s : seeds) EXPECT_NO_THROW(GetParam().read(s, folder.path())) << s;
  Mutator mutate(static_cast<uint64_t>(number_of("ATTUNE_FUZZ_SEED", 1)));
  const int64_t rounds = number_of("ATTUNE_FUZZ_ROUNDS", kRounds);
  int64_t taken = 0, refused = 0;
  size_t largest = 0;
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (int64_t round = 0; round < rounds; ++round) {
    const std::string bytes = mutate(seeds);
    largest = std::max(largest, bytes.size());
    const auto begin = std::chrono::steady_clock::now();
    try {
      GetParam().read(bytes, folder.path());
      ++taken;
    } catch (const Error& e) {
      ++refused;
      ASSERT_TRUE(e.kind() == ErrorKind::data || e.kind() == ErrorKind::model || e.kind() == ErrorKind::recipe ||
                  e.kind() == ErrorKind::io)
          << e.what() << " of " << testing::PrintToString(bytes);
      ASSERT_LT(std::string(e.what()).size(), 3000u);
    }
    ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << testing::PrintToString(bytes);
  }
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024 + static_cast<int64_t>(3 * largest / 1024)) << "kilobytes";
#endif
  EXPECT_GT(taken + refused, 0);
  RecordProperty("taken", static_cast<int>(taken));
}

INSTANTIATE_TEST_SUITE_P(All, Fuzz, testing::ValuesIn(fuzz_formats()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace attune::test
