#ifndef COOPER_TESTS_CUDA_SAXPY_H_
#define COOPER_TESTS_CUDA_SAXPY_H_

// A smoke test of the CUDA rules: host data in, one kernel, host data out.

#include "absl/types/span.h"

namespace cooper {

// Computes y += a * x on the current device, for host memory of equal length. Returns a
// cudaError_t.
int Saxpy(float a, absl::Span<const float> x, absl::Span<float> y);

}  // namespace cooper

#endif  // COOPER_TESTS_CUDA_SAXPY_H_
