#ifndef COOPER_EXECUTOR_ELEMENTWISE_KERNELS_H_
#define COOPER_EXECUTOR_ELEMENTWISE_KERNELS_H_

// Kernels that may be run on any part of their arrays: where inputs and outputs have equally many
// elements, each element of an output follows from the inputs' elements in its place and from the
// node's parameters. Chains of them are run tile by tile (passes.h, "tiles"): several threads call
// the kernel of one node at the same time, each with arrays of shape (count,) whose data may be
// anywhere inside the node's arrays. So they look at no extent, keep no state, not even scratch
// memory, need no workspace and draw no random numbers. As always an output may lie over an input
// where the schema allows it, and one with kNull has no data.
//
//   absl::Status ActivationCpu(const KernelContext& c) { ... }
//   COOPER_REGISTER_ELEMENTWISE_KERNEL(Activation, DeviceType::kCpu, ActivationCpu);

#include "absl/strings/string_view.h"
#include "executor/kernel.h"
#include "ndarray/context.h"

namespace cooper {

// Registers the kernel, and that it is one of these.
struct ElementwiseKernelRegistrar {
  ElementwiseKernelRegistrar(const char* op, DeviceType device, Kernel::RunFn run);
};

// Whether the operator's kernel, if one is linked, is one of these.
bool IsElementwiseKernel(absl::string_view op, DeviceType device);

#define COOPER_REGISTER_ELEMENTWISE_KERNEL(op, device, run) \
  static const ::cooper::ElementwiseKernelRegistrar cooper_kernel_registrar_##op(#op, device, run)

}  // namespace cooper

#endif  // COOPER_EXECUTOR_ELEMENTWISE_KERNELS_H_
