#ifndef COOPER_MODULE_KVSTORE_COPY_COLLECTIVE_H_
#define COOPER_MODULE_KVSTORE_COPY_COLLECTIVE_H_

// Sums by means that every device has: arrays are copied to the first device, added there in the
// order of devices, and the sum is copied to the others if they are to have it.
//
// Over several processes the first device's sum goes through CPU memory and the world's own sum,
// for which the host waits: what NCCL is for.

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

class CopyCollective : public Collective {
 public:
  // `contexts` differ, and there is one at least. `world` may be null and outlives the result.
  // FindDevice's errors; kUnimplemented without the kernel of _grad_sum for the first device.
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
  // The array of device `i`, on the first one.
  absl::StatusOr<NDArray> Bring(const NDArray& array, size_t i);
  // Adds what other processes have to `sum`.
  absl::Status SumOverWorld(const NDArray& sum);

  CollectiveWorld* const world_;
  // Of the first device. All sums go through it, one after the other: they share `staged_`.
  const std::unique_ptr<DeviceQueue> queue_;
  Invocation add_;
  std::vector<NDArray> staged_;  // bytes, by device; the first has none
  bool in_group_ = false;
  std::vector<Pending> pending_;  // of the group
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_COPY_COLLECTIVE_H_
