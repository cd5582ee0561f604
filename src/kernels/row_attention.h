// Single rows that read whole sequences, as the decoders of recurrent networks do: one step after another, the weights
// of each step there to be looked at. Numbers of pairs (a row and what it reads) lie row after row. f32 and f64, on one
// thread: a row's sums are sixteen lanes and one tree, or one chain over the sequence.
#pragma once
#include <span>

#include "tensor/segments.h"
#include "tensor/tensor.h"

namespace attune {

/// Row i reads the sequence source_of[i].
struct RowReads {
  const Segments* sources = nullptr;
  std::span<const int32_t> source_of = {};

  int64_t rows() const { return std::ssize(source_of); }
  /// How many numbers one of each pair are.
  int64_t pairs() const {
    int64_t sum = 0;
    for (const int32_t s : source_of) sum += sources->length(s);
    return sum;
  }
};

namespace kernels {

/// energies[pair] = vector . tanh(query + key).
struct AdditiveEnergies {
  RowReads reads;
  Tensor query, keys, vector;  // [rows, d], [n, d], [d]
  Tensor energies;             // [pairs]
};
void additive_energies(const AdditiveEnergies& a);

/// Gradients that are missing are not wanted; those of keys and vector are added to what is there.
struct AdditiveEnergiesBackward {
  RowReads reads;
  Tensor query, keys, vector, denergies;
  Tensor dquery = {};
  bool add_query = false;
  Tensor dkeys = {}, dvector = {};
};
void additive_energies_backward(const AdditiveEnergiesBackward& a);

/// The softmax over what each row reads; one that reads nothing has no weights.
void row_softmax(const RowReads& reads, const Tensor& energies, const Tensor& weights);
struct RowSoftmaxBackward {
  RowReads reads;
  Tensor weights, dweights, denergies;
  bool add = false;
};
void row_softmax_backward(const RowSoftmaxBackward& a);

/// out[i] = the sum of weight times value over what row i reads.
void row_mix(const RowReads& reads, const Tensor& weights, const Tensor& values, const Tensor& out);
struct RowMixBackward {
  RowReads reads;
  Tensor weights, values, dout;
  Tensor dweights = {};
  bool add_weights = false;
  Tensor dvalues = {};  // added to what is there
};
void row_mix_backward(const RowMixBackward& a);

}  // namespace kernels
}  // namespace attune
