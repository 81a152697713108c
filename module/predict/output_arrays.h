#ifndef COOPER_MODULE_PREDICT_OUTPUT_ARRAYS_H_
#define COOPER_MODULE_PREDICT_OUTPUT_ARRAYS_H_

// Recycles the memory of a predictor's results. For a result of some megabytes the system clears
// pages, and takes them back when the result is destroyed, which may take longer than the network.
// So the memory of destroyed results is kept for the next ones: as many blocks as KeepMore allows,
// the largest ones, just as an arena stays as large as its largest plan. At most as many results in
// use have a block of more than twice their size.

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

  // Returns an uninitialised array that nothing else uses. Its memory returns to this object when
  // the last handle is destroyed, on any thread; the array may outlive this object.
  // kResourceExhausted without memory.
  absl::StatusOr<NDArray> Take(const Shape& shape, DType dtype);

  // Changes the number of unused blocks to keep by `blocks`, which may be negative. Frees the
  // smallest of the blocks in excess.
  void KeepMore(int64_t blocks);

  // The number of unused blocks.
  int64_t num_idle() const;

 private:
  class Blocks;

  const Context context_;
  const std::shared_ptr<Blocks> blocks_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_OUTPUT_ARRAYS_H_
