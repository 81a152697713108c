#ifndef COOPER_EXECUTOR_RUN_INVOKE_H_
#define COOPER_EXECUTOR_RUN_INVOKE_H_

// Runs single operators on existing arrays, outside of any graph: MXNet's imperative calls.
// Optimizers make their updates of them.
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

// An operator, its kernel for one kind of device, and the arrays of its next run. Create it once
// and run it often: while shapes stay the same, nothing is prepared again or allocated. Not
// thread-safe.
class Invocation {
 public:
  // Returns an invocation without arrays. kUnimplemented, naming operator and device, if no such
  // kernel is linked.
  static absl::StatusOr<Invocation> Create(OpCall call, DeviceType device);

  // Return what was passed to Create.
  const OpCall& call() const { return call_; }
  DeviceType device() const { return device_; }

  // Sets the arrays that the next runs read and write, and prepares the kernel if shapes, dtypes or
  // context have changed. The arrays must be as many as the operator has, of the shapes and dtypes
  // of its rules (not checked here), and on one device. Their memory must outlive the runs. Outputs
  // are overwritten; an output may be an input if the schema allows it (OpSchema's in_place). Fails
  // if the kernel does not support the arrays.
  absl::Status SetArrays(absl::Span<const NDArray* const> inputs,
                         absl::Span<const NDArray* const> outputs);

  // Runs the operator in `queue`, a queue of the arrays' device. If null, it runs in the default
  // order of the device's work (ndarray/array/device.h).
  absl::Status Run(DeviceQueue* queue = nullptr) const;

 private:
  friend absl::Status RunAll(absl::Span<const Invocation> invocations, DeviceQueue* queue);

  Invocation(OpCall call, DeviceType device, const Kernel* kernel)
      : call_(std::move(call)), device_(device), kernel_(kernel) {}

  // Prepares the kernel for the current arrays, and enlarges the workspace if needed.
  absl::Status Prepare();
  // Returns the arguments of one run of the kernel. Takes the next random stream if the operator is
  // random.
  KernelContext ContextFor(absl::Span<const ArrayView> inputs, absl::Span<const ArrayView> outputs,
                           DeviceQueue* queue) const;
  // Runs the kernel on part `part` of `parts` equal parts of all arrays, on this thread.
  absl::Status RunPart(int64_t part, int64_t parts) const;
  // Returns whether the operator is element-wise and on the CPU, with few enough arrays.
  bool runs_in_parts() const;
  // Returns whether both may run together: in parts, or by one call of the kernel's run_all.
  bool runs_with(const Invocation& other) const;
  // Run all `invocations`: in parts on several threads, or by calls of the kernel's run_all.
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
  bool is_prepared_ = false;  // whether prepared_ is for the current arrays
};

// Runs `invocations` in this order. Consecutive element-wise ones (OpSchema::is_elementwise) run in
// parts: each thread runs the same share of all of them, without waiting for other threads in
// between. Such operators may depend on each other only element by element. Consecutive ones with
// one kernel that has a run_all, as updates on GPUs have, run in one call of it; they must be
// independent, but may write the same array. `queue` is that of Invocation::Run.
absl::Status RunAll(absl::Span<const Invocation> invocations, DeviceQueue* queue = nullptr);

// Runs an operator once. Random operators draw the next numbers of the process. The numbers are the
// same in each process if one thread makes the calls, and start again with SetDefaultSeed
// (ndarray/base/default_seed.h).
//
// Errors: kInvalidArgument for wrong attributes, for a wrong number of arrays, for shapes or dtypes
// that the operator's rules reject, for arrays on different devices, and for gradient operators of
// other operators.
absl::Status Invoke(absl::string_view op, const AttrValues& attrs,
                    absl::Span<const NDArray* const> inputs,
                    absl::Span<const NDArray* const> outputs);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_INVOKE_H_
