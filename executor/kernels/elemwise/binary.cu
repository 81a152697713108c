// GPU kernels of operators on two arrays of one shape. Also compiles their functions for operators
// with a scalar and for broadcasting.

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {

// Used by other files.
template const ElementMap& ElementMapOf<Add>();
template const ElementMap& ElementMapOf<Sub>();
template const ElementMap& ElementMapOf<Mul>();
template const ElementMap& ElementMapOf<Div>();
template const ElementMap& ElementMapOf<Maximum>();
template const ElementMap& ElementMapOf<Minimum>();
template const ElementMap& ElementMapOf<Power>();
template const ElementMap& ElementMapOf<Mod>();
template const ElementMap& ElementMapOf<Hypot>();
template const ElementMap& ElementMapOf<Equal>();
template const ElementMap& ElementMapOf<NotEqual>();
template const ElementMap& ElementMapOf<Greater>();
template const ElementMap& ElementMapOf<GreaterEqual>();
template const ElementMap& ElementMapOf<Lesser>();
template const ElementMap& ElementMapOf<LesserEqual>();
template const ElementMap& ElementMapOf<LogicalAnd>();
template const ElementMap& ElementMapOf<LogicalOr>();
template const ElementMap& ElementMapOf<LogicalXor>();

namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"elemwise_add", kGpu, kAnyDType, MapGpu<Add>},
    {"elemwise_sub", kGpu, kAnyDType, MapGpu<Sub>},
    {"elemwise_mul", kGpu, kAnyDType, MapGpu<Mul>},
    {"elemwise_div", kGpu, kAnyDType, MapGpu<Div>},
    {"_scatter_elemwise_div", kGpu, kAnyDType, MapGpu<Div>},
    {"_grad_add", kGpu, kAnyDType, MapGpu<Add>},
    {"_maximum", kGpu, kAnyDType, MapGpu<Maximum>},
    {"_minimum", kGpu, kAnyDType, MapGpu<Minimum>},
    {"_power", kGpu, kAnyDType, MapGpu<Power>},
    {"_mod", kGpu, kAnyDType, MapGpu<Mod>},
    {"_hypot", kGpu, kAnyDType, MapGpu<Hypot>},
    {"_equal", kGpu, kAnyDType, MapGpu<Equal>},
    {"_not_equal", kGpu, kAnyDType, MapGpu<NotEqual>},
    {"_greater", kGpu, kAnyDType, MapGpu<Greater>},
    {"_greater_equal", kGpu, kAnyDType, MapGpu<GreaterEqual>},
    {"_lesser", kGpu, kAnyDType, MapGpu<Lesser>},
    {"_lesser_equal", kGpu, kAnyDType, MapGpu<LesserEqual>},
    {"_logical_and", kGpu, kAnyDType, MapGpu<LogicalAnd>},
    {"_logical_or", kGpu, kAnyDType, MapGpu<LogicalOr>},
    {"_logical_xor", kGpu, kAnyDType, MapGpu<LogicalXor>},
};

}  // namespace
}  // namespace cooper
