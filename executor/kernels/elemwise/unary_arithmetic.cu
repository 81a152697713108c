// GPU kernels of functions of one array that compile to a few instructions.

#include "executor/kernels/elemwise/activation_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/program/kernel.h"

namespace cooper {

// Used by the gradient of broadcast_sub, and by NumPy's logical_not.
template const ElementMap& ElementMapOf<Negative>();
template const ElementMap& ElementMapOf<LogicalNot>();

namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"relu", kGpu, kAnyDType, MapGpu<Relu>},
    {"sigmoid", kGpu, kAnyDType, MapGpu<Sigmoid>},
    {"softsign", kGpu, kAnyDType, MapGpu<SoftSign>},
    {"tanh", kGpu, kAnyDType, MapGpu<Tanh>},
    {"abs", kGpu, kAnyDType, MapGpu<Abs>},
    {"sign", kGpu, kAnyDType, MapGpu<Sign>},
    {"negative", kGpu, kAnyDType, MapGpu<Negative>},
    {"round", kGpu, kAnyDType, MapGpu<Round>},
    {"rint", kGpu, kAnyDType, MapGpu<Rint>},
    {"ceil", kGpu, kAnyDType, MapGpu<Ceil>},
    {"floor", kGpu, kAnyDType, MapGpu<Floor>},
    {"trunc", kGpu, kAnyDType, MapGpu<Trunc>},
    {"fix", kGpu, kAnyDType, MapGpu<Trunc>},
    {"square", kGpu, kAnyDType, MapGpu<Square>},
    {"sqrt", kGpu, kAnyDType, MapGpu<Sqrt>},
    {"rsqrt", kGpu, kAnyDType, MapGpu<Rsqrt>},
    {"reciprocal", kGpu, kAnyDType, MapGpu<Reciprocal>},
    {"degrees", kGpu, kAnyDType, MapGpu<Degrees>},
    {"radians", kGpu, kAnyDType, MapGpu<Radians>},
    {"logical_not", kGpu, kAnyDType, MapGpu<LogicalNot>},
};

}  // namespace
}  // namespace cooper
