#ifndef COOPER_MODULE_PARAMETERS_GRADIENT_NORM_H_
#define COOPER_MODULE_PARAMETERS_GRADIENT_NORM_H_

// The norm to which Learner::Update compares clip_global_norm (Pascanu et al., arXiv 1211.5063).

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns the square root of the sum of the squares of all elements, in double; the same for every
// number of threads. Arrays may have any floating dtype. Arrays that are all on one GPU are each
// summed there to a float, and the host waits once; others are copied to the CPU first. `scratch`,
// if given, grows as needed and saves an allocation in later calls.
absl::StatusOr<double> GlobalNorm(absl::Span<const NDArray> arrays,
                                  std::vector<double>* scratch = nullptr);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_GRADIENT_NORM_H_
