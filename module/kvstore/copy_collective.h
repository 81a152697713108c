#ifndef COOPER_MODULE_KVSTORE_COPY_COLLECTIVE_H_
#define COOPER_MODULE_KVSTORE_COPY_COLLECTIVE_H_

// Sums by copies, which every device supports: arrays are copied to the first device and added
// there in the order of devices; the sum is then copied to the other devices, if it is for them.
//
// Over several processes the first device's sum goes through CPU memory and the world's sum, for
// which the host waits. NCCL avoids that.

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/run/invoke.h"
#include "module/kvstore/collective.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// See the top of the file. Used by one thread at a time.
class CopyCollective : public Collective {
 public:
  // `contexts` are distinct and not empty. `world` may be null and must outlive the result. Errors:
  // those of FindDevice; kUnimplemented if the kernel of _grad_sum for the first device is not
  // linked.
  static absl::StatusOr<std::unique_ptr<Collective>> Create(const std::vector<Context>& contexts,
                                                            CollectiveWorld* world);

  absl::string_view name() const override { return "copies"; }
  absl::Status GroupStart() override;
  absl::Status GroupEnd() override;

 protected:
  absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                   absl::Span<DeviceQueue* const> queues) override;

 private:
  struct Pending {
    std::vector<NDArray> arrays;
    std::vector<NDArray> sums;  // of all devices, or of the first alone
    std::vector<DeviceQueue*> queues;
  };

  CopyCollective(std::vector<Context> contexts, CollectiveWorld* world,
                 std::unique_ptr<DeviceQueue> queue, Invocation add)
      : Collective(std::move(contexts)),
        world_(world),
        queue_(std::move(queue)),
        add_(std::move(add)) {}

  absl::Status Run(const Pending& sum);
  // Returns a copy of device `i`'s array on the first device.
  absl::StatusOr<NDArray> Bring(const NDArray& array, size_t i);
  // Adds the other processes' sums to `sum`.
  absl::Status SumOverWorld(const NDArray& sum);

  CollectiveWorld* const world_;
  // A queue of the first device. All sums run in it, one after the other, because they share
  // `staged_`.
  const std::unique_ptr<DeviceQueue> queue_;
  Invocation add_;
  std::vector<NDArray> staged_;  // bytes, by device; the first has none
  bool in_group_ = false;
  std::vector<Pending> pending_;  // the sums of the current group
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_COPY_COLLECTIVE_H_
