#ifndef COOPER_EXECUTOR_PROGRAM_KERNEL_H_
#define COOPER_EXECUTOR_PROGRAM_KERNEL_H_

// What runs an operator on a kind of device, and the registry in which it is looked up by name. A
// kernel is a plain function over views of memory that the executor has planned; it allocates
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

// What to do with an output. MXNet's OpReqType; in-place needs no value of its own, since a kernel
// whose schema allows it must accept equal input and output pointers under kWrite.
enum class WriteReq : uint8_t { kNull, kWrite, kAdd };

// A dense, row-major array inside planned memory.
struct ArrayView {
  void* data = nullptr;
  Shape shape;
  DType dtype = DType::kFloat32;

  int64_t size() const { return shape.num_elements(); }
  int64_t size_bytes() const { return size() * SizeOf(dtype); }
  // The caller has checked dtype.
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// What a kernel keeps between runs of a node of known shapes, such as a primitive that it has made
// or an algorithm that it has chosen. Runs share it, several at a time: once made it does not
// change.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

// What is known of a node when it is compiled: everything but the data pointers, and whether a run
// will be one for training: it may be either.
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

struct KernelContext {
  const OpCall& call;
  absl::Span<const ArrayView> inputs;
  absl::Span<const ArrayView> outputs;
  absl::Span<const WriteReq> reqs;
  // As many bytes as Prepare asked for: aligned for elements of any type, and to kStorageAlignment
  // from 4 KB on.
  void* workspace = nullptr;
  const KernelState* state = nullptr;  // what Prepare made, or null
  bool is_train = false;
  // A stream of random numbers of this node's and this run's own.
  Philox random;
  Context context;
  DeviceQueue* queue = nullptr;  // of the context's device, in which the kernel puts its work

  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
};

// What a kernel needs to run a node of these shapes.
struct Prepared {
  std::unique_ptr<const KernelState> state;  // may be null
  int64_t workspace_bytes = 0;               // scratch memory while the node runs
};

// Dtypes that a kernel has code for.
class DTypeSet {
 public:
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) bits_ |= 1u << static_cast<int>(dtype);
  }
  constexpr bool contains(DType dtype) const {
    return (bits_ & 1u << static_cast<int>(dtype)) != 0;
  }
  std::string ToString() const;  // "float32, float64"

 private:
  uint32_t bits_ = 0;
};

inline constexpr DTypeSet kFloat32Only = {DType::kFloat32};
inline constexpr DTypeSet kFloat32Or64 = {DType::kFloat32, DType::kFloat64};
inline constexpr DTypeSet kFloats = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
inline constexpr DTypeSet kAnyDType = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                       DType::kUint8,   DType::kInt32,   DType::kInt8,
                                       DType::kInt64,   DType::kBool,    DType::kBfloat16};

struct Kernel {
  using RunFn = absl::Status (*)(const KernelContext&);
  // Called once for each node of a program, before its memory is planned: what the kernel cannot do
  // with these shapes, dtypes and parameters is an error here, not when it runs.
  using PrepareFn = absl::StatusOr<Prepared> (*)(const PrepareContext&);
  // As `run` of each of them, which are on one device and in one queue and do not depend on each
  // other: for many small ones, of which each would be a launch on a GPU.
  using RunAllFn = absl::Status (*)(absl::Span<const KernelContext>);

  // Of input 0 and output 0; to those the operator's type rule ties all others that matter.
  DTypeSet dtypes = kAnyDType;
  RunFn run = nullptr;
  PrepareFn prepare = nullptr;  // null: no state, no workspace
  RunAllFn run_all = nullptr;   // null: there is nothing better than `run` of each
};

// kUnimplemented, naming operator, device and the target to link, if no such kernel is linked.
absl::StatusOr<const Kernel*> FindKernel(absl::string_view op, DeviceType device);

// Of every operator that has one on this kind of device, in order of name.
std::vector<std::pair<std::string, const Kernel*>> AllKernels(DeviceType device);

// What the kernel's Prepare says, if it takes the node's dtypes; else kUnimplemented, naming the
// input or output: "no cpu kernel for input 'data' of int32; it takes float32, float64".
absl::StatusOr<Prepared> PrepareKernel(const Kernel& kernel, const PrepareContext& c);

struct KernelRegistrar {
  KernelRegistrar(const char* op, DeviceType device, DTypeSet dtypes, Kernel::RunFn run,
                  Kernel::PrepareFn prepare = nullptr, Kernel::RunAllFn run_all = nullptr);
};

// COOPER_REGISTER_KERNEL(op, device, dtypes, run [, prepare [, run_all]])
#define COOPER_REGISTER_KERNEL(op, device, ...) \
  static const ::cooper::KernelRegistrar cooper_kernel_registrar_##op(#op, device, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_KERNEL_H_
