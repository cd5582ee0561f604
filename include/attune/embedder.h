// A vector for each line: what a trained model makes of it, for comparing, sorting and searching texts.
//
//   attune::Embedder e("model-dir");
//   for (auto& r : e.embed(lines)) use(r.vector);
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attune {

/// How the states of a line's tokens, its mark too, become one vector.
enum class Pool { mean, first, last, max };

struct EmbedOptions {
  Pool pool = Pool::mean;
  int64_t batch_tokens = 4096;  // tokens read at the same time: more is faster and takes memory
};

struct Embedding {
  std::vector<float> vector;
  bool cropped = false;  // the line was longer than the model can read: its end was left out
  bool beyond = false;   // or than any that it learned from: its vector is worth little
};

/// Never changes once made; safe to share between threads.
class Embedder {
 public:
  /// Reads a model folder. `threads` 0: one per core.
  explicit Embedder(const std::string& model, int threads = 0);
  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;
  ~Embedder();

  /// By the last states of the encoder; of a language model, of the decoder, which has a begin mark instead of an end.
  /// Any bytes will do; an empty line has a vector too. It does not depend on the other lines or the threads.
  std::vector<Embedding> embed(const std::vector<std::string>& lines, const EmbedOptions& options = {}) const;
  /// Numbers of a vector.
  int64_t width() const;
  /// The most tokens a line may have.
  int64_t longest() const;
  /// The most tokens a text had that the model learned from.
  int64_t learned() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
