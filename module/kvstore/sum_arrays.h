#ifndef COOPER_MODULE_KVSTORE_SUM_ARRAYS_H_
#define COOPER_MODULE_KVSTORE_SUM_ARRAYS_H_

// Sums and means of one array's copies on several devices.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Overwrites `sum`, which is in CPU memory, with the sum of `arrays`, element by element and in
// their order. It may be one of the first two. kInvalidArgument if there are no arrays, or if
// shapes or dtypes differ.
absl::Status SumArrays(absl::Span<const NDArray> arrays, const NDArray& sum);

// Overwrites `mean`, which is in CPU memory, with the mean of `arrays`; requirements and errors are
// those of SumArrays. The mean of equal arrays is exactly that array.
absl::Status MeanOfArrays(absl::Span<const NDArray> arrays, const NDArray& mean);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_SUM_ARRAYS_H_
