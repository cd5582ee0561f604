// Scaled dot-product attention of each row to a list of rows: work and memory go by the pairs, however far apart they
// lie. Where neighbours see neighbours, kernels/attention/sparse_attention.h is faster. The weights are not kept: the
// way back makes those of a row anew, once for its own gradient and once for those of what it read.
#pragma once
#include "kernels/attention/attention.h"
#include "tensor/key_lists.h"

namespace attune::kernels {

struct ListShape {
  const KeyLists* lists = nullptr;
  int64_t split = 0;  // rows of k and v; later ones of the lists are those of k2 and v2
  int64_t heads = 1, heads_kv = 1, dim = 0;
  float scale = 1;
  Dropout dropout = {};  // of the so-manieth key of a row's list
};

struct ListForward {
  ListShape shape;
  Rows q, k, v, k2, v2, out;
  float* log_sum = nullptr;  // [rows, heads]: log2 of each sum of exponentials
  void* scratch = nullptr;   // list_attention_scratch bytes
};
/// A row that reads nothing gives zeros.
void list_attention_forward(const ListForward& a, ThreadPool* pool);

/// Of one source of keys; either may be absent (data == nullptr).
struct ListGradients {
  Rows k, v;
  bool add_k = false, add_v = false;
};
struct ListBackward {
  ListShape shape;
  Rows q, k, v, k2, v2, out, dout;
  const float* log_sum = nullptr;
  Rows dq;
  bool add_dq = false;
  ListGradients d, d2;
  void* scratch = nullptr;
};
void list_attention_backward(const ListBackward& a, ThreadPool* pool);

int64_t list_attention_scratch(const ListShape& shape, int workers, bool backward);

}  // namespace attune::kernels
