#ifndef COOPER_MODULE_KVSTORE_COLLECTIVE_H_
#define COOPER_MODULE_KVSTORE_COLLECTIVE_H_

// Sums of arrays over several devices, of this process or of all processes of a run. A sum is work
// in the devices' queues: the host goes on.
//
//   COOPER_ASSIGN_OR_RETURN(auto collective, MakeCollective({gpu0, gpu1}, /*world=*/nullptr));
//   COOPER_RETURN_IF_ERROR(collective->AllReduceSum({grad0, grad1}, {sum0, sum1}, queues));
//
// There are two kinds: NCCL's, in programs that link //module/kvstore/nccl, where that library is
// installed; and copies between devices (copy_collective.h), which every program has.

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

// The processes that add up together, and how they tell each other what they need for it. All of
// them make each call.
class CollectiveWorld {
 public:
  virtual ~CollectiveWorld() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The texts of all processes, in the order of ranks; any bytes.
  virtual absl::StatusOr<std::vector<std::string>> AllGatherText(const std::string& text) = 0;
  // Overwrites `values` with the sum over all processes, the same to the last bit on each.
  virtual absl::Status AllReduceSum(absl::Span<float> values) = 0;
  virtual absl::Status AllReduceSum(absl::Span<double> values) = 0;
  // The rank of a process that is known to be dead; -1 while none is. Of one process alone, and may
  // be called by any thread, also while another one waits in a call.
  virtual int dead() const { return -1; }
};

// Used by one thread at a time.
class Collective {
 public:
  virtual ~Collective() = default;

  // "nccl", "copies"
  virtual absl::string_view name() const = 0;
  // This process's devices, which differ.
  const std::vector<Context>& contexts() const { return contexts_; }

  // Writes the sum of `arrays`, and of those of all other processes, to each of `sums`, with the
  // same bits on all devices. All three have an element for each of contexts(), by device: arrays
  // of one shape and floating dtype on it, and a queue of it; sums[i] may be arrays[i], else they
  // do not overlap. It begins after what the queues hold, and what is put into them later comes
  // after it. Every process has to call it with the same shapes in the same order.
  //
  // kInvalidArgument, with both arrays, if one does not fit; else the errors of the devices.
  absl::Status AllReduceSum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                            absl::Span<DeviceQueue* const> queues);

  // The same, but the sum is written on the first device alone, to `sum`, which may be arrays[0].
  // What is put into the other queues later comes after their arrays were read. kUnimplemented
  // unless can_reduce().
  absl::Status ReduceSum(absl::Span<const NDArray> arrays, const NDArray& sum,
                         absl::Span<DeviceQueue* const> queues);
  virtual bool can_reduce() const { return true; }

  // Sums between these two are put in as one, at the end, which tells their errors. Until then the
  // queues must stay. Not nested.
  virtual absl::Status GroupStart() = 0;
  virtual absl::Status GroupEnd() = 0;

 protected:
  explicit Collective(std::vector<Context> contexts) : contexts_(std::move(contexts)) {}

  // AllReduceSum with arguments that fit; with one element of `sums`, that of the first device,
  // ReduceSum.
  virtual absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                           absl::Span<DeviceQueue* const> queues) = 0;

 private:
  absl::Status CheckAndSum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                           absl::Span<DeviceQueue* const> queues);

  const std::vector<Context> contexts_;
};

// The best kind that there is for these devices, one at least. With a `world`, which must outlive
// the result, every process calls it, each with devices of its own, and all get the same kind.
// kInvalidArgument if a device is there twice.
absl::StatusOr<std::unique_ptr<Collective>> MakeCollective(const std::vector<Context>& contexts,
                                                           CollectiveWorld* world);

// Makes a kind known that is tried before copies; an error is not one of the run, but logged once
// for each text, unless one of the devices is a CPU, which no other kind is for. With a `world` it
// succeeds on all processes or on none. Called by static initializers; returns true.
using CollectiveFactory = absl::StatusOr<std::unique_ptr<Collective>> (*)(
    const std::vector<Context>& contexts, CollectiveWorld* world);
bool RegisterCollective(CollectiveFactory factory);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_COLLECTIVE_H_
