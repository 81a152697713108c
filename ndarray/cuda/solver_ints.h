#ifndef COOPER_NDARRAY_CUDA_SOLVER_INTS_H_
#define COOPER_NDARRAY_CUDA_SOLVER_INTS_H_

// The limits of the factorizations in cublas.h and cusolver.h, whose libraries take sizes as int.

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cooper {

// Returns kInvalidArgument if `count` matrices (n, n) exceed the int arguments of `library`. Call
// it before the arguments are cast to int: they would wrap around, and the library would read other
// memory.
inline absl::Status CheckSolverInts(absl::string_view library, int64_t count, int64_t n) {
  constexpr int64_t kMax = std::numeric_limits<int>::max();
  if (count <= kMax && n <= kMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(count, " matrices of ", n, " rows: ", library,
                                                 " factors at most ", kMax, ", of as many rows"));
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_SOLVER_INTS_H_
