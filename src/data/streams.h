// A text read as several streams at once, batch by batch: where each window lies. Arithmetic alone; Batches fills them.
//
// An epoch's tokens are cut into streams of equal length, and each stream into equally many windows, as long as they
// may be and nearly all of one length, so that no batch is a small rest. Batch t has window t of every stream: it
// begins exactly where window t - 1 ended, so that a model may remember what it read there. Every token is in one
// window.
#pragma once
#include <cstdint>

namespace attune {

class Streams {
 public:
  /// Of a text of `tokens`: as many streams as windows fit into a batch, unless the text has not so many windows.
  Streams(int64_t tokens, int64_t window, int64_t batch_tokens);

  int64_t count() const { return count_; }
  /// Of an epoch.
  int64_t batches() const { return batches_; }

  /// Tokens [begin, end) of the epoch.
  struct Window {
    int64_t begin, end;
  };
  Window window(int64_t stream, int64_t batch) const { return {border(stream, batch), border(stream, batch + 1)}; }
  /// Tokens of all batches before this one.
  int64_t tokens_before(int64_t batch) const;
  /// The batch before which so many tokens are done; -1 when there is none.
  int64_t batch_after(int64_t tokens) const;

 private:
  int64_t begin(int64_t stream) const { return tokens_ * stream / count_; }
  /// Where window `batch` of a stream begins, and the one before it ends.
  int64_t border(int64_t stream, int64_t batch) const {
    return begin(stream) + (begin(stream + 1) - begin(stream)) * batch / batches_;
  }
  int64_t tokens_, count_, batches_;
};

}  // namespace attune
