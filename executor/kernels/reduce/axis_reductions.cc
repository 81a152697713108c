// Kernels of reductions over axes and of their gradients.

#include "executor/kernels/reduce/axis_reduction_kernels.h"
#include "executor/kernels/reduce/cpu_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

constexpr DeviceType kCpu = DeviceType::kCpu;
using D = CpuReduce;

const KernelRegistrar kKernels[] = {
    {"sum", kCpu, kAnyDType, ReduceKernel<D, Reducer::kSum>, PrepareReduction<D>},
    {"mean", kCpu, kAnyDType, MeanKernel<D>, PrepareReduction<D>},
    {"prod", kCpu, kAnyDType, ReduceKernel<D, Reducer::kProduct>, PrepareReduction<D>},
    {"nansum", kCpu, kAnyDType, ReduceKernel<D, Reducer::kSum, NanToZero>, PrepareReduction<D>},
    {"nanprod", kCpu, kAnyDType, ReduceKernel<D, Reducer::kProduct, NanToOne>, PrepareReduction<D>},
    {"max", kCpu, kAnyDType, ReduceKernel<D, Reducer::kMax>, PrepareReduction<D>},
    {"min", kCpu, kAnyDType, ReduceKernel<D, Reducer::kMin>, PrepareReduction<D>},
    {"_square_sum", kCpu, kAnyDType, ReduceKernel<D, Reducer::kSum, Square>, PrepareReduction<D>},
    {"norm", kCpu, kAnyDType, NormKernel<D>, PrepareNorm<D>},
    {"moments", kCpu, kAnyDType, MomentsKernel<D>, PrepareMoments<D>},
    {"_backward_sum", kCpu, kAnyDType, SumBackwardKernel<D>},
    {"_backward_mean", kCpu, kAnyDType, MeanBackwardKernel<D>},
    {"_backward_prod", kCpu, kAnyDType, ExpandKernel<D, ProdGrad>},
    {"_backward_nansum", kCpu, kAnyDType, ExpandKernel<D, NansumGrad>},
    {"_backward_nanprod", kCpu, kAnyDType, ExpandKernel<D, NanprodGrad>},
    {"_backward_max", kCpu, kAnyDType, ExpandKernel<D, ExtremeGrad>},
    {"_backward_min", kCpu, kAnyDType, ExpandKernel<D, ExtremeGrad>},
    {"_backward_norm", kCpu, kAnyDType, NormBackwardKernel<D>},
    {"_backward_moments", kCpu, kAnyDType, MomentsBackwardKernel<D>, PrepareMomentsBackward},
};

}  // namespace
}  // namespace cooper
