// GPU kernels of exponential, logarithmic and trigonometric functions of one array.

#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"cbrt", kGpu, kAnyDType, MapGpu<Cbrt>},       {"rcbrt", kGpu, kAnyDType, MapGpu<Rcbrt>},
    {"exp", kGpu, kAnyDType, MapGpu<Exp>},         {"expm1", kGpu, kAnyDType, MapGpu<Expm1>},
    {"log", kGpu, kAnyDType, MapGpu<Log>},         {"log10", kGpu, kAnyDType, MapGpu<Log10>},
    {"log2", kGpu, kAnyDType, MapGpu<Log2>},       {"log1p", kGpu, kAnyDType, MapGpu<Log1p>},
    {"sin", kGpu, kAnyDType, MapGpu<Sin>},         {"cos", kGpu, kAnyDType, MapGpu<Cos>},
    {"tan", kGpu, kAnyDType, MapGpu<Tan>},         {"arcsin", kGpu, kAnyDType, MapGpu<Arcsin>},
    {"arccos", kGpu, kAnyDType, MapGpu<Arccos>},   {"arctan", kGpu, kAnyDType, MapGpu<Arctan>},
    {"sinh", kGpu, kAnyDType, MapGpu<Sinh>},       {"cosh", kGpu, kAnyDType, MapGpu<Cosh>},
    {"arcsinh", kGpu, kAnyDType, MapGpu<Arcsinh>}, {"arccosh", kGpu, kAnyDType, MapGpu<Arccosh>},
    {"arctanh", kGpu, kAnyDType, MapGpu<Arctanh>},
};

}  // namespace
}  // namespace cooper
