#ifndef COOPER_MODULE_PREDICT_OUTPUT_ARRAYS_H_
#define COOPER_MODULE_PREDICT_OUTPUT_ARRAYS_H_

// Arrays that a predictor computes its results in and hands out. A result of some megabytes is
// memory that the system has to clear, page by page, and takes back when the result is dropped; a
// network may be quicker than that. So the memory of results that are gone is kept for the next
// ones, of which as many stay as the predictor says: the largest, as an arena stays as large as its
// largest plan. No more than so many results have a block of more than twice their size.

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Thread-safe.
class OutputArrays {
 public:
  explicit OutputArrays(Context context);

  // An array of its own, uninitialised. Its memory comes back here when the last handle on it is
  // gone, on whatever thread that is, and may outlive this. kResourceExhausted if there is no
  // memory.
  absl::StatusOr<NDArray> Take(const Shape& shape, DType dtype);

  // From now on so many blocks more, or fewer if below 0, are kept while nobody uses them. What is
  // too much is freed, the smallest first.
  void KeepMore(int64_t blocks);

  // Blocks that are kept without a user.
  int64_t num_idle() const;

 private:
  class Blocks;

  const Context context_;
  const std::shared_ptr<Blocks> blocks_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_OUTPUT_ARRAYS_H_
