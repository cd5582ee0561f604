// A corpus that is larger than memory may be: generated lines become a tokenizer, a corpus on the disk and batches;
// then a run "resumes" in the middle, in a process of its own. Prints lines per second, the peak of memory and how long
// the first batch took.
//
//   build/tests/large_corpus [--lines 10] [--folder DIR] [--kind bpe]        millions of lines; default folder: a new
//   one
//
// Fails when the memory of either process reaches 300 MB, the first batch after the resumption takes 5 s or more, or is
// another than it was.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/text.h"
#include "data/batches.h"
#include "data/tokenizers.h"

namespace attune {
namespace {

constexpr int64_t kMostBytes = int64_t{300} << 20;
constexpr double kMostSeconds = 5;

/// Lines of words, the frequent ones much more often than the rare, as text has them.
void generate(const std::string& path, int64_t lines, uint64_t seed) {
  std::vector<std::string> words;
  Random random(seed);
  for (int i = 0; i < 200'000; ++i) {
    std::string& word = words.emplace_back();
    for (uint64_t n = 2 + random.below(9); n > 0; --n) word += static_cast<char>('a' + random.below(26));
  }
  std::ofstream out(path, std::ios::binary);
  std::string text;
  for (int64_t i = 0; i < lines; ++i) {
    for (uint64_t n = 4 + random.below(16); n > 0; --n) {
      const double u = static_cast<double>(random.below(1 << 30)) / (1 << 30);
      text += words[static_cast<size_t>(u * u * u * u * static_cast<double>(words.size()))] + (n > 1 ? " " : "\n");
    }
    if (text.size() < (1 << 20) && i + 1 < lines) continue;
    out << text;
    text.clear();
  }
  if (!out.flush()) fail(ErrorKind::io, "cannot write {}", path);
}

std::string hash_of(const Batch& b) {
  ContentHash hash;
  const Rows &source = b.source, &read = b.read, &right = b.target().right;
  for (const std::span<const int32_t> ids :
       {std::span<const int32_t>(source.ids), std::span<const int32_t>(read.ids), std::span<const int32_t>(right.ids),
        std::span<const int32_t>(source.segments.start), std::span<const int32_t>(right.segments.start)})
    hash.add({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  return hash.hex();
}

DataSettings settings(const std::string& folder) {
  DataSettings o;
  o.train = {folder + "/train.en", folder + "/train.de"};
  return o;
}

bool within(double value, double most, const char* what) {
  if (value < most) return true;
  fmt::print("FAILED: {}\n", what);
  return false;
}

/// The first batch at a position, as a run has it that goes on from there.
Batch first_batch(const TrainingData& data, const DataPosition& at) {
  Batches batches(data.train, {.tokens = 4096, .seed = 1});
  batches.seek(at);
  Batch b;
  batches.next(b);
  return b;
}

bool begin(const std::string& folder, int64_t lines, text::TokenizerOptions options) {
  const DataSettings o = settings(folder);
  Stopwatch watch;
  const Tokenizers tokenizers = train_tokenizers(o, options);
  tokenizers.save(folder + "/tokenizer");
  fmt::print("tokenizer: {} pieces of {} lines in {:.1f} s, peak so far {}\n", tokenizers.source->size(),
             thousands(2 * lines), watch.seconds(), human_bytes(peak_resident_bytes()));
  watch.restart();
  ThreadPool pool(2);
  const CorpusPlace place = corpus_place(folder, tokenizers);
  const TrainingData data = read_training_data(o, tokenizers.encoders(), 1, &pool, &place);
  const double seconds = watch.seconds();
  fmt::print("corpus: {} pairs, {} tokens, {} lines a second, {} on the disk\n", thousands(data.train.size()),
             thousands(data.train.sizes().source_tokens + data.train.sizes().target_tokens),
             thousands(static_cast<int64_t>(2 * static_cast<double>(lines) / seconds)),
             human_bytes(static_cast<int64_t>(std::filesystem::file_size(folder + "/corpus/tokens.bin") +
                                              std::filesystem::file_size(folder + "/corpus/index.bin"))));
  watch.restart();
  Batches batches(data.train, {.tokens = 4096, .seed = 1});
  Batch b;
  int64_t examples = 0;
  for (int i = 0; i < 1000; ++i) {
    batches.next(b);
    examples += b.size();
  }
  fmt::print("batches: {} pairs a second\n",
             thousands(static_cast<int64_t>(static_cast<double>(examples) / watch.seconds())));
  const DataPosition middle{1, data.train.size() / 2};
  write_file(folder + "/middle", fmt::format("{} {}", middle.example, hash_of(first_batch(data, middle))));
  const auto peak = peak_resident_bytes();
  fmt::print("peak memory: {}\n", human_bytes(peak));
  return within(static_cast<double>(peak), kMostBytes, "300 MB or more");
}

bool resume(const std::string& folder) {
  const Stopwatch watch;
  const auto noted = split(read_file(folder + "/middle"), ' ');
  const Tokenizers tokenizers = Tokenizers::load(folder + "/tokenizer");
  ThreadPool pool(2);
  const CorpusPlace place = corpus_place(folder, tokenizers);
  const TrainingData data = read_training_data(settings(folder), tokenizers.encoders(), 1, &pool, &place);
  const Batch b = first_batch(data, {1, std::atoll(noted[0].c_str())});
  const double seconds = watch.seconds();
  const auto peak = peak_resident_bytes();
  fmt::print("resumed in the middle: first batch after {:.2f} s, peak memory {}\n", seconds, human_bytes(peak));
  if (hash_of(b) != noted[1]) fmt::print("FAILED: it is another batch\n");
  return within(seconds, kMostSeconds, "5 s or more") &&
         within(static_cast<double>(peak), kMostBytes, "300 MB or more") && hash_of(b) == noted[1];
}

/// In a process of its own, whose memory is its own too.
bool apart(const auto& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = work();
    } catch (const std::exception& e) { fmt::print("FAILED: {}\n", e.what()); }
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0;
}

int run(int argc, char** argv) {
  int64_t lines = 10'000'000;
  std::string folder;
  text::TokenizerOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--lines") lines = static_cast<int64_t>(std::atof(argv[i + 1]) * 1e6);
    if (name == "--folder") folder = argv[i + 1];
    if (name == "--kind") set_field(options, "kind", std::string_view(argv[i + 1]));
  }
  const bool own = folder.empty();
  if (own) folder = fmt::format("{}/large-corpus-{}", std::filesystem::temp_directory_path().string(), getpid());
  make_folder(folder);
  const bool good = apart([&] {
                      generate(folder + "/train.en", lines, 1);
                      generate(folder + "/train.de", lines, 2);
                      return true;
                    }) &&
                    apart([&] { return begin(folder, lines, options); }) && apart([&] { return resume(folder); });
  if (own) remove_path(folder);
  fmt::print("{}\n", good ? "ok" : "FAILED");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) { return attune::run(argc, argv); }
