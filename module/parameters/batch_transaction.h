#ifndef COOPER_MODULE_PARAMETERS_BATCH_TRANSACTION_H_
#define COOPER_MODULE_PARAMETERS_BATCH_TRANSACTION_H_

// Undoes a training batch that must not change the model, such as one with a NaN. Computing a
// batch, before the update, changes gradients and auxiliary states; random streams, which also
// advance, are not put back.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "module/parameters/learner.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Used for one batch after the other: Begin before each, Rollback if it failed. Not thread-safe.
class BatchTransaction {
 public:
  // Copies the auxiliary states of the learners' parameters, which must exist until the next Begin.
  // The buffers are kept: with the same learners, later calls allocate no arrays. Errors: those of
  // allocating and copying arrays.
  absl::Status Begin(absl::Span<Learner* const> learners);
  // Writes the auxiliary states back as they were at Begin, and zeroes gradients if some of them
  // are sums over batches: the batch may be in them. May be called repeatedly, also after another
  // backward pass of the batch. Errors: those of copying arrays.
  absl::Status Rollback();

 private:
  struct Saved {
    Learner* learner = nullptr;
    std::map<std::string, std::vector<NDArray>> auxs;  // by context
    bool has_sums = false;  // whether the first Rollback found sums over batches
  };

  std::vector<Saved> saved_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_BATCH_TRANSACTION_H_
