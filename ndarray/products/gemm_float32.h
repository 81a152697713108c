#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_FLOAT32_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_FLOAT32_H_

// Float products with oneDNN's sgemm, divided among threads.

#include "ndarray/products/gemm_product.h"

namespace cooper {

// Computes the product on the calling thread alone.
void Float32Block(const GemmProduct<float>& p);

// Computes the product on several threads if there is enough work.
void Float32Gemm(const GemmProduct<float>& p);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_FLOAT32_H_
