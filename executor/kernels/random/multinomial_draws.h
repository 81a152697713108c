#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_MULTINOMIAL_DRAWS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_MULTINOMIAL_DRAWS_H_

// Computes the outcomes of _sample_multinomial: on both devices the same for the same random
// numbers.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/philox.h"
#include "symbol/ops/random/multinomial_param.h"

namespace cooper {

// The extents of one call. The workspace has a cumulative sum, in double, for each element of data.
// A row need not sum to 1: draws are scaled by its sum.
struct MultinomialExtents {
  int64_t rows;      // distributions
  int64_t outcomes;  // of each
  int64_t draws;     // from each

  MultinomialExtents(const ArrayView& data, const ArrayView& drawn)
      : rows(data.shape.Product(0, data.shape.rank() - 1)),
        outcomes(data.shape[data.shape.rank() - 1]),
        draws(rows == 0 ? 0 : drawn.size() / rows) {}
};

// Prepares the kernel for data of one of `dtypes`: the workspace of the sums. Fails with
// kUnimplemented for other dtypes.
inline absl::StatusOr<Prepared> PrepareSums(const PrepareContext& c, const DTypeSet& dtypes) {
  const ArrayView& data = c.inputs[MultinomialArrays::kData];
  if (!dtypes.contains(data.dtype)) {
    return absl::UnimplementedError(absl::StrCat(
        "no kernel for input 'data' of ", DTypeName(data.dtype), "; it takes ", dtypes.ToString()));
  }
  return Prepared{.workspace_bytes = data.size() * static_cast<int64_t>(sizeof(double))};
}

// Returns the outcome of draw i: the first one whose cumulative probability is above a uniform
// number, so that an outcome of probability 0 is never drawn. `sums` are those of the draw's row.
// Bisects the sums, in O(log outcomes). `i` numbers the draws of all rows, so every draw has a
// random number of its own. A row of zeros gives the last outcome.
COOPER_HOST_DEVICE inline int64_t OutcomeOf(const double* sums, int64_t outcomes,
                                            const Philox& random, int64_t i) {
  ElementRandom element(random, i);
  const double threshold = element.Uniform() * sums[outcomes - 1];
  int64_t first = 0, count = outcomes - 1;
  while (count > 0) {
    const int64_t half = count / 2;
    const bool above = sums[first + half] > threshold;
    first = above ? first : first + half + 1;
    count = above ? half : count - half - 1;
  }
  return first;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_MULTINOMIAL_DRAWS_H_
