#ifndef COOPER_EXECUTOR_RUN_INVOKE_H_
#define COOPER_EXECUTOR_RUN_INVOKE_H_

// Operators run one at a time, on arrays that are there already, outside of any graph: MXNet's
// imperative calls. An optimizer makes its steps of them.
//
//   COOPER_RETURN_IF_ERROR(
//       Invoke("sgd_update", {{"lr", "0.1"}}, {&weight, &grad}, {&weight}));

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "symbol/schema/attr_values.h"
#include "symbol/schema/op.h"

namespace cooper {

// An operator with its kernel for one kind of device and the arrays of its next run. It is made
// once and run often: where shapes stay the same, nothing is prepared again or allocated.
class Invocation {
 public:
  // kUnimplemented, naming operator and device, if no such kernel is linked.
  static absl::StatusOr<Invocation> Create(OpCall call, DeviceType device);

  const OpCall& call() const { return call_; }
  DeviceType device() const { return device_; }

  // Which arrays the next runs read and write: as many as the operator has, of the shapes and
  // dtypes that its rules ask for, which is not checked here, on one device. Their memory must
  // outlive the runs. Outputs are overwritten; one may be an input where the schema allows it
  // (OpSchema's in_place). Fails where the kernel refuses them.
  absl::Status SetArrays(absl::Span<const NDArray* const> inputs,
                         absl::Span<const NDArray* const> outputs);

  // In `queue`, of the arrays' device; null: in none, on its own order of work
  // (ndarray/array/device.h).
  absl::Status Run(DeviceQueue* queue = nullptr) const;

 private:
  friend absl::Status RunAll(absl::Span<const Invocation> invocations, DeviceQueue* queue);

  Invocation(OpCall call, DeviceType device, const Kernel* kernel)
      : call_(std::move(call)), device_(device), kernel_(kernel) {}

  absl::Status Prepare();
  KernelContext ContextFor(absl::Span<const ArrayView> inputs, absl::Span<const ArrayView> outputs,
                           DeviceQueue* queue) const;
  absl::Status RunPart(int64_t part, int64_t parts) const;
  bool runs_in_parts() const;
  // Whether both may be run together: in parts, or by one call of the kernel's run_all.
  bool runs_with(const Invocation& other) const;
  static absl::Status RunInParts(absl::Span<const Invocation> invocations);
  static absl::Status RunTogether(absl::Span<const Invocation> invocations, DeviceQueue* queue);

  OpCall call_;
  DeviceType device_;
  const Kernel* kernel_;
  Context context_;
  std::vector<ArrayView> inputs_;
  std::vector<ArrayView> outputs_;
  std::vector<WriteReq> reqs_;
  Prepared prepared_;
  NDArray workspace_;
  bool is_prepared_ = false;  // for the shapes, dtypes and context of these arrays
};

// Runs them in this order. Of those that are element-wise (OpSchema::is_elementwise) and follow
// each other, each thread runs the same share of every one: no thread waits for another in between.
// They must not depend on each other's results but element by element. Those that follow each other
// and have one kernel with a run_all, as updates have on GPUs, are run by that, and must not depend
// on each other but by writing the same array. `queue` is Run's.
absl::Status RunAll(absl::Span<const Invocation> invocations, DeviceQueue* queue = nullptr);

// One run of the operator of that name. Random ones draw the next numbers of the process, which are
// the same in each process where one thread makes the calls, and begin anew with SetDefaultSeed
// (ndarray/base/default_seed.h).
//
// kInvalidArgument for attributes that are wrong, for arrays that are not as many, or not of the
// shapes and dtypes that its rules ask for, or on different devices, and for gradients of other
// operators.
absl::Status Invoke(absl::string_view op, const AttrValues& attrs,
                    absl::Span<const NDArray* const> inputs,
                    absl::Span<const NDArray* const> outputs);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_INVOKE_H_
