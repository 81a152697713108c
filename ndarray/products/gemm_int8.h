#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_INT8_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_INT8_H_

// Products of 8-bit integers for quantized layers (executor/kernels/quantized). They are oneDNN's
// where //ndarray:gemm_onednn is linked and the processor has AVX-512 VNNI or AMX. The 8-bit
// instructions of older processors saturate: on these, blocks of the factors become float32, whose
// sums of 512 terms are exact (gemm.h), and products of few rows are summed in int32.

#include <cstdint>

namespace cooper {

// C = A * B, plus the terms and with `add` the previous C, row-major. A is (m, k), B is (k, n) or,
// with transpose_b, stored as (n, k), C is (m, n); an extent may be 0. lda, ldb and ldc are the
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

  // Returns the product that computes rows [row, row + rows) and columns [column, column + columns)
  // of C.
  Int8Product Block(int64_t row, int64_t rows, int64_t column, int64_t columns) const;
};

// Computes a product, whose arguments are not checked, on up to NumThreads() threads. Sums are
// exact modulo 2^32. Thread-safe if the outputs do not overlap. Costs 2 * m * n * k operations,
// which the profiler counts as FLOPs. Products by floats take up to 1.3 MB for each thread while
// they run.
void Int8Gemm(const Int8Product& p);

// A library's product: as Int8Gemm, but no extent is 0.
using Int8GemmFn = void (*)(const Int8Product& p);

// Registers the function of a library; called by a static initializer. `get` returns null on a
// processor for which the library has no exact products. Not thread-safe: no product may run.
void RegisterInt8Gemm(Int8GemmFn (*get)());

// Returns the library's function; null if there is none for this processor. Thread-safe.
Int8GemmFn GetInt8Gemm();

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_INT8_H_
