// GPU kernels of binary operators with broadcasting. Their functions are compiled in
// executor/kernels/elemwise.

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"broadcast_add", kGpu, kAnyDType, BroadcastGpu<Add>},
    {"broadcast_sub", kGpu, kAnyDType, BroadcastGpu<Sub>},
    {"broadcast_mul", kGpu, kAnyDType, BroadcastGpu<Mul>},
    {"broadcast_div", kGpu, kAnyDType, BroadcastGpu<Div>},
    {"broadcast_mod", kGpu, kAnyDType, BroadcastGpu<Mod>},
    {"broadcast_power", kGpu, kAnyDType, BroadcastGpu<Power>},
    {"broadcast_maximum", kGpu, kAnyDType, BroadcastGpu<Maximum>},
    {"broadcast_minimum", kGpu, kAnyDType, BroadcastGpu<Minimum>},
    {"broadcast_hypot", kGpu, kAnyDType, BroadcastGpu<Hypot>},
    {"broadcast_equal", kGpu, kAnyDType, BroadcastGpu<Equal>},
    {"broadcast_not_equal", kGpu, kAnyDType, BroadcastGpu<NotEqual>},
    {"broadcast_greater", kGpu, kAnyDType, BroadcastGpu<Greater>},
    {"broadcast_greater_equal", kGpu, kAnyDType, BroadcastGpu<GreaterEqual>},
    {"broadcast_lesser", kGpu, kAnyDType, BroadcastGpu<Lesser>},
    {"broadcast_lesser_equal", kGpu, kAnyDType, BroadcastGpu<LesserEqual>},
    {"broadcast_logical_and", kGpu, kAnyDType, BroadcastGpu<LogicalAnd>},
    {"broadcast_logical_or", kGpu, kAnyDType, BroadcastGpu<LogicalOr>},
    {"broadcast_logical_xor", kGpu, kAnyDType, BroadcastGpu<LogicalXor>},
};

}  // namespace
}  // namespace cooper
