// Compares with SentencePiece on real text: the same pieces, scores, ids and texts line by line, and which is faster.
//
//   build/tests/sentencepiece --data FILE... [--size 8000] [--lines 100000] [--kind bpe|unigram] [--byte-fallback]
//
// FILEs are plain or .gz. Both encode lines that are normalized already, on one thread. Fails when anything differs.
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>

#include "data/files/line_reader.h"
#include "text/oracle.h"
#include "text/trainer.h"

namespace attune::text {
namespace {

struct Arguments {
  std::vector<std::string> files;
  int64_t size = 8000;
  size_t lines = 100000;
  std::string kind;  // both
  bool byte_fallback = false;
};

std::vector<std::string> read_normalized(const Arguments& a) {
  std::vector<std::string> lines;
  LineReader reader(a.files);
  for (std::string_view line; lines.size() < a.lines && reader.next(line);) lines.push_back(normalize(line));
  return lines;
}

/// Of the processor's time, so that others on the machine do not count.
double seconds_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double lines_per_second(size_t lines, const auto& work) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const double start = seconds_now();
    work();
    best = std::max(best, static_cast<double>(lines) / (seconds_now() - start));
  }
  return best;
}

int64_t different_pieces(const test::Oracle& oracle, const Tokenizer& t) {
  if (t.size() != oracle.GetPieceSize()) return std::abs(t.size() - oracle.GetPieceSize());
  int64_t different = 0;
  for (int id = 0; id < t.size(); ++id) {
    const bool scored = t.kind() == TokenizerKind::unigram && id >= t.vocabulary().first();
    different += t.piece(id) != oracle.IdToPiece(id) || (scored && t.vocabulary().score(id) != oracle.GetScore(id));
  }
  return different;
}

/// Prints a line; true when all is the same.
bool compare(const std::vector<std::string>& lines, const TokenizerOptions& options) {
  double start = seconds_now();
  const test::Oracle oracle(lines, options);
  const double theirs = seconds_now() - start;
  if (!oracle.trouble.empty()) {
    fmt::print("SentencePiece: {}\n", oracle.trouble);
    return false;
  }
  start = seconds_now();
  size_t next = 0;
  const Tokenizer t = train_tokenizer(
                          [&](std::string& line) {
                            if (next == lines.size()) return false;
                            line = lines[next++];
                            return true;
                          },
                          options)
                          .tokenizer;
  const double ours = seconds_now() - start;
  const int64_t pieces = different_pieces(oracle, t);

  int64_t ids = 0, texts = 0, lost = 0;
  for (const std::string& line : lines) {
    const std::vector<int> wanted = oracle.EncodeAsIds(line);
    const std::vector<int32_t> got = t.encode(line);
    ids += got != wanted;
    texts += t.decode(got) != oracle.DecodeIds(wanted);
    lost += t.decode(got) != line && options.byte_fallback;
  }
  size_t sum = 0;  // so that nothing is left out
  const double fast_theirs = lines_per_second(lines.size(), [&] {
    std::vector<int> out;
    for (const auto& l : lines) {
      (void)oracle.Encode(l, &out);
      sum += out.size();
    }
  });
  const double fast_ours = lines_per_second(lines.size(), [&] {
    for (const auto& l : lines) sum += t.encode(l).size();
  });
  fmt::print(
      "{} of {}{}: {} lines; differ: {} pieces, {} lines of ids, {} texts, {} not given back; trained in {:.1f} s "
      "(SentencePiece {:.1f} s); encodes {:.0f} lines/s (SentencePiece {:.0f}): x {:.2f}{}\n",
      tokenizer_kinds()[static_cast<size_t>(options.kind)], t.size(), options.byte_fallback ? " with bytes" : "",
      lines.size(), pieces, ids, texts, lost, ours, theirs, fast_ours, fast_theirs, fast_ours / fast_theirs,
      sum == 0 ? " (nothing)" : "");
  std::fflush(stdout);
  return pieces + ids + texts + lost == 0 && fast_ours >= fast_theirs;
}

}  // namespace
}  // namespace attune::text

int main(int count, char** words) {
  using namespace attune::text;
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < count;
    if (word == "--size" && more)
      a.size = std::atoll(words[++i]);
    else if (word == "--lines" && more)
      a.lines = static_cast<size_t>(std::atoll(words[++i]));
    else if (word == "--kind" && more)
      a.kind = words[++i];
    else if (word == "--byte-fallback")
      a.byte_fallback = true;
    else if (word != "--data")
      a.files.push_back(word);
  }
  if (a.files.empty()) {
    fmt::print(stderr, "usage: sentencepiece --data FILE... [--size N] [--lines N] [--kind K] [--byte-fallback]\n");
    return 2;
  }
  bool same = true;
  try {
    const std::vector<std::string> lines = read_normalized(a);
    for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram})
      if (a.kind.empty() || a.kind == tokenizer_kinds()[static_cast<size_t>(kind)])
        same &= compare(lines, {.kind = kind, .size = a.size, .byte_fallback = a.byte_fallback});
  } catch (const std::exception& e) {
    fmt::print(stderr, "sentencepiece: {}\n", e.what());
    return 1;
  }
  return same ? 0 : 1;
}
