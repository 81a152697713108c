#ifndef COOPER_EXECUTOR_PROGRAM_KERNEL_H_
#define COOPER_EXECUTOR_PROGRAM_KERNEL_H_

// The interface of kernels, which run an operator on a kind of device, and the registry that finds
// them by operator name. A kernel is a plain function over views of planned memory; it allocates
// nothing while it runs. It registers itself from a target with `alwayslink`:
//
//   absl::Status ActivationCpu(const KernelContext& c) { ... }
//   COOPER_REGISTER_KERNEL(Activation, DeviceType::kCpu, kAnyDType, ActivationCpu);
//
// Every kernel honours the write request of each output: kNull computes nothing into it (its data
// may be null), kWrite overwrites, kAdd adds to what is there.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/array/device.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// How a kernel writes an output: MXNet's OpReqType without kWriteInplace. In-place needs no value
// of its own: a kernel whose schema allows it must accept equal input and output pointers under
// kWrite.
enum class WriteReq : uint8_t { kNull, kWrite, kAdd };

// A dense, row-major array inside planned memory, which it does not own.
struct ArrayView {
  void* data = nullptr;
  Shape shape;
  DType dtype = DType::kFloat32;

  // Return the number of elements, and of bytes.
  int64_t size() const { return shape.num_elements(); }
  int64_t size_bytes() const { return size() * SizeOf(dtype); }
  // T must be the C++ type of `dtype`; this is not checked.
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// State that a kernel keeps between runs of a node with known shapes, such as a oneDNN primitive or
// the choice of an algorithm. Several runs may use it at the same time, so it is immutable.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

// The facts about a node that are known when it is compiled: everything but the data pointers. A
// prepared node must support inference and training runs.
struct PrepareContext {
  const OpCall& call;
  absl::Span<const ArrayView> inputs;   // data is null
  absl::Span<const ArrayView> outputs;  // data is null
  absl::Span<const WriteReq> reqs;      // of the outputs
  Context context;

  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
};

// The arguments of one run of a kernel. The views are valid during the call. A run on a GPU may
// return before its work is done, but must not refer to this struct after it returns.
struct KernelContext {
  const OpCall& call;
  absl::Span<const ArrayView> inputs;
  absl::Span<const ArrayView> outputs;
  absl::Span<const WriteReq> reqs;
  // Scratch memory of the size that Prepare returned: aligned for elements of any type, and to
  // kStorageAlignment from 4 KB on.
  void* workspace = nullptr;
  const KernelState* state = nullptr;  // the state that Prepare returned, or null
  bool is_train = false;
  // A random stream that no other node and no other run uses.
  Philox random;
  Context context;
  DeviceQueue* queue = nullptr;  // of the context's device: the kernel submits its work here

  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
};

// The result of preparing a node: the kernel's state and scratch memory.
struct Prepared {
  std::unique_ptr<const KernelState> state;  // may be null
  int64_t workspace_bytes = 0;               // scratch memory while the node runs
};

// The dtypes that a kernel supports.
class DTypeSet {
 public:
  // Implicit, so that a list of dtypes can be passed where a set is expected.
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) bits_ |= 1u << static_cast<int>(dtype);
  }
  // Returns whether the set has the dtype.
  constexpr bool contains(DType dtype) const {
    return (bits_ & 1u << static_cast<int>(dtype)) != 0;
  }
  std::string ToString() const;  // "float32, float64"

 private:
  uint32_t bits_ = 0;
};

// Sets that many kernels support.
inline constexpr DTypeSet kFloat32Only = {DType::kFloat32};
inline constexpr DTypeSet kFloat32Or64 = {DType::kFloat32, DType::kFloat64};
inline constexpr DTypeSet kFloats = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
inline constexpr DTypeSet kAnyDType = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                       DType::kUint8,   DType::kInt32,   DType::kInt8,
                                       DType::kInt64,   DType::kBool,    DType::kBfloat16};

// A registered kernel.
struct Kernel {
  using RunFn = absl::Status (*)(const KernelContext&);
  // Called once for each node of a program, before its memory is planned. Shapes, dtypes and
  // parameters that the kernel does not support are reported here, not when it runs.
  using PrepareFn = absl::StatusOr<Prepared> (*)(const PrepareContext&);
  // Equivalent to calling `run` for each context. The nodes are on one device, in one queue and
  // independent of each other: for many small nodes, each of which would be a launch on a GPU.
  using RunAllFn = absl::Status (*)(absl::Span<const KernelContext>);

  // The supported dtypes of input 0 and output 0; the operator's type rule ties the other dtypes to
  // these.
  DTypeSet dtypes = kAnyDType;
  // Runs the kernel once, or enqueues the run on a device.
  RunFn run = nullptr;
  PrepareFn prepare = nullptr;  // null: no state, no workspace
  RunAllFn run_all = nullptr;   // null: `run` is called for each
};

// Returns the kernel of an operator on a kind of device. Fails with kUnimplemented, naming
// operator, device and the target to link, if no such kernel is linked. Thread-safe.
absl::StatusOr<const Kernel*> FindKernel(absl::string_view op, DeviceType device);

// Returns every operator that has a kernel on this kind of device, sorted by name.
std::vector<std::pair<std::string, const Kernel*>> AllKernels(DeviceType device);

// Calls the kernel's Prepare if it supports the node's dtypes. Fails with kUnimplemented, naming
// the input or output, if not: "no cpu kernel for input 'data' of int32; it takes float32,
// float64".
absl::StatusOr<Prepared> PrepareKernel(const Kernel& kernel, const PrepareContext& c);

// Registers a kernel from a static initializer. Use COOPER_REGISTER_KERNEL.
struct KernelRegistrar {
  KernelRegistrar(const char* op, DeviceType device, DTypeSet dtypes, Kernel::RunFn run,
                  Kernel::PrepareFn prepare = nullptr, Kernel::RunAllFn run_all = nullptr);
};

// COOPER_REGISTER_KERNEL(op, device, dtypes, run [, prepare [, run_all]])
#define COOPER_REGISTER_KERNEL(op, device, ...) \
  static const ::cooper::KernelRegistrar cooper_kernel_registrar_##op(#op, device, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_KERNEL_H_
