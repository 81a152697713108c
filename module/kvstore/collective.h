#ifndef COOPER_MODULE_KVSTORE_COLLECTIVE_H_
#define COOPER_MODULE_KVSTORE_COLLECTIVE_H_

// Sums of arrays over several devices, of this process or of all processes of a run. A sum is work
// in the devices' queues; the host does not wait for it.
//
//   COOPER_ASSIGN_OR_RETURN(auto collective, MakeCollective({gpu0, gpu1}, /*world=*/nullptr));
//   COOPER_RETURN_IF_ERROR(collective->AllReduceSum({grad0, grad1}, {sum0, sum1}, queues));
//
// There are two kinds: NCCL's, in programs that link //module/kvstore/nccl, if that library is
// installed; and copies between devices, which every program has.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// The processes that take part in a sum, and the collective calls by which they exchange data. All
// processes must make each call.
class CollectiveWorld {
 public:
  virtual ~CollectiveWorld() = default;

  // Rank of this process, from 0 on, and number of processes. Not collective.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Returns the texts of all processes, in the order of ranks. A text may have any bytes.
  virtual absl::StatusOr<std::vector<std::string>> AllGatherText(const std::string& text) = 0;
  // Overwrites `values` with the sum over all processes, with the same bits on each.
  virtual absl::Status AllReduceSum(absl::Span<float> values) = 0;
  virtual absl::Status AllReduceSum(absl::Span<double> values) = 0;
  // Returns the rank of a process that is known to be dead; -1 while there is none. Not collective;
  // thread-safe, also while another thread waits in a call.
  virtual int dead() const { return -1; }
};

// Sums arrays over the devices of `contexts` and the processes of a world.
//
// Used by one thread at a time.
class Collective {
 public:
  virtual ~Collective() = default;

  // "nccl" or "copies".
  virtual absl::string_view name() const = 0;
  // This process's devices, which are distinct.
  const std::vector<Context>& contexts() const { return contexts_; }

  // Writes the sum of `arrays`, and of those of all other processes, to each of `sums`, with the
  // same bits on all devices. Each argument has one element per device, in the order of contexts():
  // arrays of one shape and floating dtype, and a queue of the device. sums[i] may be arrays[i];
  // otherwise they must not overlap. The sum runs after the work that the queues hold now, and
  // before work that is put into them later. Every process has to call it with the same shapes in
  // the same order.
  //
  // kInvalidArgument, with both arrays, if one does not fit; else the errors of the devices.
  absl::Status AllReduceSum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                            absl::Span<DeviceQueue* const> queues);

  // Like AllReduceSum, but writes the sum only to `sum` on the first device, which may be
  // arrays[0]. Work put into the other queues later runs after their arrays were read.
  // kUnimplemented unless can_reduce().
  absl::Status ReduceSum(absl::Span<const NDArray> arrays, const NDArray& sum,
                         absl::Span<DeviceQueue* const> queues);
  // Whether ReduceSum is available.
  virtual bool can_reduce() const { return true; }

  // Sums between GroupStart and GroupEnd are queued together by GroupEnd, which returns their
  // errors. The queues must exist until then. Groups do not nest.
  virtual absl::Status GroupStart() = 0;
  virtual absl::Status GroupEnd() = 0;

 protected:
  explicit Collective(std::vector<Context> contexts) : contexts_(std::move(contexts)) {}

  // AllReduceSum with valid arguments; with one element of `sums`, on the first device, ReduceSum.
  virtual absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                           absl::Span<DeviceQueue* const> queues) = 0;

 private:
  absl::Status CheckAndSum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                           absl::Span<DeviceQueue* const> queues);

  const std::vector<Context> contexts_;
};

// Returns the best kind for these devices, of which there must be at least one. With a `world`,
// which must outlive the result, every process calls it with its own devices, and all get the same
// kind. kInvalidArgument if a device is listed twice.
absl::StatusOr<std::unique_ptr<Collective>> MakeCollective(const std::vector<Context>& contexts,
                                                           CollectiveWorld* world);

// Registers a kind that MakeCollective tries before copies. An error of `factory` does not fail the
// run: each text is logged once, unless one of the devices is a CPU, for which only copies work.
// With a `world`, the factory succeeds on all processes or on none. Called by static initializers;
// returns true.
using CollectiveFactory = absl::StatusOr<std::unique_ptr<Collective>> (*)(
    const std::vector<Context>& contexts, CollectiveWorld* world);
bool RegisterCollective(CollectiveFactory factory);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_COLLECTIVE_H_
