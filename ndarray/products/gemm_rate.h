#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_RATE_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_RATE_H_

// Measures the float product rate of this machine, as an upper bound to compare other products
// with.

#include <cstdint>

namespace cooper {

// Returns the highest rate of several runs, in FLOP/s, of a product of two (size, size) float
// matrices on NumThreads() threads. The default size takes some 0.1 s on a core with AVX2. Smaller
// and narrower products reach less, however well they are computed.
double GemmRate(int64_t size = 1024);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_RATE_H_
