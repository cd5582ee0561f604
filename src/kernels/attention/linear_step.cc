#include <algorithm>

#include "kernels/attention/linear_attention.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/attention/linear_step.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/linear_tiles.h"

KERNELS_BEGIN

/// P packs of columns of one head's S: s_d += k_d v where there is a key, then out = sum over d of q_d s_d; one chain a
/// column. `count` is the columns of the last pack.
template <bool kAdd, int P>
HWY_INLINE void read_columns(const LinearShape& x, const float* k, const float* v, const float* q, float* s, float* out,
                             int64_t count) {
  Pack<float> total[P], value[P];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    total[p] = zero<float>();
    value[p] = kAdd ? load_at(v + 16 * p, p + 1 == P ? count : 16) : zero<float>();
  }
  for (int64_t d = 0; d < x.dim; ++d, s += x.value_dim) {
    const auto weight = splat(q[d]);
    const auto key = splat(kAdd ? k[d] : 0.0f);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const int64_t n = p + 1 == P ? count : 16;
      auto sum_so_far = load_at(s + 16 * p, n);
      if (kAdd) {
        sum_so_far = fma(key, value[p], sum_so_far);
        store_at(sum_so_far, s + 16 * p, n);
      }
      total[p] = fma(weight, sum_so_far, total[p]);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) store_at(total[p], out + 16 * p, p + 1 == P ? count : 16);
}

/// All columns. No key (k == nullptr): the sums stay as they are.
template <bool kAdd>
HWY_INLINE void read_sums(const LinearShape& x, const float* k, const float* v, const float* q, float* s, float* out) {
  int64_t c = 0;
  for (; c + 64 <= x.value_dim; c += 64) read_columns<kAdd, 4>(x, k, v + c, q, s + c, out + c, 16);
  for (; c < x.value_dim; c += 16)
    read_columns<kAdd, 1>(x, k, v + c, q, s + c, out + c, std::min<int64_t>(16, x.value_dim - c));
}

/// One row and key-value head. `space` holds phi(k) and phi(q).
void step_head(const LinearStep& a, int64_t row, int64_t head_kv, float* space) {
  const LinearShape& x = a.shape;
  const int64_t group = x.heads / x.heads_kv;
  float *k = space, *q = space + round16(x.dim);
  float* s = a.states[row] + head_kv * x.dim * x.value_dim;
  float* z = a.states[row] + x.heads_kv * x.dim * x.value_dim + head_kv * x.dim;
  const bool adds = a.k.data != nullptr;
  if (adds) {
    map_rows(x.feature, rows_at(a.k, row, head_kv * x.dim), 1, x.dim, k);
    for_packs(x.dim,
              [&](int64_t d, int64_t count) HWY_ATTR { store_at(load_at(z + d, count) + load(k + d), z + d, count); });
  }
  for (int64_t head = head_kv * group; head < (head_kv + 1) * group; ++head) {
    map_rows(x.feature, rows_at(a.q, row, head * x.dim), 1, x.dim, q);
    float* out = a.out.data + row * a.out.stride + head * x.value_dim;
    if (adds && head == head_kv * group)
      read_sums<true>(x, k, a.v.data + row * a.v.stride + head_kv * x.value_dim, q, s, out);
    else
      read_sums<false>(x, nullptr, s, q, s, out);
    float inverse = 0;
    if (x.norm == LinearNorm::by_count) {
      inverse = a.count[row] > 0 ? 1.0f / static_cast<float>(a.count[row]) : 0.0f;
    } else {
      auto total = zero<float>();
      for_packs(x.dim,
                [&](int64_t d, int64_t count) HWY_ATTR { total = fma(load(q + d), load_at(z + d, count), total); });
      inverse = 1.0f / (sum(total) + x.epsilon);
    }
    const auto by = splat(inverse);
    for_packs(x.value_dim,
              [&](int64_t d, int64_t count) HWY_ATTR { store_at(load_at(out + d, count) * by, out + d, count); });
  }
}

void linear_step(const LinearStep& a, ThreadPool* pool) {
  const LinearShape& x = a.shape;
  const int64_t work = 2 * x.heads * x.dim * x.value_dim;
  if (!worth_a_pool(pool, a.rows * work)) pool = nullptr;
  parallel_for(pool, a.rows, [&](int64_t row, int worker) {
    float* space = static_cast<float*>(a.scratch) + worker * 2 * round16(x.dim);
    for (int64_t head = 0; head < x.heads_kv; ++head) step_head(a, row, head, space);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(linear_step);
void linear_step(const LinearStep& a, ThreadPool* pool) { KERNEL_CALL(linear_step)(a, pool); }

int64_t linear_step_scratch(const LinearShape& x, int workers) {
  return workers * 2 * ((x.dim + 15) / 16 * 16) * static_cast<int64_t>(sizeof(float));
}

}  // namespace attune::kernels
#endif
