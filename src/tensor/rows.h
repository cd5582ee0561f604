// Rows of sequences, one after another, and all that is known of them: the one description of data from a file to a
// kernel. Words have ids; frames, patches, nodes and series have vectors. A batch is made of rows that are read and
// rows that are wanted, and so is each shard of it.
#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tensor/segments.h"
#include "tensor/tensor.h"

namespace attune {

/// Numbers in a row: of its own, or a view of somebody else's, who then outlives it and does not change them.
template <class T>
class Column {
 public:
  Column() = default;
  Column(std::vector<T> own) : own_(std::move(own)) {}
  Column(std::initializer_list<T> own) : own_(own) {}
  static Column view(std::span<const T> of) {
    Column c;
    c.view_ = of;
    c.viewed_ = true;
    return c;
  }

  const T* data() const { return viewed_ ? view_.data() : own_.data(); }
  size_t size() const { return viewed_ ? view_.size() : own_.size(); }
  bool empty() const { return size() == 0; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](size_t i) const { return data()[i]; }
  const T& back() const { return data()[size() - 1]; }
  operator std::span<const T>() const { return {data(), size()}; }
  /// Some of them: the same memory.
  Column part(int64_t from, int64_t count) const { return view({data() + from, static_cast<size_t>(count)}); }
  bool operator==(const Column& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

  /// To be written: what was a view becomes its own first.
  std::vector<T>& own() {
    if (viewed_) own_.assign(view_.begin(), view_.end());
    viewed_ = false;
    return own_;
  }
  void push_back(const T& x) { own().push_back(x); }
  template <class Range>
  void append(const Range& more) {
    own().insert(own_.end(), std::begin(more), std::end(more));
  }
  template <class It>
  void append(It first, It last) {
    own().insert(own_.end(), first, last);
  }
  /// Empties it, but keeps its memory.
  void clear() {
    viewed_ = false;
    own_.clear();
  }

 private:
  std::vector<T> own_;
  std::span<const T> view_;
  bool viewed_ = false;
};

/// Which rows go with which: a graph, an alignment, the pieces of a word. Row r goes with the rows to[start[r]] to
/// to[start[r + 1] - 1], counted from the begin of their sequence; label, if any, has one for each of them.
struct Edges {
  Column<int32_t> start = {}, to = {}, label = {};
  bool empty() const { return start.empty(); }
  std::span<const int32_t> of(int64_t row) const {
    const auto r = static_cast<size_t>(row);
    return {to.data() + start[r], static_cast<size_t>(start[r + 1] - start[r])};
  }
  void clear();
};

struct Rows {
  Column<int32_t> ids;   // [n], or ...
  Column<float> values;  // ... [n, width]
  int64_t width = 0;
  Segments segments = {};          // where each sequence begins
  Column<int32_t> sentences = {};  // the rows where those within them begin, and the end, where documents have such
  Column<int32_t> places = {};     // [n, axes]; none: the index in the sequence
  int64_t axes = 0;
  Edges edges = {};              // none: every row goes with every one
  Column<int32_t> streams = {};  // of texts: which stream each sequence goes on
  Column<int32_t> prefix = {};   // of each sequence: so many rows, its first, that all its rows see
  int64_t first_row = 0;         // its place in the whole batch, for dropout

  int64_t rows() const { return segments.rows(); }
  Tensor id_tensor() const { return Tensor(ids.data(), Shape{std::ssize(ids)}); }
  Tensor value_tensor() const { return Tensor(values.data(), Shape{rows(), width}); }
  Tensor place_tensor() const { return places.empty() ? Tensor() : Tensor(places.data(), Shape{rows(), axes}); }
  /// Empties it, but keeps its memory.
  void clear();
};

/// Rows of ids alone, whose memory outlives them.
Rows rows_of(std::span<const int32_t> ids, Segments segments);

/// The sequences [first, end) of some rows: views of what outlives them, counted from their own first row.
void slice(const Rows& from, int64_t first, int64_t end, Rows& to);

/// What one head is to say: words, labels or vectors, and what each of them counts.
struct Wanted {
  Rows right;                  // its edges: which rows of the source each goes with
  Column<float> weights = {};  // of the loss of each row; none: 1 each

  Tensor weight_tensor() const {
    return weights.empty() ? Tensor() : Tensor(weights.data(), Shape{std::ssize(weights)});
  }
};

/// Between two batches of a corpus: `example` examples of the epoch (of texts: tokens) are done.
struct DataPosition {
  int64_t epoch = 0, example = 0;
  auto operator<=>(const DataPosition&) const = default;
};

struct Batch {
  Rows source;  // words + end; where something is said about texts, begin + words + end
  Rows read;    // what a decoder reads: begin + words; none where there is none
  std::vector<Wanted> wanted = std::vector<Wanted>(1);  // of each head; the first is what examples are counted by
  Column<int32_t> examples = {};                        // which of the corpus, one a sequence; none of texts
  /// Of texts: whether their streams begin with this batch. Else each sequence goes on where that of its stream ended
  /// in the batch before.
  bool first = true;
  DataPosition at = {}, next = {};  // where it begins, and where the one after it does

  Wanted& target() { return wanted.front(); }
  const Wanted& target() const { return wanted.front(); }
  int64_t size() const { return target().right.segments.count(); }
  bool has_source() const { return source.segments.count() > 0; }
  int64_t source_tokens() const { return source.rows(); }
  int64_t target_tokens() const { return target().right.rows(); }
  /// Empties it, but keeps its memory.
  void clear();
};

}  // namespace attune
