// Denormal numbers cost a hundred times a normal one and carry nothing here: kernels run with them flushed to zero.
// Every kernel entry and every pool thread holds one of these, so that results do not depend on the caller's mode.
#pragma once
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace attune {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }  // flush results, read denormals as zero
  ~FlushDenormals() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(saved_ | (1ull << 24)));
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  unsigned saved_;
#elif defined(__aarch64__)
  unsigned long saved_;
#endif
};

}  // namespace attune
