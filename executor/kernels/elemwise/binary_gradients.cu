// GPU kernels of the gradients of operators on two arrays of one shape. Also compiles their
// functions for operators with a scalar.

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {

// Used by other files.
template const ElementMap& ElementMapOf<DivGradRhs>();
template const ElementMap& ElementMapOf<MaximumGradLhs>();
template const ElementMap& ElementMapOf<MaximumGradRhs>();
template const ElementMap& ElementMapOf<MinimumGradLhs>();
template const ElementMap& ElementMapOf<MinimumGradRhs>();
template <>
inline constexpr bool kGivesIntegers<PowerGradLhs> = true;
template const ElementMap& ElementMapOf<PowerGradLhs>();
template const ElementMap& ElementMapOf<PowerGradRhs>();
template const ElementMap& ElementMapOf<ModGradRhs>();
template const ElementMap& ElementMapOf<HypotGradLhs>();
template const ElementMap& ElementMapOf<HypotGradRhs>();

namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_backward_div_rhs", kGpu, kAnyDType, MapGpu<DivGradRhs>},
    {"_backward_maximum_lhs", kGpu, kAnyDType, MapGpu<MaximumGradLhs>},
    {"_backward_maximum_rhs", kGpu, kAnyDType, MapGpu<MaximumGradRhs>},
    {"_backward_minimum_lhs", kGpu, kAnyDType, MapGpu<MinimumGradLhs>},
    {"_backward_minimum_rhs", kGpu, kAnyDType, MapGpu<MinimumGradRhs>},
    {"_backward_power_lhs", kGpu, kAnyDType, MapGpu<PowerGradLhs>},
    {"_backward_power_rhs", kGpu, kAnyDType, MapGpu<PowerGradRhs>},
    {"_backward_mod_rhs", kGpu, kAnyDType, MapGpu<ModGradRhs>},
    {"_backward_hypot_lhs", kGpu, kAnyDType, MapGpu<HypotGradLhs>},
    {"_backward_hypot_rhs", kGpu, kAnyDType, MapGpu<HypotGradRhs>},
};

}  // namespace
}  // namespace cooper
