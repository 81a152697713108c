// GPU kernels of the gradients of functions of one array.

#include "executor/kernels/elemwise/activation_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_backward_relu", kGpu, kAnyDType, MapGpu<ReluGrad>},
    {"_backward_sigmoid", kGpu, kAnyDType, MapGpu<SigmoidGrad>},
    {"_backward_softsign", kGpu, kAnyDType, MapGpu<SoftSignGrad>},
    {"_backward_tanh", kGpu, kAnyDType, MapGpu<TanhGrad>},
    {"_backward_abs", kGpu, kAnyDType, MapGpu<AbsGrad>},
    {"_backward_square", kGpu, kAnyDType, MapGpu<SquareGrad>},
    {"_backward_sqrt", kGpu, kAnyDType, MapGpu<SqrtGrad>},
    {"_backward_rsqrt", kGpu, kAnyDType, MapGpu<RsqrtGrad>},
    {"_backward_cbrt", kGpu, kAnyDType, MapGpu<CbrtGrad>},
    {"_backward_rcbrt", kGpu, kAnyDType, MapGpu<RcbrtGrad>},
    {"_backward_reciprocal", kGpu, kAnyDType, MapGpu<ReciprocalGrad>},
    {"_backward_expm1", kGpu, kAnyDType, MapGpu<Expm1Grad>},
    {"_backward_log", kGpu, kAnyDType, MapGpu<LogGrad>},
    {"_backward_log10", kGpu, kAnyDType, MapGpu<Log10Grad>},
    {"_backward_log2", kGpu, kAnyDType, MapGpu<Log2Grad>},
    {"_backward_log1p", kGpu, kAnyDType, MapGpu<Log1pGrad>},
    {"_backward_sin", kGpu, kAnyDType, MapGpu<SinGrad>},
    {"_backward_cos", kGpu, kAnyDType, MapGpu<CosGrad>},
    {"_backward_tan", kGpu, kAnyDType, MapGpu<TanGrad>},
    {"_backward_arcsin", kGpu, kAnyDType, MapGpu<ArcsinGrad>},
    {"_backward_arccos", kGpu, kAnyDType, MapGpu<ArccosGrad>},
    {"_backward_arctan", kGpu, kAnyDType, MapGpu<ArctanGrad>},
    {"_backward_sinh", kGpu, kAnyDType, MapGpu<SinhGrad>},
    {"_backward_cosh", kGpu, kAnyDType, MapGpu<CoshGrad>},
    {"_backward_arcsinh", kGpu, kAnyDType, MapGpu<ArcsinhGrad>},
    {"_backward_arccosh", kGpu, kAnyDType, MapGpu<ArccoshGrad>},
    {"_backward_arctanh", kGpu, kAnyDType, MapGpu<ArctanhGrad>},
};

}  // namespace
}  // namespace cooper
