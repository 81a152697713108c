// GPU kernels of the error and gamma functions of one array, and of their gradients.

#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/program/kernel.h"

namespace cooper {
template <>
inline constexpr bool kGivesIntegers<Gamma> = true;

namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"erf", kGpu, kAnyDType, MapGpu<Erf>},
    {"_backward_erf", kGpu, kAnyDType, MapGpu<ErfGrad>},
    {"erfinv", kGpu, kAnyDType, MapGpu<ErfInverse>},
    {"_backward_erfinv", kGpu, kAnyDType, MapGpu<ErfInverseGrad>},
    {"gamma", kGpu, kAnyDType, MapGpu<Gamma>},
    {"_backward_gamma", kGpu, kAnyDType, MapGpu<GammaGrad>},
    {"gammaln", kGpu, kAnyDType, MapGpu<GammaLn>},
    {"_backward_gammaln", kGpu, kAnyDType, MapGpu<GammaLnGrad>},
};

}  // namespace
}  // namespace cooper
