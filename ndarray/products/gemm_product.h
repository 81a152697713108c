#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_PRODUCT_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_PRODUCT_H_

// Describes a product, or a block of one, to the sources of //ndarray:gemm_onednn.

#include <cstdint>

namespace cooper {

// The arguments of Gemm (gemm.h) for factors of type `Factor`, float or a 16-bit type; the result
// is float: c (m, n) = alpha * op(a) * op(b) + beta * c. Matrices are row-major; lda, ldb and ldc
// are the distances of rows in elements. Does not own the matrices.
template <typename Factor>
struct GemmProduct {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  float alpha;
  const Factor* a;
  int64_t lda;
  const Factor* b;
  int64_t ldb;
  float beta;
  float* c;
  int64_t ldc;

  // Returns the product of the given rows and columns of the result, with the same summed extent k.
  // Threads may compute blocks that do not overlap at the same time.
  GemmProduct Block(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    GemmProduct block = *this;
    block.m = rows;
    block.n = columns;
    block.a += transpose_a ? row : row * lda;
    block.b += transpose_b ? column * ldb : column;
    block.c += row * ldc + column;
    return block;
  }
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_PRODUCT_H_
