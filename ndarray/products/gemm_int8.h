#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_INT8_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_INT8_H_

// Products of 8-bit integers for quantized layers (executor/kernels/quantized). Only oneDNN has
// them, where //ndarray:gemm_onednn is linked and the processor has AVX-512 VNNI or AMX. Elsewhere
// callers compute their sums themselves: the 8-bit instructions of older processors saturate.

#include <cstdint>

namespace cooper {

// C = A * B, plus the terms and with `add` the previous C, row-major. A is (m, k), B is (k, n) or,
// with transpose_b, stored as (n, k), C is (m, n); no extent is 0. lda, ldb and ldc are the
// elements from one row of the stored matrix to the next.
struct Int8Product {
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;  // uint8 with a_unsigned, else int8
  bool a_unsigned = false;
  int64_t lda = 0;
  const int8_t* b = nullptr;
  bool transpose_b = false;
  int64_t ldb = 0;
  const int32_t* row_terms = nullptr;     // (m,), or null
  const int32_t* column_terms = nullptr;  // (n,), or null; at most one of both is given
  bool add = false;
  int32_t* c = nullptr;
  int64_t ldc = 0;
};

// Computes a product, whose arguments are not checked, on up to NumThreads() threads. Sums are
// exact modulo 2^32. Thread-safe if the outputs do not overlap.
using Int8GemmFn = void (*)(const Int8Product& p);

// Returns the linked library's function; null if there is none for this processor. Constant during
// the life of the process. Thread-safe.
Int8GemmFn GetInt8Gemm();

// Registers the function behind GetInt8Gemm. Called once, by a static initializer.
void RegisterInt8Gemm(Int8GemmFn (*get)());

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_INT8_H_
