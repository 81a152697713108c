#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_BFLOAT16_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_BFLOAT16_H_

// Float products with oneDNN's bfloat16 kernels, which use AMX or AVX-512 BF16.

#include "absl/status/status.h"
#include "ndarray/products/gemm_product.h"

namespace cooper {

// Returns OK, or kUnimplemented with the instruction set that oneDNN detects, where it has no
// bfloat16 products.
absl::Status CheckBfloat16Gemm();

// Computes the product with its factors rounded to bfloat16 (to nearest, ties to even), on several
// threads if there is enough work; the last m % 16 rows stay in float32. Returns false, without any
// effect, where rounding would take more than a small part of the product's time, where `p.alpha`
// is not 1, and where memory is short. Each thread keeps memory for the largest factors that it has
// rounded, and oneDNN's primitives for its latest shapes.
bool Bfloat16Gemm(const GemmProduct<float>& p);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_BFLOAT16_H_
