#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_BFLOAT16_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_BFLOAT16_H_

// Products of floats by oneDNN's bfloat16 kernels: by AMX, or AVX-512 BF16.

#include "absl/status/status.h"
#include "ndarray/products/gemm_product.h"

namespace cooper {

// kUnimplemented, with what oneDNN finds in the processor, where it has no bfloat16 products.
absl::Status CheckBfloat16Gemm();

// The product with its factors rounded to bfloat16 (to the nearest, ties to even), on several
// threads if there is enough to do; the last m % 16 rows in float32. False, and nothing done, where
// rounding would take more than a small part of the product's time, where `p.alpha` is not 1, and
// where memory is short. What they need for the first time threads keep: memory for the largest
// factors, and oneDNN's primitive for each shape.
bool Bfloat16Gemm(const GemmProduct<float>& p);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_BFLOAT16_H_
