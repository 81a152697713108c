#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_FLOAT32_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_FLOAT32_H_

// oneDNN's sgemm, and how its products are shared out among threads.

#include "ndarray/products/gemm_product.h"

namespace cooper {

// The product, on this thread alone.
void Float32Block(const GemmProduct<float>& p);

// The product, on several threads if there is enough to do.
void Float32Gemm(const GemmProduct<float>& p);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_FLOAT32_H_
