#ifndef COOPER_MODULE_NETWORK_BATCH_CHECK_H_
#define COOPER_MODULE_NETWORK_BATCH_CHECK_H_

// Checks the losses and gradients of a batch for NaN and infinity, after its backward pass or, on
// one GPU, as work behind it.

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "module/devices/data_parallel_executor_group.h"
#include "module/parameters/finite.h"
#include "module/parameters/parameters.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Not thread-safe.
class BatchCheck {
 public:
  // Checks the outputs of `symbol` that are losses with at most 65,536 elements; none of them
  // without `checks_losses`, as for probabilities of labels of which some are ignored.
  BatchCheck(const Symbol& symbol, bool checks_losses)
      : symbol_(symbol), checks_losses_(checks_losses) {}

  // kOutOfRange, naming the first loss or gradient with such an element.
  absl::Status Check(const DataParallelExecutorGroup& bound, const Parameters& parameters) const;

  // Check as work in a queue; its result does not name the array. Prepare returns whether this is
  // possible on `context`: the program has the kernel for it. Enqueue puts the check into `queue`
  // behind the passes of `executor` (FiniteCheck::EnqueueFn); AllFinite waits for the device and
  // returns its result.
  bool Prepare(const Context& context);
  absl::Status Enqueue(const Executor& executor, const Parameters& parameters, DeviceQueue* queue);
  absl::StatusOr<bool> AllFinite() const { return queued_->AllFinite(); }

 private:
  // Whether output k is a loss to check.
  bool IsChecked(size_t k, const NDArray& output) const;

  const Symbol symbol_;
  const bool checks_losses_;
  std::optional<FiniteCheck> queued_;  // once Prepare has succeeded
};

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_BATCH_CHECK_H_
