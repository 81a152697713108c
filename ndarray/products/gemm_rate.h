#ifndef COOPER_NDARRAY_PRODUCTS_GEMM_RATE_H_
#define COOPER_NDARRAY_PRODUCTS_GEMM_RATE_H_

// What a product can reach on this machine, to compare with.

#include <cstdint>

namespace cooper {

// FLOP/s of a product of two (size, size) matrices of floats on NumThreads() threads, the most of
// several. With this size it takes some 0.1 s on a core with AVX2. Smaller and narrower products
// reach less, however well they are computed.
double GemmRate(int64_t size = 1024);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_GEMM_RATE_H_
