// GPU kernels of reductions over axes and of their gradients.

#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/reduce/axis_reduction_kernels.h"
#include "executor/kernels/reduce/cuda_reduce.h"
#include "executor/kernels/reducers/element_reduce_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {

// Used by NumPy's reductions too.
template const ElementMap& ElementMapOf<DividedBy>();
template const ElementMap& ElementMapOf<ExtremeGrad>();
template const ElementMap& ElementMapOf<Norm1Grad>();
template const ElementMap& ElementMapOf<Norm2Grad>();
template const ElementMap& ElementMapOf<ProdGrad>();
template const ElementMap& ElementMapOf<Scaled>();
template const ElementReduce& ElementReduceOf<Reducer::kSum, IsTrue>();
template const ElementReduce& ElementReduceOf<Reducer::kSum, Magnitude>();
template const ElementReduce& ElementReduceOf<Reducer::kSum, Square>();
template const ElementReduce& ElementReduceOf<Reducer::kSum, SquaredDifference>();
template const ElementReduce& ElementReduceOf<Reducer::kProduct, IsTrue>();
template const ElementReduce& ElementReduceOf<Reducer::kProduct, Same>();
template const ElementReduce& ElementReduceOf<Reducer::kMax, Same>();
template const ElementReduce& ElementReduceOf<Reducer::kMin, Same>();

namespace {

constexpr DeviceType kGpu = DeviceType::kGpu;
using D = CudaReduce;

const KernelRegistrar kKernels[] = {
    {"sum", kGpu, kAnyDType, ReduceKernel<D, Reducer::kSum>, PrepareReduction<D>},
    {"mean", kGpu, kAnyDType, MeanKernel<D>, PrepareReduction<D>},
    {"prod", kGpu, kAnyDType, ReduceKernel<D, Reducer::kProduct>, PrepareReduction<D>},
    {"nansum", kGpu, kAnyDType, ReduceKernel<D, Reducer::kSum, NanToZero>, PrepareReduction<D>},
    {"nanprod", kGpu, kAnyDType, ReduceKernel<D, Reducer::kProduct, NanToOne>, PrepareReduction<D>},
    {"max", kGpu, kAnyDType, ReduceKernel<D, Reducer::kMax>, PrepareReduction<D>},
    {"min", kGpu, kAnyDType, ReduceKernel<D, Reducer::kMin>, PrepareReduction<D>},
    {"_square_sum", kGpu, kAnyDType, ReduceKernel<D, Reducer::kSum, Square>, PrepareReduction<D>},
    {"norm", kGpu, kAnyDType, NormKernel<D>, PrepareNorm<D>},
    {"moments", kGpu, kAnyDType, MomentsKernel<D>, PrepareMoments<D>},
    {"_backward_sum", kGpu, kAnyDType, SumBackwardKernel<D>},
    {"_backward_mean", kGpu, kAnyDType, MeanBackwardKernel<D>},
    {"_backward_prod", kGpu, kAnyDType, ExpandKernel<D, ProdGrad>},
    {"_backward_nansum", kGpu, kAnyDType, ExpandKernel<D, NansumGrad>},
    {"_backward_nanprod", kGpu, kAnyDType, ExpandKernel<D, NanprodGrad>},
    {"_backward_max", kGpu, kAnyDType, ExpandKernel<D, ExtremeGrad>},
    {"_backward_min", kGpu, kAnyDType, ExpandKernel<D, ExtremeGrad>},
    {"_backward_norm", kGpu, kAnyDType, NormBackwardKernel<D>},
    {"_backward_moments", kGpu, kAnyDType, MomentsBackwardKernel<D>, PrepareMomentsBackward},
};

}  // namespace
}  // namespace cooper
