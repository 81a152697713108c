#include "executor/elementwise_kernels.h"

#include <set>
#include <string>
#include <utility>

namespace cooper {
namespace {

std::set<std::pair<std::string, DeviceType>>& TheElementwiseKernels() {
  static auto* kernels = new std::set<std::pair<std::string, DeviceType>>;
  return *kernels;
}

}  // namespace

ElementwiseKernelRegistrar::ElementwiseKernelRegistrar(const char* op, DeviceType device,
                                                       Kernel::RunFn run) {
  const KernelRegistrar kernel(op, device, run);
  TheElementwiseKernels().emplace(op, device);
}

bool IsElementwiseKernel(absl::string_view op, DeviceType device) {
  return TheElementwiseKernels().contains({std::string(op.data(), op.size()), device});
}

}  // namespace cooper
