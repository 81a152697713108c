#ifndef COOPER_NDARRAY_PRODUCTS_EIGEN_PRODUCT_H_
#define COOPER_NDARRAY_PRODUCTS_EIGEN_PRODUCT_H_

// Gemm with Eigen. Eigen selects its instructions at compile time: one set of products uses the
// program's target, another CpuLevel::kAvx2. Both include their bodies from eigen_product.inc.

#include <cstdint>

#include "ndarray/threads/cpu_level.h"

namespace cooper {

// Gemm (gemm.h) for numbers of type T. Runs on the calling thread.
template <typename T>
using GemmFn = void (*)(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                        T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c,
                        int64_t ldc);

namespace eigen_baseline {
// Return the products. eigen_baseline has them compiled for the program's target, eigen_avx2 for
// processors with CpuLevel::kAvx2.
GemmFn<float> FloatProduct();
GemmFn<double> DoubleProduct();
}  // namespace eigen_baseline

#ifdef COOPER_CPU_LEVELS
namespace eigen_avx2 {
GemmFn<float> FloatProduct();
GemmFn<double> DoubleProduct();
}  // namespace eigen_avx2
#endif

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_EIGEN_PRODUCT_H_
